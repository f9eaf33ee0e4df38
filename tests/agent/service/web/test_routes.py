"""Who may enter which route: the whole table, with every person, and every owner of what is meant."""

import re
import secrets
from collections.abc import Mapping

import httpx
import pytest

from agent.access.roles import Action, find_reach, may
from agent.access.tokens import FOR_PROGRAMS, list_scopes
from agent.service.web.application import API_PREFIX
from agent.service.web.routes import API, PAGES, PROBES, ApiRoute, Route
from agent.store import Account, QueuedCommand
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import Browser, RunningService

Things = Mapping[str, str]

_SIGN_IN = 401
_FORBIDDEN = 403
NOT_ALLOWED = "Your account may not do this."
ENDING = ("/sign-in", "/sign-out", "/account/sessions")
"""Forms that end the session with which the others are tried; they have tests of their own."""
OWNERS = ("own", "another's", "nobody's")


def queue_for(running: RunningService, account: str) -> str:
    """Queue a job in the name of an account, and return its id."""
    command = QueuedCommand(("rescore", "--suite", "november"), "rescore", account)
    with running.site.store() as store:
        return store.jobs.add(command, 1_800_000_000).job_id


def own_things(filled: FilledSite, running: RunningService, account: str) -> Things:
    """Store one of each thing that has an owner, for an account; return their ids by their names in paths."""
    owner = None if account == "command line" else account
    command = QueuedCommand(("rescore", "--suite", "november"), "rescore", account)
    with running.site.store() as store:
        schedule_id = store.jobs.add_schedule("0 3 * * *", command, 1_800_000_000).schedule_id
    return {
        "job_id": queue_for(running, account),
        "run_id": filled.add([case(0)], suite=f"suite-{secrets.token_hex(4)}", owner=owner),
        "schedule_id": schedule_id,
    }


def fill_path(path: str, things: Things) -> str:
    """Return a route's path with values: the things, and others that do not exist."""
    for name, value in things.items():
        path = path.replace(f"{{{name}}}", value)
    return re.sub(r"\{.*?\}", "0" * 64, path)


def enter(browser: Browser, route: Route | ApiRoute, things: Things) -> httpx.Response:
    """Send the request of a route as the pages would; return the answer."""
    is_api = isinstance(route, ApiRoute)
    path = fill_path(route.path, things)
    if route.method == "GET":
        return browser.get(API_PREFIX + path if is_api else path)
    if is_api:
        headers = {"Origin": browser.origin, "X-CSRF": browser.read_secret()}
        body = {"arguments": ["nonsense"]} if route.body else None
        return browser.client.request(route.method, API_PREFIX + path, json=body, headers=headers)
    return browser.submit(path)


def expect_entry(account: Account, route: Route | ApiRoute, owner: str | None) -> bool:
    """Return whether the table of roles lets an account in."""
    if route.action is None:
        return True
    if route.find_owner is None:
        return find_reach(account, route.action) is not None
    return may(account, route.action, owner)


def test_each_thing_with_an_owner_is_tried_as_its_owner_and_as_somebody_else(
    filled: FilledSite, running: RunningService
):
    owned = {route.path for route in (*PAGES, *API) if route.find_owner}
    names = {name for path in owned for name in re.findall(r"\{(\w+)\}", path)}
    assert names == set(own_things(filled, running, "command line"))


@pytest.mark.parametrize("name", ["vera", "dana", "stella", "ada"])
def test_every_route_lets_in_exactly_whom_the_table_allows(
    filled: FilledSite, running: RunningService, people: dict[str, Account], name: str
):
    account = people[name]
    owners = {
        "own": account.account_id,
        "another's": people["dan"].account_id,
        "nobody's": "command line",
    }
    wrong: list[str] = []
    browser = running.sign_in(name)
    for route in (*PAGES, *API):
        if route.path in ENDING:
            continue
        for whose in OWNERS if route.find_owner else OWNERS[:1]:
            things = own_things(filled, running, owners[whose]) if route.find_owner else {}
            answer = enter(browser, route, things)
            assert answer.status_code < 500, (route.path, answer.text)
            is_in = NOT_ALLOWED not in answer.text
            assert answer.status_code not in (200, 303) or is_in
            if is_in != expect_entry(account, route, owners[whose]):
                wrong.append(f"{route.method} {route.path} {whose}: {answer.status_code}")
    assert wrong == []


def test_nobody_enters_without_a_sign_in(running: RunningService):
    browser = running.visit()
    things = {"job_id": queue_for(running, "command line")}
    for route in PAGES:
        if route.action is None:
            continue
        path = fill_path(route.path, things)
        response = browser.get(path) if route.method == "GET" else browser.send(path)
        if route.is_for_programs:
            assert response.status_code == _SIGN_IN, route.path
            continue
        assert response.status_code == 303, route.path
        assert response.headers["location"].startswith("/sign-in"), route.path
    for operation in API:
        path = API_PREFIX + fill_path(operation.path, things)
        headers = {"Origin": running.origin}
        body = {"arguments": ["run"]} if operation.body else None
        sent = browser.client.request(operation.method, path, json=body, headers=headers)
        assert sent.status_code == _SIGN_IN, operation.path


