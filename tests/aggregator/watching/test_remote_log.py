"""Servers that answer a reader with too much, too slowly, or in another form: the reader stops, and says why."""

import gzip
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.home import Home
from aggregator.registry.versions import newest_envelope
from aggregator.watching import remote_log
from aggregator.watching.mirror import check_log
from aggregator.watching.remote_log import RemoteLog
from protocol.checkpoint import Checkpoint, sign_checkpoint
from protocol.envelope import REGISTRY_TYPE, sign
from protocol.registry import build_registry
from tests.aggregator.federation import registry_of

Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def answering(answer: Answer) -> Iterator[str]:
    """Serve every GET with `answer`; give the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            with suppress(BrokenPipeError, ConnectionResetError):  # the reader has gone
                answer(self)

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send_without_end(request: BaseHTTPRequestHandler) -> None:
    request.end_headers()
    while True:
        request.wfile.write(b"x" * 65536)


def send_compressed(request: BaseHTTPRequestHandler) -> None:
    request.send_header("Content-Encoding", "gzip, gzip")
    request.end_headers()
    request.wfile.write(gzip.compress(gzip.compress(b"x" * 10**8)))


def send_a_page(request: BaseHTTPRequestHandler) -> None:
    request.end_headers()
    request.wfile.write(b"<html>\n<p>Welcome</p>\n</html>\n")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (
            send_without_end,
            "answered /v1/log/checkpoint with a response of more than 33554432 bytes",
        ),
        (send_compressed, "answered /v1/log/checkpoint with a compressed response"),
        (send_a_page, "does not return a valid checkpoint"),
    ],
)
def test_an_answer_that_is_no_checkpoint_ends_the_reading(answer: Answer, sentence: str) -> None:
    with answering(answer) as url, pytest.raises(SettingsError, match=sentence):
        check_log(url, None, [], today_day=0)


def test_a_server_that_sends_a_byte_now_and_then_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote_log, "MAX_ANSWER_S", 0.2)
    ended = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        request.end_headers()
        while not ended.wait(0.05):
            request.wfile.write(b"x")
            request.wfile.flush()

    with answering(drip) as url, RemoteLog(url) as remote:
        with pytest.raises(SettingsError, match="took longer than"):
            remote.checkpoint()
        ended.set()


def answer_with_registry(home: Home, version: int, requests: list[str]) -> Answer:
    registry = registry_of(home)
    root = home.root_signer(registry)
    newest = sign(build_registry(replace(registry, version=version)), [root], REGISTRY_TYPE)
    with home.database.reading() as connection:
        older = newest_envelope(connection)

    def answer(request: BaseHTTPRequestHandler) -> None:
        requests.append(request.path)
        request.end_headers()
        request.wfile.write(newest if request.path == "/v1/registry" else older)

    return answer


def test_a_registry_that_claims_endless_versions_is_not_fetched(home: Home) -> None:
    requests: list[str] = []
    sentence = "claims version 2147483647, but at most 100000 versions are read"
    endless = answer_with_registry(home, 2**31 - 1, requests)
    with (
        answering(endless) as url,
        RemoteLog(url) as remote,
        pytest.raises(BoardMismatchError, match=sentence),
    ):
        remote.registries()
    assert requests == ["/v1/registry"]


def test_registry_versions_are_fetched_up_to_a_size(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remote_log, "MAX_REGISTRIES", 100_000)
    requests: list[str] = []
    sentence = "of 50000 registry versions have more than 100000 bytes"
    many = answer_with_registry(home, 50_000, requests)
    with (
        answering(many) as url,
        RemoteLog(url) as remote,
        pytest.raises(BoardMismatchError, match=sentence),
    ):
        remote.registries()
    assert len(requests) < 100


def test_a_folder_whose_checkpoint_claims_more_entries_than_memory_ends_with_the_first_that_is_missing(
    home: Home, tmp_path: Path
) -> None:
    registry = registry_of(home)
    note = sign_checkpoint(
        Checkpoint("board.example", 10**15, b"x" * 32), home.log_signer(registry)
    )
    (tmp_path / "board/log/registry").mkdir(parents=True)
    (tmp_path / "board/log/checkpoint").write_text(note)
    with home.database.reading() as connection:
        (tmp_path / "board/log/registry/1.dsse.json").write_bytes(newest_envelope(connection))
    with pytest.raises(BoardMismatchError, match="log/entries/000 is missing") as caught:
        check_log(str(tmp_path / "board"), None, [], today_day=0)
    assert "fetch the whole folder again" in caught.value.advice
