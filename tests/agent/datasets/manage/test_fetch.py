"""Data is fetched from its pinned address alone, and only the pinned bytes stay, whatever stands in between."""

import hashlib
import json
import os
import select
import socket
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent.catalog.benchmark import Benchmark, load_benchmark, survey_benchmarks
from agent.catalog.data_section import DataFile
from agent.datasets.manage.fetch import FetchSettings, fetch_files, select_pinned_files
from agent.errors import AgentError, BenchmarkError, ConfigError, DeliveryError
from agent.site.directory import Site, create_site
from tests.agent.delivery.desk import Desk, Reply, open_desk
from tests.agent.delivery.test_transport import make_certificate
from tests.agent.terminal import Done, intramural

DATA = b"id,note,answer\n1,one,yes\n2,two,no\n"
DIGEST = hashlib.sha256(DATA).hexdigest()


def quiet(name: str, count: int, total: int | None) -> None:
    """Show no progress."""


@pytest.fixture
def source() -> Iterator[Desk]:
    with open_desk() as desk:
        desk.instead = lambda _: Reply(DATA, headers={"Content-Type": "text/csv"})
        yield desk


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def define(site: Site, url: str, *, access: str = "public", sha256: str = DIGEST) -> Benchmark:
    place = site.directory / "benchmarks" / "own"
    place.mkdir(exist_ok=True)
    (place / "prompt.txt").write_text("Note: {note}\n\n{options}\n")
    digest = f", sha256: {sha256}" if sha256 else ""
    address = f", url: '{url}'" if url else ""
    (place / "benchmark.yaml").write_text(
        "name: own\ndescription: x\nprompt_file: prompt.txt\nchoices: ['yes', 'no']\ngold: {column: answer}\n"
        f"metrics: [{{name: exact_match}}]\naccess: {access}\n"
        f"data: {{loader: csv, files: [{{name: data.csv, rows: 2{digest}{address}}}]}}\n"
    )
    return load_benchmark(place)


def fetch(site: Site, *words: str, env: dict[str, str] | None = None) -> Done:
    """Run the command: in a process of its own where the environment counts."""
    command = ["--site", str(site.directory), "datasets", "fetch", "own", *words]
    if env is None:
        return intramural(*command, cwd=Path())
    process = [sys.executable, "-m", "agent", *command]
    done = subprocess.run(process, capture_output=True, text=True, check=False, timeout=60, env=env)
    return Done(done.returncode, done.stdout, done.stderr)


def nothing_is_there(site: Site) -> bool:
    return not [path for path in site.data.rglob("*") if path.name != ".lock"]


def test_a_public_set_is_fetched_checked_and_recorded(site: Site, source: Desk):
    define(site, source.url + "/pinned/data.csv")
    done = fetch(site)
    assert done.returncode == 0, done.stderr
    assert "own: 2 instances in 1 file, a known version" in done.stdout
    assert [request.path for request in source.seen] == ["/pinned/data.csv"]
    assert (site.data / "own" / "data.csv").read_bytes() == DATA
    assert json.loads((site.data / "own" / ".dataset.json").read_text())["known"] == "official"
    with site.store() as store:
        assert store.audit.read_events()[-1].event == "data fetched"
    again = fetch(site)
    assert again.returncode == 2
    assert "already contains data" in again.stderr
    assert len(source.seen) == 1, "nothing is asked for what is there"
    assert fetch(site, "--replace").returncode == 0


def test_other_bytes_than_the_pinned_ones_are_not_kept(site: Site, source: Desk):
    define(site, source.url + "/data.csv")
    source.instead = lambda _: Reply(b"<html>Please log in, CANARY</html>")
    done = fetch(site)
    assert done.returncode == 3
    assert "data.csv: the received data is not the pinned file" in done.stderr
    assert "CANARY" not in done.stderr
    assert nothing_is_there(site)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_is_not_followed(site: Site, source: Desk, status: int):
    define(site, source.url + "/data.csv")
    with open_desk() as elsewhere:
        elsewhere.instead = lambda _: Reply(DATA)
        source.instead = lambda _: Reply(b"", status, {"Location": elsewhere.url + "/data.csv"})
        done = fetch(site)
        assert elsewhere.seen == []
    assert done.returncode == 7
    assert "redirects to another host, and such redirects are never followed" in done.stderr
    assert nothing_is_there(site)


