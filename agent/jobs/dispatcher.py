"""Start a worker for each job whose turn has come, notice workers that are gone, and queue the jobs of schedules.

The dispatcher keeps nothing that would be missed: the queue is in the store, and whether a worker lives is known from
its lock. It may thus be killed at any time, and the next one goes on. Each step is safe to repeat.
"""

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Self

from agent.alerts.courier import AlertCourier
from agent.errors import AgentError, BusyError
from agent.jobs.cron import find_last_time
from agent.jobs.job_files import JobFiles, take_lock
from agent.jobs.outcomes import describe_loss
from agent.jobs.turns import TurnLimits, choose_next
from agent.jobs.worker_processes import WorkerProcesses, probe_lock
from agent.monitoring.events import JobEnded, JobQueued, JobStarted, QueueResumed, QueueStopped
from agent.monitoring.log import log_event
from agent.site.directory import Site
from agent.store import COMMAND_LINE, Job, JobState, Store

MAX_ATTEMPTS = 3
_TICK_S = 0.5
_RETRY_S = 5.0  # after an error of the store
_SCHEDULES_EVERY_S = 5.0
_TIDY_EVERY_S = 3600.0
_BACKOFF_S = (5.0, 30.0, 120.0)  # after a worker that ended before it began its job
_LOCK_TRIES = 20  # a look at the lock holds it for a moment
_LOCK_PAUSE_S = 0.05
_DAY_S = 86_400.0

Note = Callable[[str], None]


def _ignore(note: str) -> None:
    """Tell nobody."""
    del note


