"""Figures are read from the server's own address with its token; a server without any is no error."""

import asyncio
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.catalog.deployments import Deployment
from agent.inference.limits import HttpLimits
from agent.inference.read_figures import read_figures
from agent.inference.server_figures import ServerFigures
from tests.agent.inference.test_server_figures import LLAMA


@contextmanager
def serve(body: bytes, status: int = 200, delay_s: float = 0.0) -> Iterator[tuple[str, list[str]]]:
    """Answer every request so; yield the base address and the list of requests, each with its token."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(f"{self.path} {self.headers.get('authorization')}")
            time.sleep(delay_s)
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", seen
    finally:
        server.shutdown()
        server.server_close()


def read(url: str, token_file: Path | None = None) -> ServerFigures | None:
    deployment = Deployment("local/a", "org/a", url, "a", token_file=token_file)
    return asyncio.run(read_figures(deployment, HttpLimits()))


def test_the_token_is_shown_beside_v1(tmp_path: Path):
    token = tmp_path / "token"
    token.touch(0o600)
    token.write_text("secret")
    with serve(LLAMA.encode()) as (url, seen):
        figures = read(url, token)
    assert figures is not None
    assert figures.engine == "llama.cpp"
    assert seen == ["/metrics Bearer secret"]


@pytest.mark.parametrize("status", [401, 404, 501, 503])
def test_a_server_that_refuses_has_no_figures(status: int):
    with serve(LLAMA.encode(), status) as (url, _):
        assert read(url) is None


def test_a_server_that_is_slow_or_away_has_no_figures(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agent.inference.read_figures._WAIT_S", 0.1)
    with serve(LLAMA.encode(), delay_s=0.5) as (url, _):
        assert read(url) is None
    assert read(url) is None
    with serve(b"\xff\xfe\x00") as (url, _):
        assert read(url) is None
