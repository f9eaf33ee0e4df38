"""The display of a job's progress has the words and the bar of `run`."""

import io

import pytest

from agent.cli.job_watch import JobWatch
from agent.io.progress import Progress, ProgressReport, observe_progress
from agent.site.directory import Site
from agent.store import JobProgress, QueuedCommand, Store
from tests.agent.store.conftest import path, store

__all__ = ["path", "store"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("stream_kind", [io.StringIO, Terminal])
def test_a_watched_run_ends_with_the_line_that_the_run_itself_shows(
    store: Store, tmp_path, stream_kind: type[io.StringIO], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.io.progress.time.monotonic", lambda: 5.0)
    reports: list[ProgressReport] = []
    own = stream_kind()
    with observe_progress(reports.append):
        progress = Progress(own)
        progress.begin("own: m", 4, phase="asking")
        progress.advance(3, unscored=1)
        progress.fail()
        progress.end()
    last = reports[-1]
    assert (last.phase, last.done, last.failed, last.unscored) == ("asking", 3, 1, 1)
    job = store.jobs.add(QueuedCommand(("run",), "t", "ada"), 1.0)
    store.jobs.begin(job.job_id, 1.0)
    fields = {name: getattr(last, name) for name in ProgressReport.__dataclass_fields__}
    store.jobs.report(job.job_id, JobProgress(**fields, updated_at=2.0))
    store.jobs.end(job.job_id, 0, 3.0)
    watched = stream_kind()
    watch = JobWatch(Site(tmp_path), watched)
    assert watch.show(store, job.job_id)
    assert watch.exit_code == 0
    shown = own.getvalue().rpartition("\r\x1b[K")[2]
    assert "3/4 (1 without an answer, 1 unscored)" in shown
    assert shown in watched.getvalue()
    assert watched.getvalue().endswith(f"job {job.job_id} is done\n")


def test_the_time_goes_on_while_nothing_is_finished(store: Store, tmp_path, monkeypatch):
    job = store.jobs.add(QueuedCommand(("run",), "t", "ada"), 1.0)
    store.jobs.begin(job.job_id, 1.0)
    store.jobs.report(job.job_id, JobProgress("own: m", "asking", 1, 0, 4, 2.0, "", 100.0))
    now = [160.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    watched = Terminal()
    watch = JobWatch(Site(tmp_path), watched)
    assert not watch.show(store, job.job_id)
    assert watched.getvalue().endswith("1/4  62 s")
    now[0] = 50.0  # the clock was set back
    watch.show(store, job.job_id)
    assert watched.getvalue().endswith("1/4  2 s")
