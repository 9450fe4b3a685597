"""Starts the sandbox once, and servers for a test."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import pytest
import uvicorn

ROOT = Path(__file__).parents[3]
NODE = shutil.which("node", path=f"{ROOT}/node_modules/.bin{os.pathsep}{os.environ['PATH']}") or "node"

Operate = Callable[..., Any]


def cases_in(name: str) -> Any:
    """Returns the cases of a file that both clients run."""
    return json.loads((ROOT / f"sdk/cases/{name}.json").read_text())


def named(case: Any) -> str:
    """Returns the name of a case, for pytest."""
    return str(case["name"])


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """The address of a sandbox in which outcomes take a second."""
    command = [NODE, "commands/sandbox.ts", "--port", "0", "--time-scale", "30"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        lines = iter(process.stdout.readline, "")
        yield next(line.split()[1] for line in lines if line.startswith("ready "))
        process.send_signal(signal.SIGTERM)


@pytest.fixture(scope="session")
def operate(sandbox: str) -> Operate:
    """Runs a verb of the operator and returns its document."""

    def run(*words: str) -> Any:
        port = sandbox.rsplit(":", 1)[1]
        command = [NODE, "commands/operator.ts", *words, "--port", port, "--output", "json"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run


class WsgiServer(ThreadingMixIn, WSGIServer):
    pass


class QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextlib.contextmanager
def served_wsgi(app: Any) -> Iterator[str]:
    """Serves a WSGI application on a free port and returns its address."""
    with make_server("127.0.0.1", 0, app, WsgiServer, QuietHandler) as server:
        threading.Thread(target=server.serve_forever, args=[0.01]).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


@contextlib.contextmanager
def served_asgi(app: Any) -> Iterator[str]:
    """Serves an ASGI application on a free port and returns its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextlib.contextmanager
def example(name: str, environment: dict[str, str], port: int = 0) -> Iterator[str]:
    """Serves an example in a process and returns its address."""
    program = [
        sys.executable,
        "-m",
        "uvicorn",
        "--app-dir=examples",
        f"{name}:app",
        f"--port={port}",
        "--no-access-log",
    ]
    folder = ROOT / "sdk/python"
    variables = {**os.environ, "PYTHONPATH": f"{folder}/src", **environment}
    with subprocess.Popen(program, cwd=folder, env=variables, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr
        lines: list[str] = []
        try:
            for line in process.stderr:
                lines.append(line)
                if "running on" in line:
                    break
            found = re.search(r"http://\S+", "".join(lines))
            assert found, "".join(lines)
            threading.Thread(target=process.stderr.read).start()
            yield found[0]
        finally:
            process.terminate()


def eventually(check: Callable[[], bool], seconds: float = 20) -> None:
    """Waits until the check holds."""
    deadline = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < deadline, "the expected state never occurred"
        time.sleep(0.05)
