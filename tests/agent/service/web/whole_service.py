"""A service with something on every page: results, jobs, reviews, ratings and statements."""

from pathlib import Path
from typing import Final

from agent.access.accounts import change_reveal
from agent.cli.submission import submission
from agent.delivery.outbox import Outbox, State
from agent.site.directory import Site
from agent.store import Account
from tests.agent.calibration.graded_site import BENCHMARK, add_graded
from tests.agent.delivery.whole_site import SUITE, fill, ok
from tests.agent.service.filled_site import FilledSite, case, failed, unscored
from tests.agent.service.web.running_service import Browser, RunningService
from tests.agent.service.web.test_job_pages import end, queue, write_log
from tests.aggregator.federation import CARD, MODELS

LATER: Final = "later"
REVIEW: Final = "first"
CALIBRATION: Final = "spring-sample"
WITH_DATA: Final = "shc_ptbm_med"
_CSV: Final = b"prompt,context,label\nIs it so?,A note.,A\nIs it so?,Another note.,B\n"


def fill_service(joined: RunningService, tmp_path: Path) -> list[str]:
    """Put something on every page: of dana's, of others', of nobody's, and what waits for each role.

    Returns:
        Pages of dana's own, which a walk would not choose among the many of their kind.
    """
    site = joined.site
    filled = FilledSite(site)
    people = read_people(site)
    run_id = _fill_results(filled, people["dana"].account_id)
    _fill_queue(filled, people["dana"].account_id, people["dan"].account_id)
    of_outbox = _fill_outbox(joined, site, tmp_path)
    _fill_reviews(joined)
    data = joined.sign_in("dana").upload(f"/benchmarks/{WITH_DATA}/data", _CSV, sent_name="a.csv")
    assert data.status_code == 200, data.text
    with site.store() as store:
        change_reveal(store, people["dana"], may_reveal=True)
    run = f"/results/runs/{run_id}"
    return [
        f"{run}/index.html",
        f"{run}/instance-1.html",
        *of_outbox,
        f"/benchmarks/{WITH_DATA}",
        f"/outbox/prepare?suite={LATER}",
    ]


def read_people(site: Site) -> dict[str, Account]:
    """Return the accounts of a site by their names."""
    with site.store() as store:
        return {account.name: account for account in store.accounts.read_all()}


def _fill_results(filled: FilledSite, owner: str) -> str:
    run_id = filled.add([case(0), failed(1), unscored(2), *map(case, range(3, 25))], owner=owner)
    filled.add([case(0, score=0.0), *map(case, range(1, 25))], entry="pubmed_qa:model=openai/gpt-x")
    filled.add([case(0)], suite="hidden", owner=owner, private=True)
    add_graded(filled, count=4)
    return run_id


def _fill_queue(filled: FilledSite, owner: str, other: str) -> None:
    open_job, ended_job = queue(filled, owner, "nightly run"), queue(filled, owner, "weekly run")
    queue(filled, other, "the third run")
    end(filled, ended_job, 9, "some instances have no answer; queue the job again")
    write_log(filled, ended_job, "--- attempt 1 ---\nerror: 3 without an answer\n")
    with filled.site.store() as store:
        for cron, account in (("0 20 * * FRI", owner), ("0 3 * * *", other)):
            command = open_job.command
            store.jobs.add_schedule(
                cron, type(command)(command.arguments, command.title, account), 1_800_000_000
            )


def _fill_outbox(joined: RunningService, site: Site, tmp_path: Path) -> list[str]:
    """Fill the outbox; return the pages of an open plan and of a result that can be withdrawn."""
    dana, stella = joined.sign_in("dana"), joined.sign_in("stella")
    open_plan = _draft_plan(dana, MODELS[1].name)
    made = dana.submit("/outbox/prepare", suite=SUITE, model=MODELS[0].name)
    assert made.status_code == 303, made.text
    _approve(site, tmp_path)
    ok(site, submission, "send")
    (result,) = [
        item.digest
        for item in Outbox(site.submissions).list_submissions()
        if item.is_result and item.state is State.RECEIPTED
    ]
    stella.submit(f"{_draft_plan(dana, MODELS[0].name)}/reject", reason="too_much")
    _draft_plan(dana, MODELS[0].name)
    _approve(site, tmp_path)
    for cell in CARD.cells:
        right = 30 if cell.benchmark == "pubmed_qa" else 80
        fill(site, cell.benchmark, cell.metric, MODELS[0].name, right=right, suite=LATER)
    assert dana.submit("/outbox/prepare", suite=LATER, model=MODELS[0].name).status_code == 303
    return [open_plan, f"/outbox/{result}"]


def _draft_plan(dana: Browser, model: str) -> str:
    plan = dana.submit(
        "/outbox/plan",
        model=model,
        scorecard="pilot",
        days="30",
        assurance="served_claimed",
    )
    assert plan.status_code == 303, plan.text
    return plan.headers["location"]


def _approve(site: Site, tmp_path: Path) -> None:
    ok(site, submission, "approve", "--key", tmp_path / "steward.key", answer="y\n" * 2)


def _fill_reviews(joined: RunningService) -> None:
    stella, dana = joined.sign_in("stella"), joined.sign_in("dana")
    made = stella.submit("/redaction/new", name=REVIEW, suite="november", records="2", seed="1")
    assert made.status_code == 303, made.text
    for number in (1, 2):
        stella.submit(f"/redaction/of/{REVIEW}/records/{number}", words="", entity="", step="save")
    made = dana.submit(
        "/rating/new", name=CALIBRATION, of=f"spring/{BENCHMARK}", items="4", raters="3", seed="1"
    )
    assert made.status_code == 303, made.text
    for rater in (dana, joined.sign_in("vera")):
        assert rater.submit(f"/rating/of/{CALIBRATION}/begin").status_code == 303
    assert dana.submit("/account/tokens", label="a notebook", days="30", scope="view_runs").text
