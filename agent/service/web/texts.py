"""Draws the pages that show texts of instances, one after another, in a thread of its own.

The redactor is large and not for several threads, and what it finds is kept in the store, so that a page that was shown
once is quick the next time. After half a second without a reader, the thread prepares the page after the
one that was read last.
"""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import Final, TypeVar

from agent.errors import AgentError
from agent.exchange.shown_names import ShownNames
from agent.redaction import Redacted, open_redactor
from agent.redaction.gateway.cases import ClearedCase, Clearer, Redacting, Revealing
from agent.redaction.gateway.judgements import SeatJudgement
from agent.redaction.gateway.readings import AnswerReading
from agent.redaction.gateway.subject import Subject
from agent.redaction.redacted import CuedText
from agent.service.frame import Frame
from agent.service.instance_lists import STEM
from agent.service.instance_views import InstancesPage, build_instances_page
from agent.service.pages import PageFile, SitePages
from agent.service.render import Renderer
from agent.site.directory import Site
from agent.store import Audience, Store, StoredInstance

Shown = TypeVar("Shown")

_LIST_PAGE: Final = re.compile(rf"(runs/[\w-]+/{STEM}-)([1-9]\d{{0,6}})\.html")
_MOST_PREPARED: Final = 1_000
_PAUSE_S: Final = 0.5  # without a reader, before the next page is prepared


def find_next_page(path: str) -> str | None:
    """Return the path of the page after a page of a list of instances; None if `path` is another page."""
    page = _LIST_PAGE.fullmatch(path)
    return None if page is None else f"{page[1]}{int(page[2]) + 1}.html"


@dataclass(frozen=True, slots=True)
class _Opened:
    """What the thread holds open: its own connection, and the redactor that keeps its findings there."""

    store: Store
    redacting: Clearer
    closing: ExitStack


class TextReader:
    """Draws pages with texts of instances: redacted, or as they are with an entry in the audit log."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="texts")
        self._opened: _Opened | None = None
        self._lock = threading.Lock()
        self._is_closed = False
        self._preparing: threading.Timer | None = None
        self._prepared: set[str] = set()  # paths of pages

    def draw(
        self,
        path: str,
        frame: Frame,
        renderer: Renderer,
        audience: Audience,
        revealed_to: str = "",
    ) -> PageFile | None:
        """Draw the page at `path` of the results; None if there is no such page.

        Args:
            path: path among the pages of results.
            frame: what surrounds the page.
            renderer: renders redacted pages, or those with original text.
            audience: who reads it; other people's private runs do not exist for them.
            revealed_to: who sees original text and why, for the audit log; empty for redacted text.

        Raises:
            RedactionError: the texts cannot be redacted safely, so nothing is shown.
            StoreError: the store cannot be read, or the audit log cannot be written.
        """
        self._put_off_preparing()
        page = self._thread.submit(
            self._draw, path, frame, renderer, audience, revealed_to
        ).result()
        if page is not None and not revealed_to:
            self._prepare_next(path, frame, renderer, audience)
        return page

    def read_list(
        self, run_id: str, stem: str, page: int, audience: Audience
    ) -> InstancesPage | None:
        """Return one page of a list of a run's instances, redacted; None if there is none that the caller may see.

        Raises:
            RedactionError: the texts cannot be redacted safely.
        """
        self._put_off_preparing()
        return self._thread.submit(self._read_list, run_id, stem, page, audience).result()

    def _read_list(
        self, run_id: str, stem: str, page: int, audience: Audience
    ) -> InstancesPage | None:
        opened = self._open()
        opened.store.runs.audience = audience
        run = opened.store.runs.find(run_id)
        if run is None:
            return None
        names = ShownNames(opened.store, reveal=True)
        return build_instances_page(
            opened.store, run, stem, page, opened.redacting, names, served=True
        )

    def clear(self, show: Callable[[Clearer], Shown]) -> Shown:
        """Return what `show` makes of texts that it has the thread's redactor clear.

        Raises:
            RedactionError: the texts cannot be redacted safely.
        """
        self._put_off_preparing()
        return self._thread.submit(lambda: show(self._open().redacting)).result()

    def open_clearer(self) -> Clearer:
        """Return what redacts for other threads, a few instances at a time, so that all readers take turns."""
        return _SharedClearer(self)

    def begin_warming(self) -> None:
        """Load the redactor in the background, so that the first reader need not wait for it."""
        self._thread.submit(self._warm)

    def _warm(self) -> None:
        # A fault shows on the first page, in words for its reader.
        with suppress(AgentError):
            self._open().redacting.clear_records([["Note: no fever."]], "warming")

    def close(self) -> None:
        """Close the thread's connection and end the thread."""
        with self._lock:
            self._is_closed = True
        self._put_off_preparing()
        self._thread.submit(self._close).result()
        self._thread.shutdown()

    def _put_off_preparing(self) -> None:
        with self._lock:
            if self._preparing is not None:
                self._preparing.cancel()
                self._preparing = None

    def _prepare_next(
        self, path: str, frame: Frame, renderer: Renderer, audience: Audience
    ) -> None:
        """Have the next page of a list drawn after a pause, so that what is found in its texts is kept."""
        next_path = find_next_page(path)
        if next_path is None or next_path in self._prepared:
            return

        def prepare() -> None:
            if len(self._prepared) >= _MOST_PREPARED:
                self._prepared.clear()
            self._prepared.add(next_path)
            with suppress(AgentError):  # a fault shows on the page, in words for its reader
                self._draw(next_path, frame, renderer, audience, "")

        timer = threading.Timer(_PAUSE_S, self._thread.submit, (prepare,))
        timer.daemon = True
        with self._lock:
            if self._is_closed:
                return
            self._preparing = timer
            timer.start()

    def _draw(
        self,
        path: str,
        frame: Frame,
        renderer: Renderer,
        audience: Audience,
        revealed_to: str,
    ) -> PageFile | None:
        opened = self._open()
        opened.store.runs.audience = audience
        clearer = opened.redacting
        if revealed_to:
            clearer = Revealing(
                lambda event: opened.store.audit.record("reveal", f"{event} {revealed_to}"),
                "serve",
            )
        pages = SitePages(self._site.name, opened.store, clearer, renderer=renderer)
        return pages.draw_page(path, frame)

    def _open(self) -> _Opened:
        if self._opened is None:
            site = self._site
            closing = ExitStack()
            store = closing.enter_context(site.store())
            redactor = open_redactor(
                site.settings.redaction_policy, site.directory, store.findings, site.surrogate_key()
            )
            self._opened = _Opened(store, Redacting(redactor), closing)
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.closing.close()
            self._opened = None


class _SharedClearer(Clearer):
    """Redacts in the thread of a `TextReader`, for another thread."""

    reveals = False
    note = ""
    withheld = 0

    def __init__(self, reader: TextReader) -> None:
        self._reader = reader

    def clear(
        self,
        run_id: str,
        instances: Sequence[StoredInstance],
        judged: Mapping[int, Sequence[SeatJudgement]] | None = None,
        read: Mapping[int, tuple[AnswerReading, ...]] | None = None,
    ) -> list[ClearedCase]:
        """Redact instances of a run."""
        return self._reader.clear(lambda clearer: clearer.clear(run_id, instances, judged, read))

    def clear_records(
        self,
        records: Sequence[Sequence[str | CuedText]],
        which: str,
        subjects: Sequence[Subject] = (),
        published: Sequence[Sequence[str]] = (),
    ) -> list[list[Redacted]]:
        """Redact the texts of records."""
        return self._reader.clear(
            lambda clearer: clearer.clear_records(records, which, subjects, published)
        )
