"""Signing in and out, and what attackers try there."""

import pytest
from starlette.responses import Response

from agent.access.accounts import lock_account, require_account
from agent.service.web.callers import set_cookie
from tests.agent.service.web.running_service import PASSWORD, RunningService


def test_a_reader_comes_back_to_the_page_that_was_asked_for(running: RunningService):
    browser = running.visit()
    first = browser.get("/jobs")
    assert (first.status_code, first.headers["location"]) == (303, "/sign-in?next=/jobs")
    page = browser.get(first.headers["location"])
    assert 'name="next" value="/jobs"' in page.text
    done = browser.send("/sign-in", name="dana", password=PASSWORD, next="/jobs")
    assert done.headers["location"] == "/jobs"
    assert "Sign out" in browser.get("/jobs").text


@pytest.mark.parametrize(
    "elsewhere",
    ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)", "/\tx"],
)
def test_the_sign_in_leads_to_no_other_site(running: RunningService, elsewhere: str):
    done = running.visit().send("/sign-in", name="dana", password=PASSWORD, next=elsewhere)
    assert done.headers["location"] == "/"


def test_a_wrong_password_and_an_unknown_name_get_the_same_words(running: RunningService):
    pages = []
    for name, password in (("dana", "wrong"), ("nobody", PASSWORD)):
        response = running.visit().send("/sign-in", name=name, password=password)
        assert response.status_code == 401
        assert "set-cookie" not in response.headers
        pages.append(response.text.replace(name, "NAME"))
    assert pages[0] == pages[1]


def test_guessing_is_stopped_also_in_a_new_browser(running: RunningService):
    limit = running.site.settings.sign_in_failures_per_name
    for _ in range(limit):
        assert running.visit().send("/sign-in", name="dana", password="guess").status_code == 401
    refused = running.visit().send("/sign-in", name="dana", password=PASSWORD)
    assert refused.status_code == 429
    assert "Too many sign-ins have failed" in refused.text


def test_a_cookie_that_an_attacker_set_before_the_sign_in_is_worth_nothing(running: RunningService):
    browser = running.visit()
    browser.client.cookies.set("intramural", "prepared-by-an-attacker")
    done = browser.send("/sign-in", name="dana", password=PASSWORD)
    assert done.cookies["intramural"] != "prepared-by-an-attacker"
    attacker = running.visit()
    attacker.client.cookies.set("intramural", "prepared-by-an-attacker")
    assert attacker.get("/").status_code == 303


def test_after_signing_out_the_cookie_opens_nothing(running: RunningService):
    browser = running.sign_in("dana")
    cookie = browser.client.cookies["intramural"]
    assert browser.submit("/sign-out").status_code == 303
    thief = running.visit()
    thief.client.cookies.set("intramural", cookie)
    assert thief.get("/").headers["location"] == "/sign-in"


def test_a_new_sign_in_ends_the_earlier_session_of_the_browser(running: RunningService):
    browser = running.sign_in("dana")
    earlier = browser.client.cookies["intramural"]
    browser.send("/sign-in", name="vera", password=PASSWORD)
    thief = running.visit()
    thief.client.cookies.set("intramural", earlier)
    assert thief.get("/").status_code == 303


def test_locking_an_account_ends_its_sessions_at_once(running: RunningService):
    browser = running.sign_in("dana")
    with running.site.store() as store:
        lock_account(store, require_account(store, "dana"), 1_900_000_000)
    assert browser.get("/").headers["location"] == "/sign-in"


def test_a_form_of_an_earlier_session_changes_nothing(running: RunningService):
    browser = running.sign_in("dana")
    stale = browser.read_secret()
    browser.send("/sign-in", name="dana", password=PASSWORD)
    refused = browser.send("/sign-out", csrf=stale)
    assert refused.status_code == 403
    assert "no longer valid" in refused.text
    assert browser.get("/account").status_code == 200


def test_the_cookie_is_kept_from_scripts_and_from_other_sites(running: RunningService):
    response = running.visit().send("/sign-in", name="dana", password=PASSWORD)
    words = response.headers["set-cookie"].lower()
    assert "httponly" in words
    assert "samesite=strict" in words
    assert "expires" not in words  # gone when the browser is closed


def test_over_https_the_cookie_is_bound_to_the_host():
    response = Response()
    set_cookie(response, "value", is_secure=True)
    words = response.headers["set-cookie"]
    assert words.startswith("__Host-intramural=value; ")
    assert "Secure" in words
    assert "Path=/" in words
    assert "domain" not in words.lower()
