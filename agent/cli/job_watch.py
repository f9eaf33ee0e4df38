"""Show a job's progress as `run` shows its own."""

import time
from dataclasses import replace
from typing import TYPE_CHECKING, TextIO

from agent.cli.output import with_site
from agent.cli.queueable import NOT_DISPATCHED
from agent.io.plain_text import printable
from agent.io.progress import LINE_EVERY_S, ProgressReport
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.store import Job, JobProgress, Store


def read_report(progress: "JobProgress", now: float) -> ProgressReport:
    """Return a stored progress as it is now: the time goes on while nothing is finished."""
    return ProgressReport(
        label=progress.label,
        phase=progress.phase,
        done=progress.done,
        failed=progress.failed,
        total=progress.total,
        seconds=progress.seconds + max(0.0, now - progress.updated_at),
        left=progress.left,
        unscored=progress.unscored,
        stored=progress.stored,
    )


class JobWatch:
    """The display of one job on a terminal, or as plain lines elsewhere.

    Attributes:
        exit_code: the job's exit code, once it has ended; 1 if it has none.
    """

    def __init__(self, site: Site, stream: TextIO) -> None:
        self.exit_code = 1
        self._site = site
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._line = ""  # the unfinished line on the terminal
        self._label = ""
        self._last_note = ""
        self._last_line_at = 0.0

    def show(self, store: "Store", job_id: str) -> bool:
        """Show the job as it is now; return whether it has ended."""
        job = store.jobs.find(job_id)
        if job is None:
            self._note(f"job {job_id} was deleted")
            return True
        if not job.state.is_open:
            self._show_end(job)
            return True
        if job.progress is None:
            self._note(self._describe_start(store, job))
        else:
            self._show_progress(job.progress, time.time())
        return False

    def _describe_start(self, store: "Store", job: "Job") -> str:
        from agent.jobs.dispatcher import is_dispatched
        from agent.jobs.turns import TurnLimits, explain_waiting
        from agent.store import JobState

        if job.state is not JobState.QUEUED:
            return f"{job.state.value}: {job.title}"
        if not is_dispatched(self._site):
            return f"queued. {with_site(NOT_DISPATCHED)}"
        settings = self._site.settings
        limits = TurnLimits(settings.jobs_at_once, settings.runs_per_server)
        reason = explain_waiting(job, store.jobs.list_open(), limits)
        return f"queued: {reason or job.title}"

    def _show_progress(self, progress: "JobProgress", now: float) -> None:
        report = read_report(progress, now)
        if progress.label != self._label:
            self._finish_line()
            self._label = progress.label
            self._last_line_at = 0.0
        if self._is_terminal:
            self._line = printable(report.draw_bar())
            self._stream.write(f"\r\x1b[K{self._line}")
        elif now - self._last_line_at >= LINE_EVERY_S:
            self._last_line_at = now
            self._stream.write(f"{printable(report.write_line())}\n")
        self._stream.flush()

    def _show_end(self, job: "Job") -> None:
        if job.progress is not None:
            report = replace(read_report(job.progress, job.progress.updated_at), left="")
            self._line = printable(report.draw_bar() if self._is_terminal else report.write_line())
            self._stream.write(f"\r\x1b[K{self._line}" if self._is_terminal else self._line)
            self._finish_line()
        problem = f": {job.problem}" if job.problem else ""
        self._note(f"job {job.job_id} is {job.state.value}{problem}")
        if job.exit_code is not None:
            self.exit_code = job.exit_code

    def _note(self, note: str) -> None:
        """Write a note, once."""
        if note != self._last_note:
            self._finish_line()
            self._stream.write(f"{printable(note)}\n")
            self._stream.flush()
        self._last_note = note

    def _finish_line(self) -> None:
        if self._line:
            self._stream.write("\n")
            self._line = ""
