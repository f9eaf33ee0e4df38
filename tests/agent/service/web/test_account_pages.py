"""What people do with their own accounts, what an administrator does with others', and what neither may do."""

import re

from agent.access.roles import Action
from agent.service.web.application import API_PREFIX
from agent.service.web.routes import API, PAGES
from agent.store import Account
from tests.agent.service.filled_site import FilledSite
from tests.agent.service.web.running_service import PASSWORD, Browser, RunningService
from tests.agent.service.web.test_routes import fill_path, own_things

NEW = "another horse battery"


def test_a_person_changes_their_password_and_other_browsers_are_signed_out(running: RunningService):
    here, elsewhere = running.sign_in("dana"), running.sign_in("dana")
    done = here.submit("/account/password", present=PASSWORD, new=NEW, again=NEW)
    assert done.status_code == 303
    assert here.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 303
    assert running.visit().send("/sign-in", name="dana", password=PASSWORD).status_code == 401
    assert running.visit().send("/sign-in", name="dana", password=NEW).status_code == 303


def test_who_finds_an_open_browser_cannot_change_the_password(running: RunningService):
    browser = running.sign_in("dana")
    refused = browser.submit("/account/password", present="a guess", new=NEW, again=NEW)
    assert refused.status_code == 403
    assert "The present password is wrong" in refused.text
    assert 'name="again"' in refused.text  # the form is there for another try
    assert running.visit().send("/sign-in", name="dana", password=PASSWORD).status_code == 303


def test_a_password_that_is_easy_to_guess_or_mistyped_is_refused(running: RunningService):
    browser = running.sign_in("dana")
    for new, again in (
        ("short", "short"),
        ("passwordpassword", "passwordpassword"),
        (NEW, NEW + "x"),
    ):
        assert (
            browser.submit("/account/password", present=PASSWORD, new=new, again=again).status_code
            == 400
        )


def test_a_token_is_shown_once_works_and_is_revoked(running: RunningService):
    browser = running.sign_in("dana")
    page = browser.submit("/account/tokens", label="my notebook", days="7", scope=["view_jobs"])
    found = re.search(r"imt_[0-9a-f]{64}", page.text)
    assert found is not None
    assert found.group() not in browser.get("/account").text
    headers = {"Authorization": f"Bearer {found.group()}"}
    assert running.visit().get("/api/v1/jobs", **headers).status_code == 200
    revoke = re.search(r"/account/tokens/[0-9a-f]+/revoke", browser.get("/account").text)
    assert revoke is not None
    assert browser.submit(revoke.group()).status_code == 303
    assert running.visit().get("/api/v1/jobs", **headers).status_code == 401


def test_nobody_revokes_the_token_of_another(running: RunningService, people: dict[str, Account]):
    token = running.make_token(people["dan"], Action.VIEW_JOBS)
    with running.site.store() as store:
        (row,) = store.api_tokens.read_all()
    refused = running.sign_in("dana").submit(f"/account/tokens/{row.token_id}/revoke")
    assert refused.status_code == 400
    headers = {"Authorization": f"Bearer {token}"}
    assert running.visit().get("/api/v1/jobs", **headers).status_code == 200


def test_a_token_gets_no_more_than_its_owner_may(running: RunningService):
    browser = running.sign_in("vera")
    for scope in ("queue_jobs", "manage_accounts", "nonsense", "reveal"):
        refused = browser.submit("/account/tokens", label="x", days="7", scope=[scope])
        assert refused.status_code == 400


def test_a_form_that_is_refused_stays_on_its_page(running: RunningService):
    dana, ada = running.sign_in("dana"), running.sign_in("ada")
    for path, browser, fields, words in (
        (
            "/account/tokens",
            dana,
            {"label": "x", "days": "-3", "scope": ["view_jobs"]},
            "a whole number from 1 to 90",
        ),
        ("/account/tokens", dana, {"label": "x", "days": "7"}, "No action was chosen"),
        (
            "/accounts",
            ada,
            {"name": "zoe", "password": "short", "role": ["viewer"]},
            "12 characters",
        ),
        (
            "/accounts",
            ada,
            {"name": "dana", "password": NEW, "role": ["viewer"]},
            "named dana already",
        ),
        ("/accounts", ada, {"name": "zoe", "password": NEW}, "needs a role"),
    ):
        refused = browser.submit(path, **fields)
        assert refused.status_code == 400
        assert words in refused.text
        assert f'action="{path}"' in refused.text
        assert NEW not in refused.text
    assert 'value="zoe"' in refused.text


def test_an_administrator_adds_and_locks_an_account(running: RunningService):
    ada = running.sign_in("ada")
    added = ada.submit("/accounts", name="noor", password=NEW, role=["viewer"])
    assert added.status_code == 303
    page = added.headers["location"]
    noor = running.visit()
    assert noor.send("/sign-in", name="noor", password=NEW).status_code == 303
    choose_password(noor, NEW, "four other words 4")
    assert noor.get("/jobs").status_code == 200
    assert ada.submit(page, step="lock").status_code == 303
    assert noor.get("/jobs").status_code == 303
    assert ada.submit(page, step="unlock").status_code == 303
    assert ada.submit(page, step="roles", role=["viewer", "steward"]).status_code == 303
    assert "viewer, " not in ada.get(page).text
    assert ada.submit(page, step="nonsense").status_code == 400
    assert ada.submit(page, step="roles", role=["root"]).status_code == 400


