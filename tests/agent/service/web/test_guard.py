"""What other machines, other pages and careless programs send to the service."""

import http.client

import pytest

from agent.service.web.guard import LARGEST_BODY
from tests.agent.service.web.running_service import PASSWORD, RunningService


def ask(
    running: RunningService, method: str, path: str, headers: dict[str, str], body: bytes = b""
) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    connection.putrequest(method, path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def test_a_name_that_an_attacker_points_to_this_machine_is_refused(running: RunningService):
    for host in (
        "evil.example",
        f"evil.example:{running.port}",
        "127.0.0.1",
        f"127.0.0.1.:{running.port}",
    ):
        status, content = ask(running, "GET", "/sign-in", {"Host": host})
        assert status == 421
        assert b"Example Hospital" not in content


def test_two_host_headers_are_refused(running: RunningService):
    own = f"127.0.0.1:{running.port}"
    connection = http.client.HTTPConnection("127.0.0.1", running.port, timeout=20)
    connection.putrequest("GET", "/sign-in", skip_host=True)
    connection.putheader("Host", own)
    connection.putheader("Host", "evil.example")
    connection.endheaders()
    assert connection.getresponse().status in (400, 421)
    connection.close()


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1"])
def test_a_form_of_another_page_is_refused(running: RunningService, origin: str | None):
    browser = running.sign_in("dana")
    headers = {} if origin is None else {"Origin": origin}
    fields = {"csrf": browser.read_secret()}
    response = browser.client.post("/sign-out", data=fields, headers=headers)
    assert response.status_code == 403
    assert browser.get("/account").status_code == 200


def test_a_form_of_another_port_of_this_machine_is_refused(running: RunningService):
    browser = running.sign_in("dana")
    fields = {"csrf": browser.read_secret()}
    origin = {"Origin": f"http://127.0.0.1:{running.port + 1}"}
    assert browser.client.post("/sign-out", data=fields, headers=origin).status_code == 403


@pytest.mark.parametrize("is_declared", [True, False], ids=["declared", "in chunks"])
def test_a_body_that_is_too_large_is_refused(running: RunningService, is_declared: bool):
    browser = running.visit()
    body = b"name=" + b"a" * LARGEST_BODY
    headers = {"Origin": running.origin, "Content-Type": "application/x-www-form-urlencoded"}
    content = body if is_declared else iter([body[:1000], body[1000:]])
    response = browser.client.post("/sign-in", content=content, headers=headers)
    assert response.status_code == 413


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"--a--"),
        ("text/plain", b"name=dana"),
        ("application/x-www-form-urlencoded", b"&".join([b"a=b"] * 1000)),
    ],
)
def test_what_is_no_form_is_refused_in_words(running: RunningService, kind: str, body: bytes):
    headers = {"Origin": running.origin, "Content-Type": kind}
    response = running.visit().client.post("/sign-in", content=body, headers=headers)
    assert response.status_code in (400, 415)
    assert "form" in response.text


@pytest.mark.parametrize(
    "path", ["/sign-in", "/", "/nowhere", "/api/v1/jobs", "/results/../../etc/passwd"]
)
def test_every_answer_carries_the_same_strict_headers(running: RunningService, path: str):
    headers = running.visit().get(path).headers
    assert headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'")
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "same-origin"
    assert "access-control-allow-origin" not in headers


def test_a_path_is_not_echoed(running: RunningService):
    browser = running.sign_in("dana")
    for path in (
        "/results/runs/%3Cscript%3Ealert(1)/index.html",
        "/jobs/%3Cscript%3Ealert(1)",
        "/%3Cscript%3E",
    ):
        response = browser.get(path)
        assert response.status_code in (400, 404)
        assert "script>" not in response.text


def test_a_password_is_in_no_answer(running: RunningService):
    response = running.visit().send("/sign-in", name="dana", password=PASSWORD + "x")
    assert PASSWORD not in response.text
