"""Somebody on the network who is no member: what can be had from the service without a key."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.aggregator.conftest import Served, serve_in_thread
from tests.aggregator.federation import new_home


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = new_home(tmp_path_factory.mktemp("network") / "aggregator")
    with serve_in_thread(home) as running:
        yield running
    home.database.close()


@pytest.mark.parametrize(
    "path", ["/v1/log/entries/", "/v1/registry/", "/v1/submissions/", "/healthz/", "/board/x/"]
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_no_answer_sends_a_client_to_the_host_that_a_request_names(
    served: Served, method: str, path: str
) -> None:
    """A cache between would keep such a redirect for everybody."""
    answer = httpx.request(
        method, served.url + path, headers={"Host": "evil.example"}, trust_env=False
    )
    assert answer.status_code in {404, 405}
    assert "location" not in answer.headers
    assert b"evil" not in answer.content


@pytest.mark.parametrize(
    "path",
    [
        "/board/..%2f..%2fkeys%2froot.key",
        "/board/%2e%2e/%2e%2e/aggregator.yaml",
        "/board//etc/passwd",
        "/board/%00",
        "/board/log/checkpoint",
        "/board/audited.json",
        "/v1/registry/..%2f..%2faggregator.sqlite3",
        "/keys/log.key",
        "/aggregator.yaml",
    ],
)
def test_no_file_of_the_directory_is_served(served: Served, path: str) -> None:
    answer = httpx.get(served.url + path, trust_env=False)
    assert answer.status_code in {400, 404}
    for name in ("keys/root.key", "keys/log.key", "aggregator.yaml"):
        content = (served.home.directory / name).read_bytes().strip()
        assert content not in answer.content
    assert str(Path(served.home.directory)).encode() not in answer.content
