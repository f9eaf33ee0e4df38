"""The workers' processes, as the dispatcher sees them: those it started itself, and those of an earlier one."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from agent.errors import StoreError
from agent.jobs.job_files import JobFiles, read_holder, take_lock
from agent.jobs.worker import STOP_GRACE_S
from agent.monitoring.log import list_child_options
from agent.site.directory import Site

_POLL_S = 0.05
_STANDARD_ERROR = 2


class WorkerProcesses:
    """The workers of a site.

    Args:
        site: the site.
        clock: returns seconds that only grow.
    """

    def __init__(self, site: Site, clock: Callable[[], float] = time.monotonic) -> None:
        self._directory = site.directory.absolute()
        self._files = JobFiles(site.jobs)
        self._clock = clock
        self._own: dict[str, subprocess.Popen[bytes]] = {}
        self._asked_at: dict[str, float] = {}  # when a worker was asked to stop

    def start(self, job_id: str) -> None:
        """Start a worker. Raises StoreError if its log cannot be written or no process can be started."""
        log = self._files.open_log(job_id)
        # The job's own log has what the command prints; its events go where those of this process go.
        errors = os.dup(_STANDARD_ERROR)
        command = [sys.executable, "-P", "-m", "agent", "--site", str(self._directory)]
        command += list_child_options(errors)
        try:
            self._own[job_id] = subprocess.Popen(
                [*command, "jobs", "work", job_id, "--lifeline"],
                stdin=subprocess.PIPE,  # its lifeline: see worker.py
                stdout=log,
                stderr=log,
                # Ctrl-C in the terminal of the service stops the service, which then stops its workers.
                start_new_session=True,
                env={**os.environ, "PYTHONUNBUFFERED": "1"},
                pass_fds=[errors],
            )
        except OSError as error:
            raise StoreError(
                f"the worker of job {job_id} cannot be started ({error.strerror})",
                "Make room for one more process on this machine; the job stays queued.",
            ) from None
        finally:
            os.close(errors)
            os.close(log)

    def list_own(self) -> list[str]:
        """Return the ids of the jobs whose worker was started here and has not been reaped."""
        return list(self._own)

    def reap(self) -> dict[str, int]:
        """Return the exit statuses of own workers that have ended, by job; negative for a signal."""
        ended = {}
        for job_id, process in list(self._own.items()):
            status = process.poll()
            if status is None:
                continue
            ended[job_id] = status
            if process.stdin is not None:
                process.stdin.close()
            del self._own[job_id]
            self.forget(job_id)
        return ended

    @contextmanager
    def hold_if_gone(self, job_id: str) -> Iterator[bool]:
        """Return a context with whether a job that has begun lacks a worker; no new one can begin within."""
        if job_id in self._own:
            yield False
            return
        descriptor = take_lock(self._files.lock(job_id))
        try:
            yield descriptor is not None
        finally:
            if descriptor is not None:
                os.close(descriptor)

    def ask_to_stop(self, job_id: str) -> None:
        """Ask a worker to stop; end it by force if it was asked long ago."""
        now = self._clock()
        if job_id not in self._asked_at:
            self._asked_at[job_id] = now
            self._send(job_id, signal.SIGTERM)
        elif now - self._asked_at[job_id] > STOP_GRACE_S:
            self._send(job_id, signal.SIGKILL)

    def forget(self, job_id: str) -> None:
        """Forget that a worker was asked to stop, since it is gone."""
        self._asked_at.pop(job_id, None)

    def stop_all(self) -> None:
        """Stop the own workers, and wait until they have ended."""
        for job_id in list(self._own):
            self.ask_to_stop(job_id)
        while self._own:
            self.reap()
            for job_id in list(self._own):
                self.ask_to_stop(job_id)
            time.sleep(_POLL_S)

    def _send(self, job_id: str, number: signal.Signals) -> None:
        own = self._own.get(job_id)
        with suppress(ProcessLookupError, PermissionError):
            if own is not None:
                own.send_signal(number)
            elif (process := read_holder(self._files.lock(job_id))) is not None:
                os.kill(process, number)


def probe_lock(path: Path) -> bool:
    """Return whether another process holds the lock of a file."""
    if not path.exists():
        return False
    descriptor = take_lock(path)
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is None
