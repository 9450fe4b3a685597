"""Reads the bodies of requests."""

from typing import Protocol


class Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def read_body(stream: Readable, size: int) -> bytes:
    """Reads at most `size` bytes: a chunked body states no length. A read may be short."""
    body = bytearray()
    while len(body) < size and (chunk := stream.read(size - len(body))):
        body += chunk
    return bytes(body)
