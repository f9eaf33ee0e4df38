"""What a reader of the service asks: with HEAD, from the front door, and for what it holds already."""

from dataclasses import replace

import httpx
import pytest

from aggregator.registry.versions import newest_registry, sign_next
from tests.aggregator.conftest import Served
from tests.aggregator.federation import TestSite


def ask(served: Served, method: str, path: str, **headers: str) -> httpx.Response:
    return httpx.request(method, served.url + path, headers=headers, timeout=30, trust_env=False)


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/board/",
        "/board/board.json",
        "/board/nothing.html",
        "/healthz",
        "/readyz",
        "/v1/registry",
        "/v1/registry/1",
        "/v1/log/checkpoint",
        "/v1/log/entries",
        "/v1/openapi.json",
        "/v1/registry/999",
        "/v1/submissions",
    ],
)
def test_head_is_answered_as_get_is_and_without_a_body(
    served: Served, site: TestSite, path: str
) -> None:
    got, asked = ask(served, "GET", path), ask(served, "HEAD", path)
    assert asked.status_code == got.status_code
    assert asked.content == b""
    for name in ("content-length", "content-type", "etag", "location", "allow"):
        assert asked.headers.get(name) == got.headers.get(name), name


def test_a_connection_goes_on_after_head(served: Served) -> None:
    with httpx.Client(trust_env=False, timeout=30) as client:
        for _ in range(3):
            assert client.head(served.url + "/v1/registry").status_code == 200
            assert client.get(served.url + "/healthz").json() == {"status": "ok"}


def test_head_is_counted_with_its_route(served: Served) -> None:
    ask(served, "HEAD", "/v1/registry")
    assert (
        'intramural_answers_total{method="HEAD",route="/v1/registry",status="200"} 1.0'
        in served.get("/metrics").text
    )


def test_the_front_door_leads_to_the_board_whatever_the_host_header_says(served: Served) -> None:
    answer = ask(served, "GET", "/", Host="evil.example")
    assert (answer.status_code, answer.headers["location"]) == (307, "board/")
    board = httpx.get(served.url, follow_redirects=True, timeout=30, trust_env=False)
    assert board.status_code == 200
    assert "board.example" in board.text


def test_a_registry_that_the_reader_holds_is_not_sent_again(served: Served) -> None:
    first = served.get("/v1/registry")
    tag = first.headers["etag"]
    for held in (tag, f'"other", {tag}', f"W/{tag}", "*"):
        again = ask(served, "GET", "/v1/registry", **{"If-None-Match": held})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    assert (
        ask(served, "GET", "/v1/registry", **{"If-None-Match": '"other"'}).content == first.content
    )


def test_a_new_version_is_sent_to_who_holds_the_one_before(served: Served) -> None:
    home = served.home
    tag = served.get("/v1/registry").headers["etag"]
    with home.database.writing() as connection:
        before = newest_registry(connection)
        sign_next(
            connection, replace(before, version=before.version + 1), [home.root_signer(before)]
        )
    after = ask(served, "GET", "/v1/registry", **{"If-None-Match": tag})
    assert after.status_code == 200
    assert after.headers["etag"] != tag
    assert after.content == served.get(f"/v1/registry/{before.version + 1}").content
