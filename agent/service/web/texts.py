"""Draws the pages that show texts of instances, one after another, in a thread of its own.

The redactor is large and not for several threads, and what it finds is kept in the store, so that a page that was shown
once is quick the next time.
"""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from typing import TypeVar

from agent.errors import AgentError
from agent.redaction import Redacted, open_redactor
from agent.redaction.gateway.cases import ClearedCase, Clearer, Redacting, Revealing
from agent.redaction.gateway.judgements import SeatJudgement
from agent.redaction.gateway.readings import AnswerReading
from agent.redaction.gateway.subject import Subject
from agent.redaction.redacted import CuedText
from agent.service.frame import Frame
from agent.service.pages import PageFile, SitePages
from agent.service.render import Renderer
from agent.site.directory import Site
from agent.store import Audience, Store, StoredInstance

Shown = TypeVar("Shown")


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
        return self._thread.submit(
            self._draw, path, frame, renderer, audience, revealed_to
        ).result()

    def clear(self, show: Callable[[Clearer], Shown]) -> Shown:
        """Return what `show` makes of texts that it has the thread's redactor clear.

        Raises:
            RedactionError: the texts cannot be redacted safely.
        """
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
        self._thread.submit(self._close).result()
        self._thread.shutdown()

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
