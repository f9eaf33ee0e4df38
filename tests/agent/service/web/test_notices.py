"""What a form did is said once, on the page that follows, and never in an address."""

import inspect
import re

import pytest

from agent.service.web.notices import Notices
from agent.service.web.routes import PAGES
from agent.store import Account
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import DEPLOYMENTS, Browser, RunningService

CRON = "0 3 * * *"
# Forms that end the session, and those of a clinician, which lead from answer to answer with the progress in words.
WITHOUT = {"sign_in", "sign_out", "end_own_sessions"}


def read_notice(page: str) -> str:
    """Return the confirmation on a page; empty if there is none."""
    found = re.search(r'<p class="callout notice" role="status">([^<]*)</p>', page)
    return "" if found is None else found.group(1)


def send_and_follow(browser: Browser, path: str, **fields: str) -> str:
    """Send a form and return what the next page confirms, having checked that it does so once."""
    done = browser.submit(path, **fields)
    assert done.status_code == 303, done.text
    address = done.headers["location"]
    assert "?" not in address
    words = read_notice(browser.get(address).text)
    assert read_notice(browser.get(address).text) == ""
    return words


def test_every_form_that_leads_to_another_page_confirms_there():
    for route in PAGES:
        if route.method == "POST" and route.handler.__name__ not in WITHOUT:
            assert "redirect(" not in inspect.getsource(route.handler), route.path


def test_a_deleted_run_is_confirmed(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    """After a deletion there was only the list of runs, one shorter."""
    run_id = filled.add([case(0)], owner=people["dana"].account_id)
    dana = running.sign_in("dana")
    words = send_and_follow(dana, f"/runs/{run_id}/delete")
    assert "is deleted with its texts" in words


def test_settings_accounts_schedules_and_jobs_are_confirmed(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    filled.site.deployments.write_text(DEPLOYMENTS, "utf-8")
    ada, dana = running.sign_in("ada"), running.sign_in("dana")
    changed = send_and_follow(ada, "/settings", name="jobs_at_once", value="3")
    assert changed == "jobs_at_once is changed to 3."
    account = f"/accounts/{people['vera'].account_id}"
    assert "locked" in send_and_follow(ada, account, step="lock")
    assert "unlocked" in send_and_follow(ada, account, step="unlock")
    assert "roles are changed" in send_and_follow(ada, account, step="roles", role="viewer")
    wish = {"benchmark": "pubmed_qa", "deployment": "local/qwen", "suite": "x", "cron": CRON}
    added = send_and_follow(dana, "/new-run", step="schedule", **wish)
    assert added == "The schedule is added."
    with filled.site.store() as store:
        (schedule,) = store.jobs.list_schedules()
    ended = send_and_follow(dana, f"/jobs/schedules/{schedule.schedule_id}/end")
    assert "ended" in ended
    assert send_and_follow(dana, "/new-run", step="queue", **wish) == "The run is queued."
    with filled.site.store() as store:
        (job,) = store.jobs.list_open()
    assert "first" in send_and_follow(dana, f"/jobs/{job.job_id}/first")
    assert "cancelled" in send_and_follow(dana, f"/jobs/{job.job_id}/cancel")
    assert "ended already" in send_and_follow(dana, f"/jobs/{job.job_id}/cancel")


def test_neither_another_session_nor_another_page_takes_the_words(running: RunningService):
    ada, again = running.sign_in("ada"), running.sign_in("ada")
    done = ada.submit("/settings", name="jobs_at_once", value="3")
    address = done.headers["location"]
    assert read_notice(again.get(address).text) == ""
    assert read_notice(ada.get("/health").text) == ""  # in another tab
    assert read_notice(ada.get(address).text) == "jobs_at_once is changed to 3."


def test_words_that_nobody_fetched_are_forgotten():
    now = [0.0]
    notices = Notices(lambda: now[0])
    notices.leave("s", "/models/a%20b?x#y", "done")
    now[0] = 121
    assert notices.take("s", "/models/a b") == ""
    notices.leave("s", "/models/a%20b?x#y", "done")
    assert notices.take("s", "/models/a b") == "done"


@pytest.mark.full
def test_a_thousand_sessions_at_most_are_remembered():
    notices = Notices()
    for number in range(2_000):
        notices.leave(str(number), "/", "done")
    assert notices.take("0", "/") == ""
    assert notices.take("1999", "/") == "done"


def test_two_forms_that_end_together_confirm_on_their_own_pages():
    notices = Notices()
    notices.leave("s", "/models/a", "The first has ended.")
    notices.leave("s", "/models/b", "The second has ended.")
    assert notices.take("s", "/models/a") == "The first has ended."
    assert notices.take("s", "/models/b") == "The second has ended."
