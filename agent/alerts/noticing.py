"""Turn what the site's files and store say into events: ended jobs, statements that wait, a disk that fills up.

Nothing is told to this module; it compares. An event that happened while no service ran, or just before one was
killed, is found by the next one. An event and the note that it was found are written together.
"""

import shutil
import time
from collections.abc import Callable, Collection
from typing import Final

from agent.delivery.outbox import Outbox, State
from agent.errors import AgentError, InferenceError
from agent.monitoring.events import AlertsWait
from agent.monitoring.log import log_event
from agent.site.directory import Site
from agent.store import AlertCode, AlertEvent, Job, JobState, Store

_JOBS_AT_ONCE: Final = 200
_LOOK_EVERY_S: Final = 60.0
_HOUR_S: Final = 3600.0
_LOW_BYTES: Final = 2 * 2**30
_LOW_SHARE: Final = 0.05
_ENOUGH: Final = (
    1.25  # times these limits, so that a disk at the limit is not told of again and again
)
_DISK: Final = "disk"
_DRAFT: Final = "draft "
_APPROVED: Final = "approved "


class Noticer:
    """Finds events of a site.

    Args:
        site: the site.
        codes: the kinds of events to tell.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self, site: Site, codes: Collection[AlertCode], clock: Callable[[], float]
    ) -> None:
        self._site = site
        self._codes = codes
        self._clock = clock
        self._next_look = 0.0

    def take_step(self, store: Store) -> None:
        """Store what has happened since the last step."""
        self.notice_jobs(store)
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK_EVERY_S
            self.notice_disk(store)
            self.notice_outbox(store)

    def notice_jobs(self, store: Store) -> None:
        """Store an event for each job that has ended."""
        ended = store.jobs.list_unnoticed(_JOBS_AT_ONCE)
        if not ended:
            return
        with store.transaction():
            for job in ended:
                if store.jobs.mark_noticed(job.job_id):
                    self._tell_end(store, job)

    def notice_disk(self, store: Store) -> None:
        """Store an event when the disk has become nearly full."""
        usage = shutil.disk_usage(self._site.directory)
        is_told = store.alerts.find_condition(_DISK) is not None
        limit = min(_LOW_BYTES, _LOW_SHARE * usage.total)
        if usage.free < limit and not is_told:
            with store.transaction():
                store.alerts.set_condition(_DISK, self._clock(), told=True)
                self._tell(store, AlertEvent(AlertCode.DISK_LOW, self._clock()))
        elif usage.free > _ENOUGH * limit and is_told:
            store.alerts.clear_conditions([_DISK])

    def notice_outbox(self, store: Store) -> None:
        """Store an event for drafts that are new, and for approved statements that were not sent for an hour."""
        try:
            submissions = Outbox(self._site.submissions).list_submissions()
        except (AgentError, OSError) as error:
            log_event(AlertsWait(type(error).__name__))
            return
        drafts = {_DRAFT + each.digest for each in submissions if each.state is State.PREPARED}
        approved = {_APPROVED + each.digest for each in submissions if each.state is State.APPROVED}
        with store.transaction():
            self._notice_waiting(store, _DRAFT, drafts, AlertCode.DRAFT_WAITING, patience_s=0.0)
            self._notice_waiting(
                store, _APPROVED, approved, AlertCode.APPROVED_UNSENT, patience_s=_HOUR_S
            )

    def _notice_waiting(
        self, store: Store, prefix: str, waiting: set[str], code: AlertCode, *, patience_s: float
    ) -> None:
        """Store one event if statements have waited for a time and no event has told so."""
        now = self._clock()
        known = {each.name: each for each in store.alerts.list_conditions(prefix)}
        store.alerts.clear_conditions(known.keys() - waiting)
        is_due = False
        for name in waiting:
            condition = known.get(name)
            since = now if condition is None else condition.since
            was_told = condition is not None and condition.is_told
            is_late = now - since >= patience_s
            if is_late and not was_told:
                is_due = True
            if condition is None or is_late != was_told:
                store.alerts.set_condition(name, since, told=is_late or was_told)
        if is_due:
            self._tell(store, AlertEvent(code, now, waiting=len(waiting)))

    def _tell_end(self, store: Store, job: Job) -> None:
        if job.state is JobState.CANCELLED:
            return  # a person did that
        code = AlertCode.JOB_DONE if job.state is JobState.DONE else AlertCode.JOB_FAILED
        now = self._clock()
        at = now if job.ended_at is None else job.ended_at
        progress = job.progress
        self._tell(
            store,
            AlertEvent(
                code,
                at,
                job_id=job.job_id,
                exit_code=job.exit_code,
                done=None if progress is None else progress.done,
                failed=None if progress is None else progress.failed,
                unscored=None if progress is None else progress.unscored,
            ),
        )
        if job.exit_code == InferenceError.exit_code:
            self._tell_server_gone(store, job.job_id, now)

    def _tell_server_gone(self, store: Store, job_id: str, now: float) -> None:
        """Store at most one event an hour: all jobs of a server fail if it is gone."""
        latest = store.alerts.find_last_time(AlertCode.SERVER_GONE)
        if latest is None or not 0 <= now - latest < _HOUR_S:
            self._tell(store, AlertEvent(AlertCode.SERVER_GONE, now, job_id=job_id))

    def _tell(self, store: Store, event: AlertEvent) -> None:
        if event.code in self._codes:
            store.alerts.add_event(event)
