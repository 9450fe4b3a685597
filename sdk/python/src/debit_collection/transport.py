"""Translates requests and errors for httpx."""

from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx

from .calls import Request
from .errors import NetworkError, RequestTimeoutError


def environment_proxy(base_url: str) -> str | None:
    url = urlsplit(base_url)
    proxies = getproxies()
    return None if proxy_bypass(url.netloc) else proxies.get(url.scheme) or proxies.get("all")


def to_httpx(request: Request) -> httpx.Request:
    timeout = httpx.Timeout(request.timeout).as_dict()
    return httpx.Request(
        request.method,
        request.url,
        headers=dict(request.headers),
        content=request.body,
        extensions={"timeout": timeout},
    )


def transport_error(error: Exception) -> NetworkError:
    kind = RequestTimeoutError if isinstance(error, httpx.TimeoutException) else NetworkError
    result = kind(f"No reply: {type(error).__name__}")
    result.__cause__ = error
    return result
