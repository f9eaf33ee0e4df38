"""The pages of jobs: why one waits, its order, what it printed, and running it again."""

import json

import pytest

from agent.access.accounts import change_roles
from agent.store import Account, Job, JobProgress, QueuedCommand, Role
from tests.agent.service.filled_site import FilledSite, case
from tests.agent.service.web.running_service import DEPLOYMENTS, RunningService

RUN = (
    "run",
    "--suite",
    "november",
    "-r",
    "pubmed_qa:model=qwen/qwen2.5-7b-instruct,model_deployment=local/qwen",
)
SERVER = "http://127.0.0.1:9"


def queue(filled: FilledSite, account: str, title: str, arguments: tuple[str, ...] = RUN) -> Job:
    filled.site.deployments.write_text(DEPLOYMENTS, "utf-8")
    command = QueuedCommand(arguments, title, account, servers=(SERVER,), suite="november")
    with filled.site.store() as store:
        return store.jobs.add(command, 1_800_000_000)


def end(filled: FilledSite, job: Job, exit_code: int = 0, problem: str = "") -> None:
    with filled.site.store() as store:
        store.jobs.begin(job.job_id, 1_800_000_001)
        store.jobs.end(job.job_id, exit_code, 1_800_000_002, problem)


def write_log(filled: FilledSite, job: Job, content: str) -> None:
    filled.site.jobs.mkdir(exist_ok=True)
    (filled.site.jobs / f"{job.job_id}.log").write_text(content, "utf-8")


def list_order(filled: FilledSite) -> list[str]:
    with filled.site.store() as store:
        return [job.title for job in store.jobs.list_open()]


