"""Somebody looks for a run that its owner keeps from others: on every page, in every list, by every guess."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from click.testing import CliRunner

from agent.access.accounts import change_roles
from agent.calibration.make_calibration import (
    CalibrationSampling,
    list_gradable,
    make_calibration,
)
from agent.cli.summarize import summarize
from agent.errors import ConfigError
from agent.review.sample import ReviewSampling, make_review
from agent.runs.privacy import share_run, unshare_run
from agent.service.web.queueing import find_queuers
from agent.store import Account, QueuedCommand, Role
from agent.store.jobs import JobProgress
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.judged import ENTRY
from tests.agent.service.web.running_service import DEPLOYMENTS, Browser, RunningService

SUITE = "merger-with-st-elsewhere"
MODEL = "secretlab/unreleased-9b"
OTHERS = ("vera", "dan", "stella", "ada")
LINK = re.compile(r'(?:href|action)="([^"#?]+)')
_ENDING = ("/sign-out",)


@dataclass(frozen=True, slots=True)
class Hidden:
    """A private run of dana in a suite of its own, and one in a suite that has runs of others."""

    run_id: str
    mixed_id: str


@pytest.fixture
def hidden(filled: FilledSite, people: dict[str, Account]) -> Hidden:
    owner = people["dana"].account_id
    filled.add([case(0), case(1)])
    entry = f"pubmed_qa:model={MODEL}"
    cases = [case(number, prompt=f"Secret question {number}?") for number in range(3)]
    return Hidden(
        filled.add(cases, suite=SUITE, entry=entry, owner=owner, private=True),
        filled.add(cases, entry=entry, owner=owner, private=True),
    )


def name_secrets(hidden: Hidden) -> tuple[str, ...]:
    return (SUITE, MODEL, "unreleased", hidden.run_id, hidden.mixed_id, "Secret question")


def queue(filled: FilledSite, account: str, *arguments: str, private: bool = False) -> str:
    """Queue a job that is running and has progress; return its id."""
    suite = arguments[arguments.index("--suite") + 1]
    command = QueuedCommand(
        arguments, f"{arguments[0]}: {suite}", account, suite=suite, whole_suite=arguments[0] != "run", private=private,
        servers=("http://127.0.0.1:9",),
    )  # fmt: skip
    with filled.site.store() as store:
        job_id = store.jobs.add(command, 1_800_000_000).job_id
        if private:
            store.jobs.begin(job_id, 1_800_000_001)
            label = f"{MODEL} on pubmed_qa in {suite}"
            store.jobs.report(job_id, JobProgress(label, "asking", 1, 0, 3, 1.0, "", 1.0))
    return job_id


def crawl(browser: Browser, begin: str = "/") -> Iterator[tuple[str, str]]:
    """Yield every page that a person can reach by links and addresses of forms, with its text."""
    waiting, seen = [begin], {begin}
    while waiting:
        path = waiting.pop()
        answer = browser.get(path)
        if answer.is_redirect:
            found = [answer.headers["location"]]
        else:
            yield path, answer.text
            found = LINK.findall(answer.text)
        folder = path.rsplit("/", 1)[0]
        for link in found:
            target = link if link.startswith("/") else _join(folder, link)
            if target not in seen and target not in _ENDING and len(seen) < 400:
                seen.add(target)
                waiting.append(target)


def _join(folder: str, link: str) -> str:
    parts = folder.split("/")
    for part in link.split("/"):
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


@pytest.mark.parametrize("name", OTHERS)
def test_nobody_else_finds_it_on_any_page(
    filled: FilledSite,
    running: RunningService,
    people: dict[str, Account],
    hidden: Hidden,
    name: str,
):
    """With jobs, schedules, releases and waiting jobs of others that have to do with it."""
    owner = people["dana"].account_id
    queue(filled, owner, "run", "--suite", SUITE, "--private", private=True)
    queue(filled, owner, "judge", "--suite", SUITE)
    queue(filled, "command line", "rescore", "--suite", SUITE)
    queue(filled, people["dan"].account_id, "run", "--suite", "november")
    command = QueuedCommand(("run",), f"run: {SUITE}", owner, suite=SUITE, private=True)
    with filled.site.store() as store:
        store.jobs.add_schedule("0 3 * * *", command, 1_800_000_000)
    result = CliRunner().invoke(
        summarize, ["--suites", SUITE, "--release", "secret-release"], obj=filled.site
    )
    assert result.exit_code == 0, result.output
    mixed = ["--suites", SUITE, "november", "--release", "mixed-release"]
    assert CliRunner().invoke(summarize, mixed, obj=filled.site).exit_code == 0
    running.sign_in("dana").get(
        "/results/index.html"
    )  # the owner's pages must not be kept for others
    browser = running.sign_in(name)
    leaks: list[str] = []
    pages = dict(crawl(browser))
    for path in ("/api/v1/runs", "/api/v1/jobs", "/api/v1/benchmarks", "/api/v1/deployments"):
        pages[path] = browser.get(path).text
    for path, text in pages.items():
        leaks += [f"{path}: {secret}" for secret in name_secrets(hidden) if secret in text]
        assert "secret-release" not in text
    assert leaks == []
    assert len(pages) > 15
    assert ("Private run" in pages["/jobs"]) is True


def test_the_owner_finds_it_where_the_others_do_not(running: RunningService, hidden: Hidden):
    """Otherwise the search above would prove nothing."""
    pages = dict(crawl(running.sign_in("dana")))
    shown = [path for path, text in pages.items() if MODEL in text or SUITE in text]
    assert f"/results/runs/{hidden.run_id}/index.html" in shown
    assert f"/results/suites/{SUITE}/index.html" in shown
    assert "/" in shown


@pytest.mark.parametrize("name", OTHERS)
def test_guessed_addresses_answer_as_if_there_were_no_such_run(
    running: RunningService, hidden: Hidden, name: str
):
    browser = running.sign_in(name)
    nothing = "f" * 16
    for pattern in (
        "/results/runs/{}/index.html", "/results/runs/{}/instances-1.html", "/results/runs/{}/instance-1.html",
        "/results/runs/{}/answers-1.html", "/runs/{}/delete", "/results/suites/{}/index.html",
        "/results/suites/{}/compare.html", "/results/suites/{}/agreement.html", "/results/suites/{}/calibration.html",
        "/api/v1/runs?suite={}",
    ):  # fmt: skip
        real = SUITE if "suite" in pattern else hidden.run_id
        guessed, absent = browser.get(pattern.format(real)), browser.get(pattern.format(nothing))
        assert guessed.status_code == absent.status_code, pattern
        assert guessed.text.replace(real, nothing) == absent.text, pattern
    for pattern in ("/runs/{}/delete", "/runs/{}/privacy", "/reveal/runs/{}/instance-1.html"):
        guessed = browser.submit(pattern.format(hidden.run_id), private="no", reason="score")
        absent = browser.submit(pattern.format(nothing), private="no", reason="score")
        assert guessed.status_code == absent.status_code, pattern
        assert guessed.text.replace(hidden.run_id, nothing) == absent.text, pattern


def test_a_comparison_with_it_is_no_page(
    filled: FilledSite, running: RunningService, people: dict[str, Account], hidden: Hidden
):
    del people
    mine = filled.add([case(0)], entry="pubmed_qa:model=x/mine")
    for name in ("dan", "stella"):
        browser = running.sign_in(name)
        page = browser.get(f"/results/runs/{mine}/instances-beside-{hidden.mixed_id}-1.html")
        assert page.status_code == 404
        assert MODEL not in page.text


def test_the_job_of_a_deleted_private_run_still_tells_nothing(
    filled: FilledSite, running: RunningService, people: dict[str, Account], hidden: Hidden
):
    """Without the run, a job of the suite that is not private itself looked like anybody's."""
    job_id = queue(filled, people["dana"].account_id, "judge", "--suite", SUITE)
    whole = queue(filled, "command line", "rescore", "--suite", SUITE)
    owner = running.sign_in("dana")
    assert owner.submit(f"/runs/{hidden.run_id}/delete").status_code == 303
    for name in OTHERS:
        browser = running.sign_in(name)
        for path in ("/jobs", f"/jobs/{job_id}", f"/jobs/{whole}", "/api/v1/jobs", "/audit"):
            assert SUITE not in browser.get(path).text, (name, path)
    assert SUITE in owner.get(f"/jobs/{job_id}").text


