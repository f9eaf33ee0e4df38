"""Write the progress of a running job into its row."""

import sqlite3
import threading
import time
from contextlib import suppress

from agent.errors import AgentError
from agent.io.progress import ProgressReport
from agent.site.directory import Site
from agent.store import JobProgress

_REPORT_EVERY_S = 1.0


class JobReporter:
    """Writes a job's progress about once a second, in a thread and a connection of its own.

    The run itself must never wait for it, nor may both wait for each other: the run may be in the middle of a
    transaction when it reports.
    """

    def __init__(self, site: Site, job_id: str) -> None:
        self._site = site
        self._job_id = job_id
        self._latest: JobProgress | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._report, name="job reporter", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """Write the last progress, and end the thread."""
        self._ended.set()
        self._thread.join()

    def observe(self, report: ProgressReport) -> None:
        """Note the progress, which is written within a second."""
        self._latest = JobProgress(
            label=report.label,
            phase=report.phase,
            done=report.done,
            failed=report.failed,
            total=report.total,
            seconds=report.seconds,
            left=report.left,
            updated_at=time.time(),
            unscored=report.unscored,
            stored=report.stored,
        )

    def _report(self) -> None:
        written: JobProgress | None = None
        is_last = False
        while not is_last:
            is_last = self._ended.wait(_REPORT_EVERY_S)
            latest = self._latest
            if latest is None or latest is written:
                continue
            # A progress that cannot be written is not worth the run; the next one may be.
            with suppress(AgentError, sqlite3.Error):
                with self._site.store() as store:
                    store.jobs.report(self._job_id, latest)
                written = latest
