"""The loopback server over real sockets: read-only, one host name, no way to make it fetch, run or tell."""

import http.client
import logging
import socket
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from agent.errors import ConfigError, StoreError
from agent.service.clearing import Redacting
from agent.service.pages import SitePages
from agent.service.server import LOOPBACK, bind, build_app, new_secret
from tests.agent.service.memory_site import MemorySite


class Running:
    """A server on a free port, in a thread of its own."""

    def __init__(self, pages: SitePages, secret: str | None = None) -> None:
        self.listener = bind(0)
        self.port: int = self.listener.getsockname()[1]
        config = uvicorn.Config(build_app(pages, self.port, secret), log_config=None, access_log=False, lifespan="off")
        self.server = uvicorn.Server(config)
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.listener]})
        self.thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(10)
        self.listener.close()

    def ask(self, path: str, method: str = "GET", host: str | None = None) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"{LOOPBACK}:{self.port}")
        connection.endheaders()
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}, content


@pytest.fixture
def running(pages: SitePages) -> Iterator[Running]:
    server = Running(pages)
    yield server
    server.stop()


def test_pages_twins_and_style_are_served(running: Running):
    assert running.ask("/")[0] == 302
    for path, media_type in (
        ("/index.html", "text/html"),
        ("/index.json", "application/json"),
        ("/style.css", "text/css"),
    ):
        status, headers, content = running.ask(path)
        assert (status, headers["content-type"].split(";")[0]) == (200, media_type)
        assert content


def test_another_name_for_this_machine_is_refused(running: Running):
    port = running.port
    for host in (
        "evil.example",
        f"evil.example:{port}",
        "127.0.0.1",
        f"127.0.0.1:{port + 1}",
        f"127.0.0.1.:{port}",
        "",
    ):
        status, _, content = running.ask("/index.html", host=host)
        assert status in (400, 421)
        assert b"november" not in content
    assert running.ask("/index.html", host=f"localhost:{port}")[0] == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_nothing_can_be_changed(running: Running, method: str):
    status, headers, _ = running.ask("/index.html", method)
    assert status == 405
    assert headers["allow"] == "GET, HEAD"


def test_head_tells_the_length_and_sends_nothing(running: Running):
    status, headers, content = running.ask("/index.html", "HEAD")
    assert (status, content) == (200, b"")
    assert int(headers["content-length"]) > 100


@pytest.mark.parametrize("path", ["/index.html", "/nowhere", "/runs/run-1/instances-1.html", "/../../etc/passwd"])
def test_every_answer_carries_the_same_strict_headers(running: Running, path: str):
    _, headers, _ = running.ask(path)
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert "server" not in headers or headers["server"] == "uvicorn"


def test_a_path_is_not_echoed(running: Running):
    status, _, content = running.ask("/runs/%3Cscript%3Ealert(1)/index.html")
    assert status == 404
    assert b"alert" not in content
    assert b"There is no page at this address" in content


def test_a_broken_store_gives_a_page_that_says_what_to_do(
    site: MemorySite, redacting: Redacting, caplog: pytest.LogCaptureFixture
):
    class Broken(MemorySite):
        def instances(self, run_id, *, offset, limit):  # type: ignore[no-untyped-def]
            raise StoreError("the store cannot be decrypted", "Restore the data key.")

        def runs(self, suite):  # type: ignore[no-untyped-def]
            raise ValueError("Margaret Holloway")

    server = Running(SitePages(Broken(details=site.details, records=site.records), redacting))
    with caplog.at_level(logging.DEBUG):
        status, _, content = server.ask("/runs/run-1/instances-1.html")
        other_status, _, other = server.ask("/suites/november/index.html")
    server.stop()
    assert status == 500
    assert b"the store cannot be decrypted" in content
    assert b"Restore the data key." in content
    assert other_status == 500
    assert b"ValueError" in other
    assert b"Holloway" not in other
    assert "Holloway" not in caplog.text


def test_original_text_needs_the_secret_of_the_address(pages: SitePages):
    secret = new_secret()
    server = Running(pages, secret)
    try:
        assert server.ask("/index.html")[0] == 404
        assert server.ask(f"/{secret[:-1]}x/index.html")[0] == 404
        assert server.ask(f"/{secret}/index.html")[0] == 200
        assert server.ask(f"/{secret}/")[1]["location"] == f"/{secret}/index.html"
    finally:
        server.stop()


def test_only_loopback_listens(running: Running):
    assert running.listener.getsockname()[0] == "127.0.0.1"


def test_a_taken_port_is_told_in_words():
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        with pytest.raises(ConfigError, match="cannot be used"):
            bind(taken.getsockname()[1])