def test_every_form_needs_the_secret_of_its_session(
    running: RunningService, people: dict[str, Account]
):
    job_id = queue_for(running, people["dana"].account_id)
    browser = running.sign_in("dana")
    for route in PAGES:
        if route.method == "POST" and route.action is not None:
            for secret in ("", "0" * 64):
                sent = browser.send(fill_path(route.path, {"job_id": job_id}), csrf=secret)
                assert sent.status_code == _FORBIDDEN, route.path
    with running.site.store() as store:
        job = store.jobs.find(job_id)
    assert job is not None
    assert job.state.value == "queued"


def test_a_token_is_limited_to_its_scopes(running: RunningService, people: dict[str, Account]):
    token = running.make_token(people["dana"], Action.VIEW_JOBS)
    browser = running.visit()
    headers = {"Authorization": f"Bearer {token}"}
    assert browser.get("/api/v1/jobs", **headers).status_code == 200
    assert browser.get("/api/v1/runs", **headers).status_code == _FORBIDDEN
    sent = browser.client.post("/api/v1/jobs", json={"arguments": ["run"]}, headers=headers)
    assert sent.status_code == _FORBIDDEN
    assert sent.json()["error"] == "This API token lacks the scope queue_jobs."
    limited = {"Authorization": f"Bearer {running.make_token(people['vera'], Action.VIEW_JOBS)}"}
    denied = browser.client.post("/api/v1/jobs", json={"arguments": ["run"]}, headers=limited)
    assert denied.json()["error"] == NOT_ALLOWED  # no other token of this account would help


def test_exactly_the_scopes_that_an_operation_needs_are_offered(people: dict[str, Account]):
    """Scopes such as manage_reviews could be chosen, and did nothing."""
    pages = {route.action for route in PAGES if route.is_for_programs}
    needed = {route.action for route in API} | pages | {Action.VIEW_PRIVATE_RUNS}
    assert needed == FOR_PROGRAMS
    offered = {action for account in people.values() for action in list_scopes(account)}
    assert offered == FOR_PROGRAMS
    for name, account in people.items():
        possible = {action for action in needed if find_reach(account, action)}
        assert set(list_scopes(account)) == possible, name


def test_every_operation_needs_its_scope_and_no_other(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    account = people["dana"]
    client = running.visit().client
    scopes = list_scopes(account)
    for route in API:
        alone = running.make_token(account, route.action)
        others = running.make_token(account, *(each for each in scopes if each != route.action))
        for token, is_in in ((alone, True), (others, False)):
            things = own_things(filled, running, account.account_id)
            path = API_PREFIX + fill_path(route.path, things)
            headers = {"Authorization": f"Bearer {token}"}
            body = {"arguments": ["nonsense"]} if route.body else None
            answer = client.request(route.method, path, json=body, headers=headers)
            lacks = f"This API token lacks the scope {route.action.value}." in answer.text
            assert lacks is not is_in, (route.path, answer.text)
            assert (answer.status_code == _FORBIDDEN) is not is_in, (route.path, answer.text)


def test_private_runs_are_listed_to_a_program_only_with_their_scope(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    dana = people["dana"]
    run_id = filled.add([case(0)], owner=dana.account_id, private=True)
    for scopes, is_listed in (
        ((Action.VIEW_RUNS,), False),
        ((Action.VIEW_RUNS, Action.VIEW_PRIVATE_RUNS), True),
    ):
        headers = {"Authorization": f"Bearer {running.make_token(dana, *scopes)}"}
        assert (run_id in running.visit().get("/api/v1/runs", **headers).text) is is_listed


def test_no_page_opens_to_a_token(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    account = people["dana"]
    token = running.make_token(account, *list_scopes(account))
    browser = running.visit()
    browser.client.headers["Authorization"] = f"Bearer {token}"
    things = own_things(filled, running, account.account_id)
    for route in PAGES:
        if route.action is None or route.is_for_programs:
            continue
        path = fill_path(route.path, things)
        answer = browser.get(path) if route.method == "GET" else browser.send(path)
        assert answer.status_code == _FORBIDDEN, route.path
        assert "An API token opens no pages." in answer.text, route.path


def test_a_wrong_token_is_not_helped_by_a_cookie(running: RunningService):
    browser = running.sign_in("dana")
    assert browser.get("/api/v1/jobs").status_code == 200
    assert browser.get("/api/v1/jobs", Authorization="Bearer imt_wrong").status_code == _SIGN_IN


def test_a_route_without_an_action_shows_nothing_of_the_site(running: RunningService):
    shown = [route.path for route in PAGES if route.action is None]
    sign_in = ["/sign-in", "/sign-in", "/sign-in/provider", "/sign-in/oidc"]
    drawn = ["/style.css", "/service.css", "/favicon.ico", "/icon.svg"]
    assert shown == [*drawn, *sign_in]


def test_probes_say_to_everyone_whether_the_service_is_well_and_nothing_else(
    running: RunningService,
):
    browser = running.visit()
    words = {"status", "ok", "ready", "checks", "store", "queue"}
    for probe in PROBES:
        answer = browser.get(probe.path)
        assert answer.status_code == 200
        assert set(re.findall(r"\w+", answer.text)) <= words
        assert browser.send(probe.path).status_code == 405
    assert [probe.path for probe in PROBES] == ["/healthz", "/readyz"]