class Dispatcher:
    """Works off a site's queue, in a thread of its own; another one sends alerts.

        with Dispatcher(site) as dispatcher: ...

    Attributes:
        problem: why the queue stands still at the moment, in words for people; empty if it does not.

    Args:
        site: the site.
        note: is told of jobs that start and end, in the dispatcher's thread.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        site: Site,
        *,
        note: Note = _ignore,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.problem = ""
        self._site = site
        self._note = note
        self._clock = clock
        self._files = JobFiles(site.jobs)
        self._workers = WorkerProcesses(site)
        self._limits = TurnLimits(1, 1)
        self._lock: int | None = None
        self._thread: threading.Thread | None = None
        self._courier: AlertCourier | None = None
        self._is_stopping = threading.Event()
        self._woken = threading.Event()
        self._failed_starts: dict[str, int] = {}
        self._not_before: dict[str, float] = {}  # monotonic time of the next try to start a job
        self._seen: dict[str, Job] = {}  # jobs that are running
        self._next_schedules = 0.0
        self._next_tidying = 0.0

    def start(self) -> None:
        """Start to work off the queue.

        Raises:
            BusyError: another dispatcher works off this site's queue.
            ConfigError, StoreError: the settings are wrong, or the site's folder cannot be written.
        """
        settings = self._site.settings
        self._limits = TurnLimits(settings.jobs_at_once, settings.runs_per_server)
        self._files.create_folder()
        self._lock = _take_dispatcher_lock(self._files)
        self._thread = threading.Thread(target=self._dispatch, name="dispatcher", daemon=True)
        self._thread.start()
        self._courier = AlertCourier(self._site, clock=self._clock)
        self._courier.start()

    def stop(self) -> None:
        """Stop the running jobs, which stay in the queue, and end. It may take a minute."""
        self._is_stopping.set()
        self._woken.set()
        if self._thread is not None:
            self._thread.join()
        if self._courier is not None:
            self._courier.stop()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def wake(self) -> None:
        """Look at the queue now; otherwise the dispatcher looks twice a second."""
        self._woken.set()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def _dispatch(self) -> None:
        """Work off the queue until `stop`; an error of the store only delays it."""
        while not self._is_stopping.is_set():
            try:
                with self._site.store() as store:
                    self._dispatch_from(store)
            except AgentError as error:
                self._note_problem(str(error), error)
            except sqlite3.Error as error:
                name = getattr(error, "sqlite_errorname", type(error).__name__)
                self._note_problem(f"the store cannot be read ({name})", error)
            except Exception as error:  # noqa: BLE001 (a message may quote a record; the queue must go on)
                self._note_problem(f"unexpected error: {type(error).__name__}", error)
            self._is_stopping.wait(_RETRY_S if self.problem else 0.0)
        self._workers.stop_all()
        with suppress(AgentError, sqlite3.Error), self._site.store() as store:
            self._note_ended(store, store.jobs.list_open())

    def _dispatch_from(self, store: Store) -> None:
        while not self._is_stopping.is_set():
            self.take_step(store)
            if self.problem:
                self._note(f"the queue goes on ({self.problem})")
                log_event(QueueResumed())
                self.problem = ""
            self._woken.wait(_TICK_S)
            self._woken.clear()

    def take_step(self, store: Store) -> None:
        """Do what is due now."""
        ended = self._workers.reap()
        self._queue_due(store)
        jobs = store.jobs.list_open()
        self._note_ended(store, jobs)
        for job in jobs:
            if job.state is not JobState.QUEUED:
                self._recover_if_gone(store, job, ended.get(job.job_id))
            elif ended.get(job.job_id, 0) != 0:
                self._delay_start(store, job)
            if job.state is JobState.CANCELLING:
                self._workers.ask_to_stop(job.job_id)
        self._start_next(jobs)
        self._tidy(store)

    def _note_problem(self, problem: str, error: Exception) -> None:
        if problem != self.problem:
            self._note(f"the queue stands still: {problem}")
            log_event(QueueStopped(type(error).__name__))
        self.problem = problem

    def _note_ended(self, store: Store, jobs: list[Job]) -> None:
        """Tell of jobs that started or ended since the last step."""
        running = {job.job_id: job for job in jobs if job.state is not JobState.QUEUED}
        for job_id, job in running.items():
            if job_id not in self._seen:
                self._note(f"{job_id} runs: {job.title}")
                log_event(JobStarted(job_id, job.attempts))
        for job_id in self._seen.keys() - running.keys():
            ended = store.jobs.find(job_id)
            if ended is not None:
                problem = f": {ended.problem}" if ended.problem else ""
                self._note(f"{job_id} is {ended.state.value}{problem}")
                log_event(_describe_end(ended, self._seen[job_id]))
        self._seen = running

    def _recover_if_gone(self, store: Store, job: Job, status: int | None) -> None:
        with self._workers.hold_if_gone(job.job_id) as is_gone:
            if not is_gone:
                return
            problem = describe_loss(job.attempts, status)
            store.jobs.recover(
                job.job_id, self._clock(), max_attempts=MAX_ATTEMPTS, problem=problem
            )
        self._workers.forget(job.job_id)

    def _delay_start(self, store: Store, job: Job) -> None:
        """Wait before the next try to start a job whose worker ended before it began; at last, give it up."""
        failures = self._failed_starts.get(job.job_id, 0)
        if failures >= len(_BACKOFF_S):
            store.jobs.fail(
                job.job_id,
                self._clock(),
                "its process ended before it could begin; see the log",
            )
            return
        self._failed_starts[job.job_id] = failures + 1
        self._not_before[job.job_id] = time.monotonic() + _BACKOFF_S[failures]

    def _start_next(self, jobs: list[Job]) -> None:
        """Start workers. A job that has changed since it was read is not begun by its worker."""
        own = self._workers.list_own()
        now = time.monotonic()
        for job in choose_next(jobs, self._limits, own):
            if self._not_before.get(job.job_id, 0.0) <= now:
                self._workers.start(job.job_id)

    def _queue_due(self, store: Store) -> None:
        """Queue the jobs of schedules whose time has come.

        Times that passed while no dispatcher ran, or while the schedule's account was locked, lead to one job, not to
        one for each. A clock that is set back leads to none: the times that were dealt with are stored.
        """
        if time.monotonic() < self._next_schedules:
            return
        self._next_schedules = time.monotonic() + _SCHEDULES_EVERY_S
        now = self._clock()
        accounts = store.accounts.read_all()
        locked = {account.account_id for account in accounts if account.locked}
        for schedule in store.jobs.list_schedules():
            if schedule.command.account in locked:
                continue
            due = find_last_time(schedule.cron, now)
            if due > schedule.considered_until:
                job = store.jobs.queue_due(schedule, due, now)
                if job is not None:
                    log_event(_describe_scheduled(job))

    def _tidy(self, store: Store) -> None:
        """Delete jobs that ended long ago, with their logs."""
        if time.monotonic() < self._next_tidying:
            return
        self._next_tidying = time.monotonic() + _TIDY_EVERY_S
        before = self._clock() - self._site.settings.keep_jobs_days * _DAY_S
        for job_id in store.jobs.delete_ended(before):
            self._files.delete(job_id)


def _describe_end(job: Job, seen: Job) -> JobEnded:
    """Return the event of a job that stopped running.

    Args:
        job: the job as it is now.
        seen: the job as it was while it ran.
    """
    began, ended = seen.started_at, job.ended_at
    seconds = None if began is None or ended is None else max(0.0, ended - began)
    return JobEnded(job.job_id, job.state.value, job.exit_code, seconds)


def _describe_scheduled(job: Job) -> JobQueued:
    account = None if job.account == COMMAND_LINE else job.account
    return JobQueued(job.job_id, by="schedule", account=account, private=job.command.private)


def is_dispatched(site: Site) -> bool:
    """Return whether a dispatcher works off the site's queue."""
    return probe_lock(JobFiles(site.jobs).dispatcher_lock)


def _take_dispatcher_lock(files: JobFiles) -> int:
    for _ in range(_LOCK_TRIES):
        descriptor = take_lock(files.dispatcher_lock)
        if descriptor is not None:
            return descriptor
        time.sleep(_LOCK_PAUSE_S)
    raise BusyError(
        "another service or `intramural jobs dispatch` works off this site's queue",
        "Stop it first; one is enough.",
    )