def test_a_waiting_job_says_for_which_one(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    first = queue(filled, people["dan"].account_id, "the first")
    second = queue(filled, people["dana"].account_id, "the second")
    vera = running.sign_in("vera")
    assert "starts next" in vera.get(f"/jobs/{first.job_id}").text
    words = "waits for “the first”, which asks the same inference server"
    for path in (f"/jobs/{second.job_id}", "/jobs", "/"):
        assert words in vera.get(path).text, path


def test_a_job_is_moved_to_the_front_and_to_the_end(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    jobs = [queue(filled, people["dana"].account_id, title) for title in ("a", "b", "c")]
    dana = running.sign_in("dana")
    assert dana.submit(f"/jobs/{jobs[2].job_id}/first").status_code == 303
    assert list_order(filled) == ["c", "a", "b"]
    assert dana.submit(f"/jobs/{jobs[0].job_id}/last").status_code == 303
    assert list_order(filled) == ["c", "b", "a"]
    # Twice, and of a job that has ended: nothing happens.
    dana.submit(f"/jobs/{jobs[0].job_id}/last")
    end(filled, jobs[1])
    for step in ("first", "last"):
        assert dana.submit(f"/jobs/{jobs[1].job_id}/{step}").status_code == 303
    assert list_order(filled) == ["c", "a"]


def test_an_ended_job_leads_to_its_results_and_asks_no_more(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    """A job that was done still said that it was asking, and its page led nowhere."""
    job = queue(filled, people["dana"].account_id, "a run")
    dana = running.sign_in("dana")
    link = 'href="/results/suites/november/index.html"'
    assert link not in dana.get(f"/jobs/{job.job_id}").text  # there are no results yet
    filled.add([case(0)])
    with filled.site.store() as store:
        store.jobs.begin(job.job_id, 1_800_000_001)
        store.jobs.report(job.job_id, JobProgress("PubMedQA", "asking", 9, 0, 9, 2.0, "", 1.0))
    running_page = dana.get(f"/jobs/{job.job_id}").text
    assert "asking PubMedQA" in running_page
    assert link in running_page
    with filled.site.store() as store:
        store.jobs.end(job.job_id, 0, 1_800_000_002, "")
    ended_page = dana.get(f"/jobs/{job.job_id}").text
    assert "asking" not in ended_page
    assert "last PubMedQA" in ended_page
    assert link in ended_page


def test_what_a_job_printed_is_shown_without_control_characters(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "t")
    lines = [f"line {number}" for number in range(3_000)]
    write_log(filled, job, "\n".join(["\x1b[31m<script>alert(1)</script>\u202e", *lines]) + "\n")
    dana = running.sign_in("dana")
    page = dana.get(f"/jobs/{job.job_id}").text
    assert "line 2999" in page
    assert "line 10\n" not in page
    assert "Everything that it printed" in page
    whole = dana.get(f"/jobs/{job.job_id}/log").text
    assert "line 10\n" in whole
    assert "&lt;script&gt;alert(1)" in whole
    for character in ("\x1b", "\u202e", "<script>alert"):
        assert character not in whole


@pytest.mark.parametrize("name", ["vera", "dan", "stella"])
def test_nobody_else_reads_the_command_or_the_log(
    filled: FilledSite, running: RunningService, people: dict[str, Account], name: str
):
    job = queue(filled, people["dana"].account_id, "t")
    write_log(filled, job, "a printed line\n")
    browser = running.sign_in(name)
    page = browser.get(f"/jobs/{job.job_id}").text
    for words in ("--suite", "a printed line", "/retry", "/log", "/cancel"):
        assert words not in page
    assert browser.get(f"/jobs/{job.job_id}/log").status_code == 403


def test_an_ended_job_is_run_again_in_the_name_of_who_asks(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "nightly")
    dana = running.sign_in("dana")
    early = dana.submit(f"/jobs/{job.job_id}/retry")
    assert early.status_code == 400
    assert "has not ended" in early.text
    end(filled, job, 9, "some instances have no answer")
    assert "Run it again" in dana.get(f"/jobs/{job.job_id}").text
    sent = dana.submit(f"/jobs/{job.job_id}/retry")
    assert sent.status_code == 303, sent.text
    with filled.site.store() as store:
        (again,) = store.jobs.list_open()
        events = [event.event for event in store.audit.read_events()]
    assert sent.headers["location"] == f"/jobs/{again.job_id}"
    assert (again.title, again.arguments, again.account) == ("nightly", RUN, job.account)
    assert again.servers  # it still waits for its turn at the server
    assert events[-1] == "job queued"


def test_an_administrator_stops_jobs_but_starts_none(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "t")
    end(filled, job)
    ada = running.sign_in("ada")
    assert "Run it again" not in ada.get(f"/jobs/{job.job_id}").text
    for path, fields in (
        (f"/jobs/{job.job_id}/retry", {}),
        (f"/jobs/{job.job_id}/repeat", {"cron": "0 3 * * *"}),
    ):
        refused = ada.submit(path, **fields)
        assert refused.status_code == 400
        assert "Your account may not queue jobs" in refused.text
    assert list_order(filled) == []


def test_a_job_of_the_command_line_that_names_a_file_is_not_repeated_from_a_page(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    """Not even by somebody who may do both: people of the pages name no file of the service's machine."""
    with filled.site.store() as store:
        change_roles(store, people["ada"], {Role.ADMINISTRATOR, Role.DATA_SCIENTIST})
    job = queue(filled, "command line", "t", ("run", "--suite", "s", "--conf-paths", "/etc/passwd"))
    end(filled, job)
    refused = running.sign_in("ada").submit(f"/jobs/{job.job_id}/retry")
    assert refused.status_code == 400
    assert list_order(filled) == []


def test_programs_see_the_same_and_how_much_is_unscored(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "t")
    with filled.site.store() as store:
        store.jobs.begin(job.job_id, 1_800_000_001)
        progress = JobProgress("PubMedQA", "asking", 3, 1, 9, 2.0, "8 s left", 1.0, unscored=2)
        store.jobs.report(job.job_id, progress)
    vera = running.sign_in("vera")
    (line,) = json.loads(vera.get("/api/v1/jobs").text)
    assert line["progress"]["unscored"] == 2
    page = vera.get(f"/jobs/{job.job_id}").text
    assert "3 of 9" in page
    assert "1 without an answer" in page
    assert "2 unscored so far" in page
    assert "8 s left" in page


def test_a_failed_job_says_why_although_it_had_progress(
    filled: FilledSite, running: RunningService, people: dict[str, Account]
):
    job = queue(filled, people["dana"].account_id, "t")
    with filled.site.store() as store:
        store.jobs.begin(job.job_id, 1_800_000_001)
        store.jobs.report(job.job_id, JobProgress("PubMedQA", "asking", 3, 1, 9, 2.0, "", 1.0))
        store.jobs.end(job.job_id, 4, 1_800_000_002, "the inference server failed")
    vera = running.sign_in("vera")
    for path in ("/jobs", f"/jobs/{job.job_id}"):
        page = vera.get(path).text
        assert "the inference server failed" in page
    assert "3 of 9" in page
