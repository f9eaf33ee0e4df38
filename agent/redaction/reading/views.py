"""A text as the recognisers read it, with the way back: every character of a view knows its place in the original.

The plain view is the whole text in its plainest form. Each further view holds only what a disguise changes, with some
words around it: a text without disguises has none. What is decoded is looked at again, so that a name in base64 in
an escaped string is found. Everything here is linear in the length of the text, and so is the sum of all views.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from agent.redaction.reading.decoding import Change, encoded, escapes
from agent.redaction.reading.folding import fold, in_latin, is_text, unescaped_breaks
from agent.redaction.reading.labelled import labelled
from agent.redaction.reading.spelling import (
    broken_lines,
    drawn,
    drawn_otherwise,
    in_words,
    parted_by_tags,
    run_together,
    written_apart,
)
from agent.redaction.reading.unread import in_other_language, overridden, unread
from agent.redaction.redacted import Withheld
from agent.redaction.spans import Span
from agent.redaction.writing.tags import TAG

_Family = Callable[[str], Iterator[Change | Span]]

_FAMILIES: tuple[_Family, ...] = (
    escapes, encoded, written_apart, broken_lines, in_words, run_together, drawn, drawn_otherwise,
    labelled, parted_by_tags,
)  # fmt: skip
# What may be read next, where that is not everything: letters that were guessed are not decoded.
_THEN: dict[_Family, tuple[_Family, ...]] = {
    run_together: (drawn, drawn_otherwise), drawn: (run_together,), drawn_otherwise: (run_together,),
    labelled: (encoded, written_apart, run_together, drawn, drawn_otherwise),
}  # fmt: skip
_LEVELS = 3  # of disguises in disguises
_MOST_VIEWS = 24
_BEFORE = 80  # characters read before a change: what introduces an identifier
_AFTER = 50
_WORD = 40  # characters by which that grows to the end of a word
_BETWEEN = "\n\n"  # excerpts

# A stretch this long without white space is no prose: encoded data, whose content cannot be checked. Tagged whole.
OPAQUE = re.compile(r"\S{400,}")


@dataclass(frozen=True, slots=True)
class View:
    """One reading of a text.

    Attributes:
        text: what the recognisers read.
        starts: by character of `text`, where what it stands for begins in the original; None: at the same place. Never
            falling in the plain view.
        ends: by character of `text`, where that ends, exclusive.
        touched: places of `text` that read otherwise than in the view before, as (above, below): a finding counts when
            it begins below the one and ends above the other. None: all do.
        told: places of the original that identify by the way they are written; the plain view has all of them.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None
    touched: "Touched | None" = None
    told: tuple[Span, ...] = ()

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the place in the original of `text[start:end]`, which is not empty."""
        if self.starts is None or self.ends is None:
            return start, end
        if self.touched is None:
            return self.starts[start], self.ends[end - 1]
        return min(self.starts[start:end]), max(self.ends[start:end])

    def within(self, start: int, end: int) -> str:
        """Return what this view, the plain one, reads in `original[start:end]`."""
        return self.text[slice(*self.place_of(start, end))]

    def place_of(self, start: int, end: int) -> tuple[int, int]:
        """Return where this view, the plain one, reads `original[start:end]`."""
        if self.starts is None or self.ends is None:
            return start, end
        return bisect_right(self.ends, start), bisect_left(self.starts, end)

    def places_of(self, spans: Sequence[Span]) -> list[tuple[int, int, str]]:
        """Return where this view reads `spans` of the original, which are in order and without overlaps."""
        if self.starts is None:
            return [(span.start, span.end, span.entity) for span in spans]
        begins = [span.start for span in spans]
        places: list[tuple[int, int, str]] = []
        last = -1  # the span that the character before belongs to
        for place, start in enumerate(self.starts):
            nth = bisect_right(begins, start) - 1
            if nth < 0 or start >= spans[nth].end:
                last = -1
                continue
            if nth == last:
                places[-1] = (places[-1][0], place + 1, spans[nth].entity)
            else:
                places.append((place, place + 1, spans[nth].entity))
            last = nth
        return places

    def counts(self, start: int, end: int) -> bool:
        """Tell whether a finding at `text[start:end]` is not just one of the view before."""
        return self.touched is None or self.touched.by(start, end)

    def new(self, found: Iterable[Span]) -> Iterator[Span]:
        """Leave out what is just a finding of the view before."""
        return (span for span in found if self.counts(span.start, span.end))


@dataclass(frozen=True, slots=True)
class Touched:
    """Places of a view that read otherwise: two series, each with both of its columns rising."""

    at: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    across: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))

    def add(self, start: int, end: int, crossing: bool) -> None:
        """Add `text[start:end]`; see `Change.crossing`."""
        befores, afters = self.across if crossing else self.at
        befores.append(start if crossing else end + 1)
        afters.append(end if crossing else start - 1)

    def by(self, start: int, end: int) -> bool:
        """Tell whether `text[start:end]` reaches one of the places."""
        return any(
            (last := bisect_left(afters, end)) and befores[last - 1] > start
            for befores, afters in (self.at, self.across)
        )


def views_of(text: str) -> tuple[View, ...] | Withheld:
    """Return how `text` can be read, the plain reading first; or why it cannot be judged at all."""
    if not is_text(text):
        return Withheld.UNDECODABLE
    folded = fold(text)
    foreign = [] if folded.text.isascii() else unread(folded.text)
    if foreign is None or in_other_language(folded.text):
        return Withheld.LANGUAGE
    latin = folded.text if folded.text.isascii() else in_latin(folded.text)
    plain = View(unescaped_breaks(latin), folded.starts, folded.ends)
    told = [Span(*plain.original(span.start, span.end), span.entity) for span in foreign]
    shown = _derived(plain, overridden(text, plain.text, plain.starts), told) if plain.starts is not None else None
    further = [shown] if shown else []
    level: list[tuple[View, tuple[_Family, ...]]] = [(view, _FAMILIES) for view in (plain, *further)]
    seen = {view.text for view, _ in level}
    for _ in range(_LEVELS):
        following: list[tuple[View, tuple[_Family, ...]]] = []
        for before, families in level:
            for family in families:
                stay = (OPAQUE,) if family is parted_by_tags else (TAG, OPAQUE)
                view = _derived(before, family(before.text), told, stay)
                if view and view.text not in seen and len(further) < _MOST_VIEWS:
                    seen.add(view.text)
                    further.append(view)
                    following.append((view, _THEN.get(family, _FAMILIES)))
        level = following
    if not told and not further:
        return (plain,)
    return (View(plain.text, plain.starts, plain.ends, None, tuple(told)), *further)


def _derived(
    before: View, found: Iterable[Change | Span], told: list[Span], stay: Iterable[Any] = (TAG, OPAQUE)
) -> View | None:
    """Return the view in which `before` reads as its changes say, if there are any; add to `told` what is told.

    What matches one of `stay` reads as it did.
    """
    changes: list[Change] = []
    for one in found:
        if not before.counts(one.start - 1, one.end + 1):
            continue
        if isinstance(one, Span):
            told.append(Span(*before.original(one.start, one.end), one.entity))
        else:
            changes.append(one)
    for pattern in stay:
        if changes:
            changes = _outside(changes, [found.span() for found in pattern.finditer(before.text)])
    return _reread(before, _apart(changes)) if changes else None


def _outside(changes: Iterable[Change], places: Sequence[tuple[int, int]]) -> list[Change]:
    """Return the changes that touch none of the places: they stay as they are, or are tagged whole."""
    ends = [end for _, end in places]
    following = ((change, bisect_right(ends, change.start)) for change in changes)
    return [change for change, place in following if place == len(places) or change.end <= places[place][0]]


def _apart(changes: Iterable[Change]) -> list[Change]:
    """Return the changes in order, without those that overlap one before."""
    kept: list[Change] = []
    for change in sorted(changes, key=lambda c: (c.start, -c.end)):
        if not kept or change.start >= kept[-1].end:
            kept.append(change)
    return kept


class _Excerpts:
    """Writes a view of `before`, stretch by stretch."""

    def __init__(self, before: View) -> None:
        self._before = before
        self._pieces: list[str] = []
        self._starts = array("I")
        self._ends = array("I")
        self._touched = Touched()

    def same(self, start: int, end: int) -> None:
        before = self._before
        self._pieces.append(before.text[start:end])
        self._starts.extend(range(start, end) if before.starts is None else before.starts[start:end])
        self._ends.extend(range(start + 1, end + 1) if before.ends is None else before.ends[start:end])

    def change(self, change: Change) -> None:
        start = len(self._starts)
        if change.backwards and len(change.plain) == change.end - change.start:
            for place in range(change.end - 1, change.start - 1, -1):
                self.same(place, place + 1)
        elif len(change.plain) == change.end - change.start:
            self.same(change.start, change.end)
            self._pieces[-1] = change.plain
        elif change.plain:
            self._pieces.append(change.plain)
            first, last = self._place(change)
            self._starts.extend([first] * len(change.plain))
            self._ends.extend([last] * len(change.plain))
        self._touched.add(start, len(self._starts), change.crossing)

    def gap(self) -> None:
        if self._starts:
            self._pieces.append(_BETWEEN)
            self._starts.extend([self._starts[-1]] * len(_BETWEEN))
            self._ends.extend([self._ends[-1]] * len(_BETWEEN))

    def view(self) -> View:
        return View("".join(self._pieces), self._starts, self._ends, self._touched)

    def _place(self, change: Change) -> tuple[int, int]:
        if change.end > change.start:
            return self._before.original(change.start, change.end)
        place = self._before.original(change.start - 1, change.start)[1]
        return place, place


def _reread(before: View, changes: Sequence[Change]) -> View:
    written, done = _Excerpts(before), -1
    for place, change in enumerate(changes):
        begin = _word_before(before.text, max(0, change.start - _BEFORE))
        if done < 0 or begin > done:
            if done >= 0:
                written.gap()
            done = begin
        written.same(done, change.start)
        written.change(change)
        done = change.end
        follows = changes[place + 1].start if place + 1 < len(changes) else len(before.text)
        end = min(follows, _word_after(before.text, change.end + _AFTER))
        written.same(done, end)
        done = end
    return written.view()


def _word_before(text: str, place: int) -> int:
    """Return where the word begins that `place` is in, as far as it is near."""
    return next((p for p in range(place, max(0, place - _WORD), -1) if text[p - 1].isspace()), max(0, place - _WORD))


def _word_after(text: str, place: int) -> int:
    last = min(len(text), place + _WORD)
    return next((p for p in range(place, last) if text[p].isspace()), last)