def test_a_redirect_on_the_same_host_is_followed_but_not_for_ever(tmp_path: Path, source: Desk):
    source.instead = lambda request: (
        Reply(DATA) if request.path == "/b" else Reply(b"", 302, {"Location": "/b"})
    )
    fetch_files(
        (DataFile("data.csv", DIGEST, 2, source.url + "/a"),), tmp_path, FetchSettings(), quiet
    )
    assert (tmp_path / "data.csv").read_bytes() == DATA
    source.instead = lambda _: Reply(b"", 302, {"Location": "/a"})
    with pytest.raises(DeliveryError, match="redirected more than 3 times"):
        fetch_files(
            (DataFile("other.csv", DIGEST, 2, source.url + "/a"),), tmp_path, FetchSettings(), quiet
        )


def flood(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(10_000):
        handler.wfile.write(b"x" * 100_000)


def cut(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nid,note")


def garbage(handler: BaseHTTPRequestHandler) -> None:
    handler.wfile.write(b"CANARY\r\n\r\n")


@pytest.mark.parametrize(
    ("reply", "error", "said"),
    [
        (Reply(raw=flood), BenchmarkError, "is larger than 1000000 bytes"),
        (Reply(raw=cut), DeliveryError, "broke"),
        (Reply(raw=garbage), DeliveryError, "broke"),
        (Reply(b"CANARY", 404), DeliveryError, "responded with status 404"),
        (Reply(DATA, headers={"Content-Encoding": "gzip"}), None, ""),
    ],
    ids=["flood", "cut", "garbage", "404", "encoding is not undone"],
)
def test_what_a_source_can_send_instead(
    tmp_path: Path, source: Desk, reply: Reply, error, said: str
):
    source.instead = lambda _: reply
    files = (DataFile("data.csv", DIGEST, 2, source.url + "/a"),)
    if error is None:
        fetch_files(files, tmp_path, FetchSettings(largest=1_000_000), quiet)
        return
    with pytest.raises(error, match=said) as caught:
        fetch_files(files, tmp_path, FetchSettings(largest=1_000_000), quiet)
    assert "CANARY" not in str(caught.value)
    assert caught.value.advice.startswith("Nothing was added")


def test_a_source_that_drips_is_given_up(tmp_path: Path, source: Desk):
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            handler.wfile.write(b"x")
            threading.Event().wait(0.05)

    source.instead = lambda _: Reply(raw=drip)
    with pytest.raises(DeliveryError, match=r"took longer than 0\.3 seconds"):
        fetch_files(
            (DataFile("data.csv", DIGEST, 2, source.url),),
            tmp_path,
            FetchSettings(total_timeout_s=0.3),
            quiet,
        )


def test_nobody_is_there(tmp_path: Path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/a"
        with pytest.raises(DeliveryError, match=r"127\.0\.0\.1 could not be reached"):
            fetch_files((DataFile("data.csv", DIGEST, 2, url),), tmp_path, FetchSettings(), quiet)


# What is never fetched


@pytest.mark.parametrize("access", ["gated", "private"])
def test_only_public_data_is_fetched(site: Site, source: Desk, access: str):
    define(site, source.url + "/data.csv", access=access)
    done = fetch(site)
    assert done.returncode == 2
    assert f"its data is {access} and is never fetched" in done.stderr
    assert f"`intramural --site {site.directory} datasets add own PATH`" in done.stderr
    assert source.seen == []


@pytest.mark.parametrize(
    ("url", "sha256", "said"),
    [
        ("https://data.example/data.csv", "", "lacks a pinned SHA-256"),
        ("", DIGEST, "lacks a public address"),
        ("http://data.example/data.csv", DIGEST, "files are only fetched over https"),
        ("http://127.0.0.1.example/data.csv", DIGEST, "files are only fetched over https"),
        ("ftp://data.example/data.csv", DIGEST, "files are only fetched over https"),
        ("file:///etc/passwd", DIGEST, "files are only fetched over https"),
        ("https://user:secret@data.example/data.csv", DIGEST, "files are only fetched over https"),
    ],
)
def test_addresses_that_are_not_pinned_and_safe_are_refused(
    site: Site, url: str, sha256: str, said: str
):
    with pytest.raises(ConfigError) as caught:
        select_pinned_files(define(site, url, sha256=sha256))
    assert said in str(caught.value)
    assert "secret" not in str(caught.value)


def test_every_benchmark_is_fetched_by_https_or_says_why_not():
    found, _ = survey_benchmarks()
    refused: dict[str, AgentError] = {}
    for benchmark in found.values():
        try:
            files = select_pinned_files(benchmark)
        except AgentError as why:
            refused[benchmark.id] = why
        else:
            assert benchmark.access == "public"
            assert all(file.url.startswith("https://") and file.sha256 for file in files)
    assert {"med_qa", "pubmed_qa"}.isdisjoint(refused)
    for name, why in refused.items():
        assert f"intramural datasets add {name}" in why.advice


# TLS and proxies


@contextmanager
def tls_source(certificate: Path, key: Path) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(DATA)))
            self.end_headers()
            self.wfile.write(DATA)

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """A client that does not trust the certificate hangs up."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = Server(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield f"https://127.0.0.1:{server.server_port}/data.csv"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_https_is_verified_against_the_bundle_of_the_settings(site: Site, tmp_path: Path):
    certificate, key = make_certificate(tmp_path)
    with tls_source(certificate, key) as url:
        define(site, url)
        refused = fetch(site)
        assert refused.returncode == 7
        assert "the certificate of 127.0.0.1 was not accepted" in refused.stderr
        assert nothing_is_there(site)
        with (site.directory / "site.yaml").open("a") as file:
            file.write(f"ca_bundle: {certificate}\n")
        done = fetch(site)
        assert done.returncode == 0, done.stderr


@contextmanager
def connect_proxy(asked: list[str]) -> Iterator[str]:
    """Serve as a proxy that opens tunnels, and note for which hosts."""

    class Handler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:
            asked.append(self.path)
            host, _, port = self.path.partition(":")
            with socket.create_connection((host, int(port))) as there:
                self.send_response(200)
                self.end_headers()
                pair = {self.connection: there, there: self.connection}
                while True:
                    for ready in select.select(list(pair), [], [], 10)[0]:
                        data = ready.recv(65536)
                        if not data:
                            return
                        pair[ready].sendall(data)

        def log_message(self, format: str, *args: object) -> None:
            """Be quiet."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
    )
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_the_sites_proxy_is_used_and_those_of_the_environment_are_not(site: Site, tmp_path: Path):
    certificate, key = make_certificate(tmp_path)
    asked: list[str] = []
    of_environment: list[str] = []
    with (
        tls_source(certificate, key) as url,
        connect_proxy(asked) as proxy,
        connect_proxy(of_environment) as other,
    ):
        define(site, url)
        with (site.directory / "site.yaml").open("a") as file:
            file.write(f"ca_bundle: {certificate}\nproxy: {proxy}\n")
        done = fetch(
            site, env={**os.environ, "HTTPS_PROXY": other, "https_proxy": other, "ALL_PROXY": other}
        )
        assert done.returncode == 0, done.stderr
        assert asked == [url.removeprefix("https://").removesuffix("/data.csv")]
    assert of_environment == []


@pytest.mark.full
def test_without_a_proxy_of_the_site_the_source_is_asked_itself(site: Site, source: Desk):
    define(site, source.url + "/data.csv")
    with open_desk() as other:
        names = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
        environment = {
            **os.environ,
            **dict.fromkeys(names, other.url),
            "NO_PROXY": "",
            "no_proxy": "",
        }
        done = fetch(site, env=environment)
        assert done.returncode == 0, done.stderr
        assert other.seen == []
    assert len(source.seen) == 1


def test_a_proxy_that_refuses_is_named_as_the_culprit(tmp_path: Path):
    with open_desk() as proxy:
        files = (DataFile("data.csv", DIGEST, 2, "https://data.example/a"),)
        with pytest.raises(
            DeliveryError,
            match=r"data\.example could not be reached: the proxy refused the connection",
        ):
            fetch_files(files, tmp_path, FetchSettings(proxy=proxy.url), quiet)
