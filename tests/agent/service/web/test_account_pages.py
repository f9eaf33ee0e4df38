"""What people do with their own accounts, what an administrator does with others', and what neither may do."""

import re

from agent.store import Account
from tests.agent.service.web.running_service import PASSWORD, RunningService

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
    assert "the present password is wrong" in refused.text
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
    from agent.access.roles import Action

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
            {"label": "x", "days": "900", "scope": ["view_jobs"]},
            "1 to 90 days",
        ),
        ("/account/tokens", dana, {"label": "x", "days": "7"}, "no action was chosen"),
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


def test_signing_out_everywhere_ends_every_session(running: RunningService):
    here, elsewhere = running.sign_in("dana"), running.sign_in("dana")
    assert here.submit("/account/sessions").status_code == 303
    assert here.get("/").status_code == 303
    assert elsewhere.get("/").status_code == 303