def test_a_job_that_was_queued_before_the_run_became_private_tells_nothing(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    run_id = filled.add([case(0)], suite="april", owner=people["dana"].account_id)
    job_id = queue(filled, people["dana"].account_id, "judge", "--suite", "april")
    other = running.sign_in("dan")
    assert "april" in other.get("/results/index.html").text
    running.sign_in("dana").submit(f"/runs/{run_id}/privacy", private="yes")
    for path in ("/results/index.html", "/jobs", f"/jobs/{job_id}", "/"):
        assert "april" not in other.get(path).text, path


def test_an_administrator_cannot_read_repeat_or_log_a_private_job(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    """An administrator may cancel it. With the role of a data scientist too, repeating would tell the command."""
    with filled.site.store() as store:
        change_roles(store, people["ada"], {Role.ADMINISTRATOR, Role.DATA_SCIENTIST})
    job_id = queue(
        filled, people["dana"].account_id, "run", "--suite", SUITE, "--private", private=True
    )
    filled.site.jobs.mkdir(exist_ok=True)
    (filled.site.jobs / f"{job_id}.log").write_text(f"asking {MODEL}")
    ada = running.sign_in("ada")
    answers = [
        ada.get(f"/jobs/{job_id}"),
        ada.get(f"/jobs/{job_id}/log"),
        ada.submit(f"/jobs/{job_id}/retry"),
        ada.submit(f"/jobs/{job_id}/repeat", cron="0 3 * * *"),
        ada.submit(f"/jobs/{job_id}/cancel"),
        ada.get("/jobs/schedules"),
    ]
    for answer in answers:
        assert SUITE not in answer.text
        assert MODEL not in answer.text
    assert [answer.status_code for answer in answers[1:4]] == [400] * 3
    with filled.site.store() as store:
        job = store.jobs.find(job_id)
    assert job is not None
    assert job.state.value == "cancelling"


def test_the_audit_log_names_neither_its_suite_nor_its_benchmark(
    filled: FilledSite, running: RunningService, hidden: Hidden
):
    owner = running.sign_in("dana")
    filled.site.deployments.write_text(DEPLOYMENTS, "utf-8")
    entry = "pubmed_qa:model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwen"
    arguments = ["run", "--suite", SUITE, "--private", "-r", entry]
    headers = {"X-CSRF": owner.read_secret(), "Origin": running.origin}
    sent = owner.client.post("/api/v1/jobs", json={"arguments": arguments}, headers=headers)
    assert sent.status_code == 200, sent.text
    owner.get(f"/results/runs/{hidden.run_id}/instance-1.html")
    owner.submit(f"/runs/{hidden.run_id}/delete")
    with filled.site.store() as store:
        details = " ".join(event.detail for event in store.audit.read_events())
    assert hidden.run_id in details  # as a number that only its owner can look up
    for secret in (SUITE, MODEL, "pubmed_qa"):
        assert secret not in details


def test_whoever_shows_a_private_run_had_a_part_in_its_suite(
    filled: FilledSite, running: RunningService, people: dict[str, Account], hidden: Hidden
):
    owner = running.sign_in("dana")
    assert owner.submit(f"/runs/{hidden.run_id}/privacy", private="no").status_code == 303
    with filled.site.store() as store:
        events = store.audit.read_events()
    assert find_queuers(events, {SUITE}) == {people["dana"].account_id}
    assert MODEL in running.sign_in("vera").get(f"/results/runs/{hidden.run_id}/index.html").text


def test_no_sample_for_others_has_a_text_of_it(filled: FilledSite, hidden: Hidden):
    """Made on the command line, which sees every run, but shown to every steward."""
    with pytest.raises(ConfigError, match="its runs are private"):
        make_review(filled.site, ReviewSampling("secret", SUITE, 10, 1))
    make_review(filled.site, ReviewSampling("mixed", "november", 10, 1))
    with filled.site.store() as store:
        texts = [text.content["text"] for text in store.reviews.read_texts("mixed") if text.content]
    assert texts
    assert not any("Secret" in text for text in texts)


def test_no_calibration_takes_an_answer_of_it(filled: FilledSite, people: dict[str, Account]):
    filled.add([case(0)], suite="jury", entry=ENTRY, owner=people["dana"].account_id, private=True)
    with filled.site.store() as store:
        assert list_gradable(store) == []
    wanted = CalibrationSampling("may", "jury", "medication_qa", 1, 1, 1, with_reference=False)
    with pytest.raises(ConfigError, match="everyone may see"):
        make_calibration(filled.site, wanted, None)


def test_a_run_is_not_hidden_while_a_job_of_somebody_else_works_on_its_suite(
    filled: FilledSite, people: dict[str, Account]
):
    """Its process would lose the run from under its hands."""
    run_id = filled.add([case(0)], owner=people["dana"].account_id)
    job_id = queue(filled, people["dan"].account_id, "judge", "--suite", "november")
    with filled.site.store() as store:
        store.jobs.begin(job_id, 1.0)
        run = store.runs.find(run_id)
        assert run is not None
        with pytest.raises(ConfigError, match=f"job {job_id} works"):
            unshare_run(filled.site, store, run)
        store.jobs.end(job_id, 0, 2.0)
        unshare_run(filled.site, store, run)
        share_run(store, run)
        events = [event.event for event in store.audit.read_events()]
    assert events[-2:] == ["run kept from others", "run shown to others"]
