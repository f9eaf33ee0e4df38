"""Notice events and send alerts, in a thread beside the queue, which neither waits for it nor fails with it."""

import sqlite3
import threading
import time
from collections.abc import Callable
from typing import Final

from agent.alerts.channels import AlertPlan, read_plan
from agent.alerts.noticing import Noticer
from agent.alerts.sending import Send, deliver_due, send_alert
from agent.errors import AgentError
from agent.monitoring.events import AlertsWait
from agent.monitoring.log import log_event
from agent.site.directory import Site
from agent.store import Store

_TICK_S: Final = 1.0
_RETRY_S: Final = 10.0  # after an error of the store
_TIDY_EVERY_S: Final = 3600.0
_STOP_S: Final = 2.0
_DAY_S: Final = 86_400.0


class AlertCourier:
    """Sends a site's alerts until it is stopped. It keeps nothing: all state is in the store.

    Args:
        site: the site.
        plan: what is told, and to whom; None for what the site's settings say.
        send: sends an alert.
        clock: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        site: Site,
        plan: AlertPlan | None = None,
        *,
        send: Send = send_alert,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._site = site
        self._plan = read_plan(site.settings) if plan is None else plan
        self._send = send
        self._clock = clock
        self._noticer = Noticer(site, self._plan.codes, clock)
        self._is_stopping = threading.Event()
        self._next_tidying = 0.0
        self._thread = threading.Thread(target=self._work, name="alerts", daemon=True)

    def start(self) -> None:
        """Start to notice and send."""
        self._thread.start()

    def stop(self) -> None:
        """Stop within seconds. A message under way is sent again at the next start, under the same id."""
        self._is_stopping.set()
        self._thread.join(_STOP_S)

    def _work(self) -> None:
        """Work until `stop`; no error ends the thread."""
        while not self._is_stopping.is_set():
            try:
                with self._site.store() as store:
                    self._work_with(store)
                return
            except (AgentError, sqlite3.Error) as error:
                log_event(AlertsWait(type(error).__name__))
            except Exception as error:  # noqa: BLE001 (a message may quote a record; the service must go on)
                log_event(AlertsWait(type(error).__name__))
            self._is_stopping.wait(_RETRY_S)

    def _work_with(self, store: Store) -> None:
        store.alerts.watch(self._plan.channels)
        if not self._plan.channels:
            return
        while not self._is_stopping.is_set():
            self.take_step(store)
            self._is_stopping.wait(_TICK_S)

    def take_step(self, store: Store) -> None:
        """Notice what has happened, and send what is due."""
        self._noticer.take_step(store)
        for channel in self._plan.channels:
            deliver_due(store, self._plan, channel, self._clock(), self._send)
        if time.monotonic() >= self._next_tidying:
            self._next_tidying = time.monotonic() + _TIDY_EVERY_S
            store.alerts.delete_older(self._clock() - self._site.settings.keep_jobs_days * _DAY_S)
