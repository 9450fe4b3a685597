"""An HTTP server that plays a script of faults."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from .calling import CASES


@dataclass
class Step:
    """A reply, or a fault: `close`, `cut` (a body without its end), `hang`, `drip` (a slow body)."""

    status: int = 200
    body: Any = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    fault: str = ""


@dataclass
class ReceivedRequest:
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    port: int
    """The port of the client, which differs for each connection."""


@dataclass
class FaultyServer:
    url: str
    requests: list[ReceivedRequest]


def success(data: Any, status: int = 200, headers: Mapping[str, str] | None = None, **meta: Any) -> Step:
    body = {"success": True, "data": data, "meta": {"request_id": "r", "api_version": "v1", **meta}}
    return Step(status, body, headers or {})


def problem(status: int, code: int, details: Any = None, headers: Mapping[str, str] | None = None) -> Step:
    error = {"code": code, "message": "Refused", "category": "general", "severity": "low"}
    body = {"success": False, "error": error, "details": details, "meta": {"request_id": "id-1"}}
    return Step(status, body, headers or {})


CHARGED = Step(202, CASES["charged"])
DEBIT: dict[str, Any] = CASES["debit"]


def step_of(reply: Any) -> Step:
    """Returns the step of a reply in sdk/cases/client.json."""
    if reply == "charged":
        return CHARGED
    if "debit" in reply:
        return success({**DEBIT, **reply["debit"]})
    return problem(**reply) if "code" in reply else Step(**reply)


class QuietServer(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignores that a client closed its connection."""


@contextmanager
def faulty_server(*steps: Step) -> Iterator[FaultyServer]:
    """Serves one step for each request; the last one repeats."""
    script = list(steps)
    received: list[ReceivedRequest] = []
    ended = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def respond(self) -> None:
            length = int(self.headers.get("content-length", 0))
            names = {name.lower(): value for name, value in self.headers.items()}
            body, port = self.rfile.read(length), self.client_address[1]
            received.append(ReceivedRequest(self.command, self.path, names, body, port))
            step = script.pop(0) if len(script) > 1 else script[0]
            self.close_connection = bool(step.fault)
            if step.fault == "hang":
                ended.wait(10)
            if step.fault in ("hang", "close"):
                return
            is_text = isinstance(step.body, str)
            reply = step.body.encode() if is_text else json.dumps(step.body).encode()
            self.send_response(step.status)
            for name, value in step.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply) + (step.fault == "cut")))
            self.end_headers()
            for index in range(len(reply)) if step.fault == "drip" else ():
                self.wfile.write(reply[index : index + 1])
                time.sleep(0.05)
            if step.fault != "drip":
                self.wfile.write(reply)

        do_GET = do_POST = respond

    server = QuietServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=[0.01]).start()
    try:
        yield FaultyServer(f"http://127.0.0.1:{server.server_port}", received)
    finally:
        ended.set()
        server.shutdown()
        server.server_close()
