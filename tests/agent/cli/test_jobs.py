"""The commands of the queue, on a site without a dispatcher."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from agent.cli.main import intramural
from agent.errors import ConfigError
from agent.jobs.queue import queue_job
from agent.site.directory import Site, create_site
from agent.store import JobProgress


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def call(site: Site, *words: str, code: int = 0) -> Result:
    result = CliRunner().invoke(intramural, ["--site", str(site.directory), *words])
    assert result.exit_code == code, (result.output, result.exception)
    return result


def refuse(site: Site, *words: str) -> str:
    with pytest.raises(ConfigError) as error:
        CliRunner().invoke(
            intramural, ["--site", str(site.directory), *words], catch_exceptions=False
        )
    return str(error.value)


def test_a_queued_command_line_is_shown_with_how_to_watch_it(site: Site):
    said = call(site, "rescore", "--suite", "s", "--queue")
    (job,) = json.loads(call(site, "jobs", "list", "--format", "json").stdout)
    assert said.stdout == (
        f"queued as job {job['id']}: rescore: suite s\n"
        f"Watch it with `intramural --site {site.directory} jobs watch {job['id']}`.\n"
    )
    assert "Nothing works off the queue" in said.stderr
    assert "jobs dispatch`." in said.stderr
    with site.store() as store:
        (stored,) = store.jobs.list_open()
    assert stored.arguments == ("rescore", "--suite", "s")
    assert stored.command.folder == str(Path.cwd())


def test_a_wrong_run_is_not_queued(site: Site):
    assert "no run entries given" in refuse(site, "run", "--queue")
    assert "queue is empty" in call(site, "jobs", "list").stdout


def test_the_list_says_why_a_job_waits_and_how_far_another_is(site: Site):
    entry = ("run", "-r", "pubmed_qa:model=m", "--server", "http://127.0.0.1:1/v1", "--queue")
    call(site, *entry)
    call(site, *entry, "--suite", "t")
    with site.store() as store:
        first, second = store.jobs.list_open()
        store.jobs.begin(first.job_id, 1.0)
        progress = JobProgress("PubMedQA: m", "asking", 3, 1, 10, 2.0, "5 to 7 s left", 4e9)
        store.jobs.report(first.job_id, progress)
    rows = json.loads(call(site, "jobs", "list", "--format", "json").stdout)
    assert [row["state"] for row in rows] == ["running", "queued"]
    assert rows[0]["note"] == "PubMedQA: m  3/10 (1 without an answer)  2.0 s, 5 to 7 s left"
    assert rows[1]["note"] == f"waits for job {first.job_id}, which asks the same inference server"
    table = call(site, "jobs", "list").stdout
    assert first.job_id in table
    assert second.job_id in table
    assert "3/10" in table


def test_one_job_is_shown_with_its_command(site: Site):
    job = queue_job(site, ("rescore", "--suite", "my s"))
    shown = call(site, "jobs", "show", job.job_id[:5]).stdout
    assert "command:   intramural rescore --suite 'my s'\n" in shown
    assert "state:     queued\n" in shown


@pytest.mark.parametrize(
    ("shortened", "message"),
    [
        ("ffff", "no job has the id ffff"),
        ("../../etc/passwd", "no job has the id ../../etc/passwd"),
        ("", "give at least 4 characters of the job's id"),
    ],
)
def test_an_id_that_fits_no_job_or_several_is_refused(site: Site, shortened: str, message: str):
    for _ in range(2):
        queue_job(site, ("rescore",))
    assert message in refuse(site, "jobs", "log", shortened)


def test_a_job_is_moved_and_cancelled(site: Site):
    first, second = (queue_job(site, ("rescore", "--suite", name)) for name in "ab")
    call(site, "jobs", "move", second.job_id, "--before", first.job_id)
    rows = json.loads(call(site, "jobs", "list", "--format", "json").stdout)
    assert [row["id"] for row in rows] == [second.job_id, first.job_id]
    call(site, "jobs", "move", second.job_id, "--last")
    assert call(site, "jobs", "cancel", first.job_id).stdout == f"job {first.job_id} is cancelled\n"
    assert "has ended already" in refuse(site, "jobs", "cancel", first.job_id)
    assert "only queued jobs" in refuse(site, "jobs", "move", first.job_id, "--last")
    call(site, "jobs", "move", second.job_id, code=2)


def test_a_log_is_shown_without_control_characters(site: Site):
    job = queue_job(site, ("rescore",))
    site.jobs.mkdir()
    (site.jobs / f"{job.job_id}.log").write_text("one\nt\x1b[2Jwo\n")
    said = call(site, "jobs", "log", job.job_id).stdout
    assert said.startswith("one\n")
    assert "\x1b" not in said


def test_an_ended_job_is_watched_with_its_exit_code(site: Site):
    job = queue_job(site, ("rescore",))
    with site.store() as store:
        store.jobs.begin(job.job_id, 1.0)
        store.jobs.report(
            job.job_id, JobProgress("own: m", "asking", 10, 0, 10, 2.0, "", 3.0, unscored=2)
        )
        store.jobs.end(job.job_id, 9, 4.0, "some instances have no answer")
    watched = call(site, "jobs", "watch", job.job_id, code=9)
    assert watched.stderr == (
        "own: m  10/10 (2 unscored)  2.0 s\n"
        f"job {job.job_id} is failed: some instances have no answer\n"
    )


def test_schedules_are_added_listed_and_removed(site: Site):
    assert "There is no schedule" in call(site, "jobs", "schedule", "list").stdout
    words = ("jobs", "schedule", "add", "--cron", "0 3 * * *")
    said = call(site, *words, "rescore", "--suite", "s", "--scoring", "both").stdout
    assert "for the first time at" in said
    (row,) = json.loads(call(site, "jobs", "schedule", "list", "--format", "json").stdout)
    assert (row["cron"], row["title"]) == ("0 3 * * *", "rescore: suite s")
    assert row["next"].endswith("03:00")
    assert row["id"] in call(site, "jobs", "schedule", "list").stdout
    assert "cannot be queued" in refuse(site, *words, "purge")
    assert "cron expression" in refuse(site, *words[:-1], "often", "rescore")
    call(site, "jobs", "schedule", "remove", row["id"][:4])
    assert "There is no schedule" in call(site, "jobs", "schedule", "list").stdout


def test_a_worker_refuses_a_job_that_is_not_queued(site: Site):
    import signal

    job = queue_job(site, ("rescore",))
    call(site, "jobs", "cancel", job.job_id)
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        assert "is not queued" in refuse(site, "jobs", "work", job.job_id)
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, before)
        for number, handler in before.items():
            signal.signal(number, handler)