def test_the_last_administrator_cannot_lock_themself_out_or_reveal_to_themself(
    running: RunningService, people: dict[str, Account]
):
    ada = running.sign_in("ada")
    page = f"/accounts/{people['ada'].account_id}"
    assert ada.submit(page, step="lock").status_code == 400
    assert ada.submit(page, step="roles", role=["viewer"]).status_code == 400
    assert ada.submit(page, step="reveal").status_code == 400
    assert ada.get("/accounts").status_code == 200


def choose_password(browser: Browser, present: str, new: str) -> None:
    """Choose another password on the page that shows nothing else."""
    page = browser.get("/account/new-password").text
    secret = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)
    assert secret is not None
    done = browser.send(
        "/account/password", csrf=secret.group(1), present=present, new=new, again=new
    )
    assert (done.status_code, done.headers["location"]) == (303, "/")


def test_a_password_that_somebody_else_chose_opens_nothing_but_the_page_to_change_it(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    """The first password of an account, which its administrator knows, could be used for ever."""
    page = f"/accounts/{people['dana'].account_id}"
    assert running.sign_in("ada").submit(page, step="password", password=NEW).status_code == 303
    dana = running.visit()
    assert dana.send("/sign-in", name="dana", password=NEW).status_code == 303
    things = own_things(filled, running, people["dana"].account_id)
    form = dana.get("/account/new-password")
    secret = re.search(r'name="csrf" value="([0-9a-f]{64})"', form.text)
    assert secret is not None
    assert '<nav aria-label="Main">' not in form.text or "/jobs" not in form.text
    open_paths = {"/account/new-password", "/account/password", "/sign-out"}
    events = len(read_events(running))
    for route in PAGES:
        if route.action is None or route.path in open_paths:
            continue
        path = fill_path(route.path, things)
        is_read = route.method == "GET"
        answer = dana.get(path) if is_read else dana.send(path, csrf=secret.group(1))
        if route.is_for_programs:
            assert answer.status_code == 403, route.path
            assert answer.json()["error"] == "Somebody else chose your password."
            continue
        assert (answer.status_code, answer.headers["location"]) == (303, "/account/new-password")
    for operation in API:
        path = API_PREFIX + fill_path(operation.path, things)
        headers = {"Origin": dana.origin, "X-CSRF": secret.group(1)}
        body = {"arguments": ["run"]} if operation.body else None
        refused = dana.client.request(operation.method, path, json=body, headers=headers)
        assert refused.status_code == 403, operation.path
        assert refused.json()["error"] == "Somebody else chose your password."
    upload = dana.upload("/benchmarks/pubmed_qa/data", b"x", csrf=secret.group(1))
    assert upload.status_code == 403
    assert len(read_events(running)) == events
    same = dana.send("/account/password", csrf=secret.group(1), present=NEW, new=NEW, again=NEW)
    assert same.status_code == 400
    assert "This is the present password" in same.text
    choose_password(dana, NEW, "four other words 4")
    assert dana.get("/jobs").status_code == 200
    assert dana.get("/account/new-password").headers["location"] == "/account"


def read_events(running: RunningService) -> list[str]:
    with running.site.store() as store:
        return [f"{event.event} {event.detail}" for event in store.audit.read_events()]


def test_an_administrator_revokes_a_token_and_sets_a_password(
    running: RunningService, people: dict[str, Account]
):
    """Both could be done only on the machine's command line."""
    token = running.make_token(people["dan"], Action.VIEW_JOBS)
    headers = {"Authorization": f"Bearer {token}"}
    with running.site.store() as store:
        (row,) = store.api_tokens.read_all()
    ada, dan = running.sign_in("ada"), running.sign_in("dan")
    page = f"/accounts/{people['dan'].account_id}"
    assert "a test" in ada.get(page).text
    other = f"/accounts/{people['dana'].account_id}"
    refused = ada.submit(other, step="revoke", token=row.token_id)
    assert refused.status_code == 400
    assert running.visit().get("/api/v1/jobs", **headers).status_code == 200
    assert ada.submit(page, step="revoke", token=row.token_id).status_code == 303
    assert running.visit().get("/api/v1/jobs", **headers).status_code == 401
    assert "is revoked" in ada.get(page).text
    assert "a test" not in ada.get(page).text
    weak = ada.submit(page, step="password", password="short")
    assert weak.status_code == 400
    assert "12 characters" in weak.text
    assert ada.submit(page, step="password", password=NEW).status_code == 303
    assert dan.get("/jobs").status_code == 303  # the session has ended
    own = ada.submit(f"/accounts/{people['ada'].account_id}", step="password", password=NEW)
    assert "This is your own account" in own.text
    by = f"by={people['ada'].account_id}"
    events = [line for line in read_events(running) if line.endswith(by)]
    assert any(line.startswith("API token revoked") for line in events)
    assert any(line.startswith("password changed") for line in events)
    assert NEW not in " ".join(events)


def test_a_name_with_blanks_is_refused_on_the_page(running: RunningService):
    ada = running.sign_in("ada")
    refused = ada.submit("/accounts", name="new user!", password=NEW, role=["viewer"])
    assert refused.status_code == 400
    assert "letters, digits and the signs . _ - @ only, without blanks" in refused.text
    assert 'value="new user!"' in refused.text


def test_signing_out_everywhere_ends_every_session(running: RunningService):
    here, elsewhere = running.sign_in("dana"), running.sign_in("dana")
    assert here.submit("/account/sessions").status_code == 303
    assert here.get("/").status_code == 303
    assert elsewhere.get("/").status_code == 303
