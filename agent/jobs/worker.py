"""Run one job in this process: its command line, its progress and its end.

The dispatcher starts `intramural jobs work ID` for each job, with a pipe as standard input that it never writes to.

**Why workers end with the service.** The pipe closes however the service ends, `kill -9` included, and the worker then
stops as it does at Ctrl-C: answers that have come are stored, and the job is queued again. Workers that outlived the
service would keep asking servers and holding processors although somebody stopped it, and after an upgrade they would
run old code on the new store. The system's own signal for the death of a parent (PR_SET_PDEATHSIG) comes when the
starting *thread* ends, and is only there on Linux. A worker that does not end in time kills itself; until it is gone it
holds its lock, and the next dispatcher waits for it.
"""

import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress

from agent.errors import AgentError, BusyError, ConfigError
from agent.io.progress import observe_progress
from agent.jobs.job_files import JobFiles, take_lock, write_holder
from agent.jobs.job_reporter import JobReporter
from agent.jobs.outcomes import describe_exit
from agent.site.directory import Site
from agent.store import COMMAND_LINE, Job

STOP_GRACE_S = 60.0  # for a clean stop, which may have to end an inference server
_END_PATIENCE_S = 600.0  # for a store that cannot be written now, as on a full disk
_END_RETRY_S = 2.0
_INTERRUPTED = 130
_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})

RunCommandLine = Callable[[Sequence[str]], int]


class Worker:
    """The worker of one job.

    Args:
        site: the site.
        job_id: the job's id.
        run_command_line: runs a command line of `intramural`, and returns its exit code.
    """

    def __init__(self, site: Site, job_id: str, run_command_line: RunCommandLine) -> None:
        self._site = Site(site.directory.absolute())  # the job has a folder of its own
        self._job_id = job_id
        self._run_command_line = run_command_line
        self._files = JobFiles(self._site.jobs)
        self._is_stopped = False

    def work(self, *, lifeline: bool) -> None:
        """Run the job to its end, or until SIGTERM.

        Args:
            lifeline: whether to stop when standard input ends.

        Raises:
            BusyError: another worker has the job.
            ConfigError: the job is not queued.
        """
        # A signal counts only while the command runs: before, nothing is lost by waiting for the command to begin, and
        # afterwards the job's end has to be written.
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        signal.signal(signal.SIGTERM, self._note_stop)
        self._files.create_folder()
        descriptor = take_lock(self._files.lock(self._job_id))
        if descriptor is None:
            raise BusyError(f"another process works on job {self._job_id}")
        with os.fdopen(descriptor):
            write_holder(descriptor)
            if lifeline:
                _watch_lifeline()
            job = self._begin()
            exit_code = self._run(job)
            self._write_end(exit_code)

    def _begin(self) -> Job:
        with self._site.store() as store:
            has_begun = store.jobs.begin(self._job_id, time.time())
            job = store.jobs.find(self._job_id)
        if job is None or not has_begun:
            raise ConfigError(f"job {self._job_id} is not queued", "See `intramural jobs list`.")
        return job

    def _run(self, job: Job) -> int:
        """Run the job's command line with its progress in the job's row; return its exit code."""
        print(f"--- attempt {job.attempts}, {time.strftime('%Y-%m-%d %H:%M:%S')} ---", flush=True)
        try:
            os.chdir(job.command.folder)
        except OSError as error:
            print(f"error: the job's folder cannot be used ({error.strerror})", flush=True)
            return ConfigError.exit_code
        reporter = JobReporter(self._site, job.job_id)
        reporter.start()
        try:
            with observe_progress(reporter.observe):
                return self._run_until_stopped(job)
        finally:
            reporter.stop()

    def _run_until_stopped(self, job: Job) -> int:
        arguments = [*_name_site(self._site, job), *job.arguments]
        try:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
            return self._run_command_line(arguments)
        except KeyboardInterrupt:  # it came before the command line could catch it
            return _INTERRUPTED
        finally:
            signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
            sys.stdout.flush()

    def _note_stop(self, number: int, frame: object) -> None:
        """Stop the command as Ctrl-C does.

        A second signal, as from a service manager that also signals the dispatcher, must not interrupt the stopping.
        """
        del number, frame
        if not self._is_stopped:
            self._is_stopped = True
            signal.raise_signal(signal.SIGINT)

    def _write_end(self, exit_code: int) -> None:
        """Write how the job ended, as soon as the store can be written.

        If it cannot, the dispatcher finds a job without a worker, and queues it again.
        """
        until = time.monotonic() + _END_PATIENCE_S
        while True:
            try:
                self._try_to_write_end(exit_code)
                return
            except (AgentError, sqlite3.Error):
                if time.monotonic() > until or signal.sigpending() & _SIGNALS:
                    raise
            time.sleep(_END_RETRY_S)

    def _try_to_write_end(self, exit_code: int) -> None:
        with self._site.store() as store:
            if exit_code == _INTERRUPTED or (self._is_stopped and exit_code != 0):
                store.jobs.stop(self._job_id, time.time())
            else:
                store.jobs.end(self._job_id, exit_code, time.time(), describe_exit(exit_code))


def _name_site(site: Site, job: Job) -> list[str]:
    """Return the options in front of a job's command line. A job of an account sees what that account sees."""
    options = ["--site", str(site.directory)]
    return options if job.account == COMMAND_LINE else [*options, "--for-account", job.account]


def _watch_lifeline() -> None:
    """Stop this process when standard input ends, and leave the command an empty one."""
    lifeline = os.dup(0)
    with closing(open(os.devnull, "rb")) as nothing:  # noqa: PTH123 (a device)
        os.dup2(nothing.fileno(), 0)
    threading.Thread(target=_wait_for_end, args=(lifeline,), name="lifeline", daemon=True).start()


def _wait_for_end(lifeline: int) -> None:
    with suppress(OSError):
        while os.read(lifeline, 1):
            pass
    # To the main thread, which may be waiting in a system call.
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(STOP_GRACE_S)
    os.kill(os.getpid(), signal.SIGKILL)
