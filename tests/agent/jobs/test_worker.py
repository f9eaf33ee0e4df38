"""A job in its process: its phases, its log, its end on a full disk, and no text of a record anywhere."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.cli.main import intramural
from agent.jobs.dispatcher import Dispatcher
from agent.jobs.job_files import JobFiles, take_lock
from agent.jobs.queue import queue_job
from agent.site.directory import Site, create_site
from agent.store import Job, JobProgress, JobState
from tests.agent.fault_server import FaultServer, Status, containing
from tests.agent.jobs.queued_site import MODELS, open_queue, wait_for
from tests.agent.judging.juries import (
    deploy,
    judge_server,
    open_benchmark,
    says,
    verdict,
    write_jury,
)
from tests.end_to_end.conftest import ROOT, UserSite, write_benchmark

assert intramural.name  # importing it makes the commands known
CANARY = "Zebulon Quackenbush-7731"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "Test")


def find(site: Site, job_id: str) -> Job:
    with site.store() as store:
        job = store.jobs.find(job_id)
    assert job is not None
    return job


def test_a_run_and_its_judging_report_their_phases_and_end(site: Site):
    open_benchmark(site, instances=2)
    reports: dict[str, JobProgress] = {}
    with (
        FaultServer(models=["judge"], answer="Words", latency_s=0.3) as model,
        judge_server(says(verdict(3, 3)), latency_s=1.3) as judge,
    ):
        deploy(site, {"a": judge.url, "b": model.url})
        write_jury(site.judges, "a")
        entry = "open:model=test/b,model_deployment=local/b"
        run = queue_job(site, ("run", "-r", entry, "--suite", "s", "-n", "1", "--no-judging"))
        judging = queue_job(site, ("judge", "--suite", "s", "-n", "1"))
        assert (len(run.servers), len(judging.servers)) == (1, 1)

        def have_ended() -> bool:
            for job in (find(site, run.job_id), find(site, judging.job_id)):
                if job.progress is not None:
                    reports.setdefault(job.progress.phase, job.progress)
            return not find(site, judging.job_id).state.is_open

        with Dispatcher(site):
            wait_for(have_ended, "the judging")
    asked, judged = find(site, run.job_id), find(site, judging.job_id)
    assert (asked.state, judged.state) == (JobState.DONE, JobState.DONE), judged.problem
    assert asked.ended_at is not None
    assert judged.started_at is not None
    assert asked.ended_at <= judged.started_at  # the suite is judged when it is complete
    assert set(reports) == {"asking", "judging"}
    assert (judged.progress.label, judged.progress.done) == ("jury: test/b", 2)


def test_no_text_of_a_record_stands_in_rows_logs_or_names_of_files(
    make_site: Callable[..., UserSite], tmp_path: Path
):
    """Not in a prompt, an answer, an error of the server, or the name of a file that the command line gives."""
    user_site = make_site(instances=1)
    rows = [
        {"note": f"Note {i} of {CANARY}, an invented person.", "question": CANARY, "correct_answer": CANARY}
        for i in range(12)
    ]  # fmt: skip
    folder = tmp_path / CANARY.split(maxsplit=1)[0]
    site = UserSite(user_site.directory, write_benchmark(folder, rows))
    echo = Status(500, body=b'{"error": {"message": "' + CANARY.encode() + b'"}}')
    with (
        FaultServer(
            models=MODELS, answer=f"{CANARY}?", fault=containing("Note 7 ", echo)
        ) as server,
        open_queue(site) as queue,
    ):
        with (site.directory / "site.yaml").open("a") as settings:
            settings.write("max_attempts: 1\n")
        job = queue.queue(server.url, MODELS[0])
        wrong = queue.read_id(
            site.run_words(server.url, "--queue", "--no-judging", "--judges", str(folder / "none"))
        )
        queue.dispatch()
        queue.wait_until_ended(job, wrong)
        assert queue.show(job)["exit_code"] == 9
    files = sorted(path for path in site.directory.rglob("*") if path.is_file())
    names = [path.name for path in (site.directory / "jobs").iterdir()]
    assert f"{job}.log" in names
    words = [word.encode() for word in CANARY.split()]
    for path in files:
        if path.parent.name in ("jobs", "store"):
            content = path.read_bytes()
            assert [word for word in words if word in content] == [], path.name
    assert [name for name in names if CANARY.split(maxsplit=1)[0] in name] == []


def test_a_disk_that_is_full_when_a_job_ends_delays_its_end(site: Site):
    """In a process of its own, which may write no more until half a second after the command has ended."""
    job = queue_job(site, ("rescore",))
    script = (
        "import resource, signal, threading, sys\n"
        "from pathlib import Path\n"
        "from agent.jobs import worker\n"
        "from agent.site.directory import Site\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "worker._END_RETRY_S = 0.1\n"
        "infinite = resource.RLIM_INFINITY\n"
        "def fill_disk(arguments):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (1, infinite))\n"
        "    make_room = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (infinite, infinite))\n"
        "    threading.Timer(0.5, make_room).start()\n"
        "    return 0\n"
        f"worker.Worker(Site(Path({str(site.directory)!r})), {job.job_id!r}, fill_disk).work(lifeline=False)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert find(site, job.job_id).state is JobState.DONE


def test_a_folder_that_is_gone_fails_the_job_and_says_so(site: Site, tmp_path: Path):
    folder = tmp_path / "gone"
    folder.mkdir()
    job = queue_job(site, ("rescore",), folder=folder)
    folder.rmdir()
    with Dispatcher(site):
        wait_for(lambda: not find(site, job.job_id).state.is_open, "the end")
    assert find(site, job.job_id).exit_code == 2
    assert "folder cannot be used" in (site.jobs / f"{job.job_id}.log").read_text()


def test_a_job_has_only_one_worker(site: Site):
    job = queue_job(site, ("rescore",))
    JobFiles(site.jobs).create_folder()
    lock = take_lock(JobFiles(site.jobs).lock(job.job_id))
    assert lock is not None
    script = (
        "import sys; from pathlib import Path; from agent.jobs.worker import Worker\n"
        "from agent.site.directory import Site; from agent.errors import BusyError\n"
        f"worker = Worker(Site(Path({str(site.directory)!r})), {job.job_id!r}, lambda words: 0)\n"
        "try:\n    worker.work(lifeline=False)\n"
        "except BusyError as error: print(error)\n"
    )
    said = subprocess.check_output([sys.executable, "-c", script], text=True, cwd=ROOT)
    assert said == f"another process works on job {job.job_id}\n"
    assert find(site, job.job_id).state is JobState.QUEUED
