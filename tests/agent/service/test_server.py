"""The loopback server over real sockets: read-only, one host name, no way to make it fetch, run or tell."""

import http.client
import logging
import socket
import sqlite3
import threading
from collections.abc import Iterator

import pytest
import uvicorn

from agent.errors import ConfigError
from agent.redaction import Redactor
from agent.redaction.gateway.cases import Redacting
from agent.service.pages import SitePages
from agent.service.server import LOOPBACK, bind, build_app, new_secret
from agent.site.directory import Site
from tests.agent.service.filled_site import FilledSite, case


class Running:
    """A server on a free port, with a store of its own, in a thread of its own."""

    def __init__(self, site: Site, clearer: Redacting) -> None:
        self.secret = new_secret()
        self.listener = bind(0)
        self.port: int = self.listener.getsockname()[1]
        self.server: uvicorn.Server | None = None
        self.ready = threading.Event()
        self.thread = threading.Thread(target=self._serve, args=(site, clearer))
        self.thread.start()
        assert self.ready.wait(20)

    def _serve(self, site: Site, clearer: Redacting) -> None:
        with site.store() as store:
            app = build_app(SitePages(site.name, store, clearer), self.port, self.secret)
            self.server = uvicorn.Server(
                uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
            )
            self.ready.set()
            self.server.run(sockets=[self.listener])

    def stop(self) -> None:
        assert self.server is not None
        self.server.should_exit = True
        self.thread.join(10)
        self.listener.close()

    def ask(
        self, path: str, method: str = "GET", host: str | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        return self.ask_at(f"/{self.secret}{path}", method, host)

    def ask_at(
        self, path: str, method: str = "GET", host: str | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=20)
        connection.putrequest(method, path, skip_host=True)
        if host != "":
            connection.putheader("Host", host or f"{LOOPBACK}:{self.port}")
        connection.endheaders()
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return (
            response.status,
            {name.lower(): value for name, value in response.getheaders()},
            content,
        )


@pytest.fixture
def running(november: FilledSite, redacting: Redacting) -> Iterator[Running]:
    server = Running(november.site, redacting)
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


@pytest.mark.parametrize(
    "path", ["/index.html", "/nowhere", "/runs/RUN/instances-1.html", "/../../etc/passwd"]
)
def test_every_answer_carries_the_same_strict_headers(running: Running, run_id: str, path: str):
    _, headers, _ = running.ask(path.replace("RUN", run_id))
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


def test_a_damaged_store_gives_a_page_that_says_what_to_do(
    filled: FilledSite, redacting: Redacting
):
    run_id = filled.add([case(0), case(1)])
    with sqlite3.connect(filled.site.directory / "store" / "site.sqlite3") as other:
        other.execute(
            "UPDATE answers SET sealed = (SELECT sealed FROM answers ORDER BY request_key LIMIT 1)"
        )
    server = Running(filled.site, redacting)
    try:
        status, _, content = server.ask(f"/runs/{run_id}/instances-1.html")
    finally:
        server.stop()
    assert status == 500
    assert b"This page cannot be shown" in content
    assert b"restore it from a backup" in content


def test_an_unexpected_error_is_named_and_never_quoted(
    filled: FilledSite, redactor: Redactor, caplog: pytest.LogCaptureFixture
):
    class Broken(Redacting):
        def clear_records(self, records, which, subjects=(), published=()):  # type: ignore[no-untyped-def]
            raise ValueError("Margaret Holloway")

    run_id = filled.add([case(0)])
    server = Running(filled.site, Broken(redactor))
    try:
        with caplog.at_level(logging.DEBUG):
            status, _, content = server.ask(f"/runs/{run_id}/instances-1.html")
    finally:
        server.stop()
    assert status == 500
    assert b"ValueError" in content
    assert b"Holloway" not in content
    assert "Holloway" not in caplog.text


def test_another_account_of_this_machine_does_not_know_the_address(running: Running):
    secret = running.secret
    for path in ("/", "/index.html", "/style.css", f"/{secret[:-1]}x/index.html"):
        status, _, content = running.ask_at(path)
        assert status == 404
        assert b"november" not in content
    assert running.ask_at(f"/{secret}/index.html")[0] == 200
    assert running.ask_at(f"/{secret}/")[1]["location"] == f"/{secret}/index.html"


def test_only_loopback_listens(running: Running):
    assert running.listener.getsockname()[0] == "127.0.0.1"


def test_a_taken_port_is_told_in_words():
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        with pytest.raises(ConfigError, match="cannot be used"):
            bind(taken.getsockname()[1])
