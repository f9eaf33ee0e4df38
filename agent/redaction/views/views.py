"""Normalised views: a text as the recognisers read it, with the position of each character in the original.

The plain view is the whole text in its plainest form. Each further view undoes one kind of disguise (escapes, base64,
letters written apart) and contains only the changed stretches with some context, so a text without disguises has no
further views. Views are derived from other views, so that a name in base64 within an escaped string is detected. Both
the time and the total size of all views are linear in the length of the text.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from agent.redaction.deadline import Deadline
from agent.redaction.languages.unread import find_unread_prose
from agent.redaction.redacted import Withheld
from agent.redaction.replacements.tags import TAG
from agent.redaction.spans.span import Span
from agent.redaction.views.decoding import Substitution, read_encoded, read_escapes
from agent.redaction.views.folding import fold, is_text, replace_lookalikes, unescape_breaks
from agent.redaction.views.labelled import read_labelled
from agent.redaction.views.spelling import (
    read_broken_lines,
    read_drawn,
    read_drawn_otherwise,
    read_parted_by_tags,
    read_run_together,
    read_spelled_out,
    read_written_apart,
)
from agent.redaction.views.unread import find_unreadable, read_reversed

_Reader = Callable[[str], Iterator[Substitution | Span]]

_READERS: tuple[_Reader, ...] = (
    read_escapes,
    read_encoded,
    read_written_apart,
    read_broken_lines,
    read_spelled_out,
    read_run_together,
    read_drawn,
    read_drawn_otherwise,
    read_labelled,
    read_parted_by_tags,
)
# For some readers, the only readers that are run on the views they produce; after the others, every reader is run. For
# example, text with guessed letters is not decoded.
_NEXT_READERS: dict[_Reader, tuple[_Reader, ...]] = {
    read_run_together: (read_drawn, read_drawn_otherwise),
    read_drawn: (read_run_together,),
    read_drawn_otherwise: (read_run_together,),
    read_labelled: (
        read_encoded,
        read_written_apart,
        read_run_together,
        read_drawn,
        read_drawn_otherwise,
    ),
}
_LEVELS = 3  # maximum nesting of disguises
_MAX_VIEWS = 24  # maximum views per text, so that nested disguises do not take minutes
_BEFORE = 80  # characters of context before a change, where words introduce an identifier
_AFTER = 50
_WORD = 40  # maximum characters by which the context is extended to a word boundary
_SEPARATOR = "\n\n"  # written between excerpts

# A stretch this long without white space is encoded data, not prose. Its content cannot be checked, so it is redacted.
OPAQUE = re.compile(r"\S{400,}")


@dataclass(frozen=True, slots=True)
class View:
    """A normalised view of a text.

    Attributes:
        text: the text that the recognisers read.
        starts: for each character of `text`, the start of its original; None if positions are unchanged. Never
            decreasing in the plain view.
        ends: for each character of `text`, the end of its original, exclusive.
        changes: stretches of `text` that differ from the parent view. Only a detection that reaches one of them is new.
            None if every detection is new.
        marked: spans of the original that are identifiers because of the way they are written (encoded text, unread
            scripts). The plain view collects all of them.
    """

    text: str
    starts: Sequence[int] | None = None
    ends: Sequence[int] | None = None
    changes: "Changes | None" = None
    marked: tuple[Span, ...] = ()

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the original of `text[start:end]`, which must not be empty."""
        if self.starts is None or self.ends is None:
            return start, end
        if self.changes is None:
            return self.starts[start], self.ends[end - 1]
        return min(self.starts[start:end]), max(self.ends[start:end])

    def to_original(self, span: Span) -> Span:
        """Convert a span of `text` to a span of the original."""
        return Span(*self.locate(span.start, span.end), span.entity)

    def read_original(self, start: int, end: int) -> str:
        """Return the text of this view, which must be the plain one, for `original[start:end]`."""
        if self.starts is None or self.ends is None:
            return self.text[start:end]
        return self.text[bisect_right(self.ends, start) : bisect_left(self.starts, end)]

    def locate_spans(self, spans: Sequence[Span]) -> list[Span]:
        """Convert spans of the original, in order and without overlaps, to spans of `text`."""
        if self.starts is None or not spans:
            return list(spans)
        begins = [span.start for span in spans]
        located: list[Span] = []
        last_index = -1  # index of the span that the previous character belongs to
        for position, start in enumerate(self.starts):
            index = bisect_right(begins, start) - 1
            if index < 0 or start >= spans[index].end:
                last_index = -1
            elif index == last_index:
                located[-1] = Span(located[-1].start, position + 1, spans[index].entity)
            else:
                located.append(Span(position, position + 1, spans[index].entity))
                last_index = index
        return located

    def is_new(self, span: Span) -> bool:
        """Return whether a detection in `text` is not merely a detection of the parent view."""
        return self.changes is None or self.changes.are_reached(span.start, span.end)

    def keep_new(self, spans: Iterable[Span]) -> Iterator[Span]:
        """Drop detections that are merely detections of the parent view."""
        return (span for span in spans if self.is_new(span))


@dataclass(slots=True)
class _ChangeIndex:
    """Ascending changes, each reached by detections that start before `latest_start` and end after `earliest_end`."""

    latest_starts: list[int] = field(default_factory=list)
    earliest_ends: list[int] = field(default_factory=list)

    def add(self, latest_start: int, earliest_end: int) -> None:
        self.latest_starts.append(latest_start)
        self.earliest_ends.append(earliest_end)

    def is_reached(self, start: int, end: int) -> bool:
        # Number of changes whose `earliest_end` is before the end of the detection.
        count = bisect_left(self.earliest_ends, end)
        return count > 0 and self.latest_starts[count - 1] > start


@dataclass(frozen=True, slots=True)
class Changes:
    """The changed stretches of a view, in the order in which they are added."""

    touching: _ChangeIndex = field(default_factory=_ChangeIndex)
    crossing: _ChangeIndex = field(default_factory=_ChangeIndex)

    def add(self, start: int, end: int, *, crossing: bool) -> None:
        """Add `text[start:end]`; see `Substitution.crossing`."""
        if crossing:
            self.crossing.add(start, end)
        else:
            self.touching.add(end + 1, start - 1)

    def are_reached(self, start: int, end: int) -> bool:
        """Return whether `text[start:end]` reaches any of the changes."""
        return self.touching.is_reached(start, end) or self.crossing.is_reached(start, end)


def build_views(
    text: str,
    deadline: Deadline | None = None,
    values: Sequence[tuple[int, int]] | None = None,
) -> tuple[View, ...] | Withheld:
    """Return the views of `text`, the plain one first, or the reason to withhold the text if it cannot be analysed.

    Args:
        text: the text.
        deadline: the time limit.
        values: in a form, the starts and ends of its values. Each of them that is prose in another language is marked,
            so that the form stays valid.

    Raises:
        TimeoutError: the deadline passed.
    """
    if not is_text(text):
        return Withheld.UNDECODABLE
    folded = fold(text)
    is_ascii = folded.text.isascii()
    unreadable = [] if is_ascii else find_unreadable(folded.text)
    if unreadable is None:
        return Withheld.LANGUAGE
    latin = folded.text if is_ascii else replace_lookalikes(folded.text)
    builder = _ViewBuilder(View(unescape_breaks(latin), folded.starts, folded.ends), deadline)
    if values is not None:
        builder.marked += _mark_unread_values(text, values)
    else:
        sentences = find_unread_prose(builder.plain.text)
        if sentences is None:
            return Withheld.LANGUAGE
        unreadable += sentences
    for span in unreadable:
        builder.marked.append(builder.plain.to_original(span))
    return builder.build(text)


def _mark_unread_values(text: str, values: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the parts of a form's values that are in other languages."""
    for start, end in values:
        sentences = find_unread_prose(text[start:end])
        if sentences is None:
            yield Span(start, end, "UNKNOWN_WORD")
        else:
            for span in sentences:
                yield Span(start + span.start, start + span.end, span.entity)


class _ViewBuilder:
    """Derives the further views of a text from its plain view."""

    def __init__(self, plain: View, deadline: Deadline | None) -> None:
        self.plain = plain
        self._deadline = deadline
        self.marked: list[Span] = []
        self._further: list[View] = []
        self._texts = {plain.text}

    def build(self, original: str) -> tuple[View, ...]:
        """Return all views, the plain one first."""
        level: list[tuple[View, tuple[_Reader, ...]]] = [(self.plain, _READERS)]
        if self.plain.starts is not None:  # the original may contain directional controls
            readings = read_reversed(original, self.plain.text, self.plain.starts)
            shown = self._derive(self.plain, readings, (TAG, OPAQUE))
            if shown is not None:
                self._further.append(shown)
                self._texts.add(shown.text)
                level.append((shown, _READERS))
        for _ in range(_LEVELS):
            level = list(self._read_level(level))
        if self.marked:
            self.plain = replace(self.plain, marked=tuple(self.marked))
        return (self.plain, *self._further)

    def _read_level(
        self, level: Sequence[tuple[View, tuple[_Reader, ...]]]
    ) -> Iterator[tuple[View, tuple[_Reader, ...]]]:
        """Yield the new views that the readers derive from the views of one level, each with its own readers."""
        for before, readers in level:
            for reader in readers:
                if self._deadline is not None:
                    self._deadline.left()
                unchanged = (OPAQUE,) if reader is read_parted_by_tags else (TAG, OPAQUE)
                view = self._derive(before, reader(before.text), unchanged)
                if (
                    view is not None
                    and view.text not in self._texts
                    and len(self._further) < _MAX_VIEWS
                ):
                    self._texts.add(view.text)
                    self._further.append(view)
                    yield view, _NEXT_READERS.get(reader, _READERS)

    def _derive(
        self,
        before: View,
        readings: Iterable[Substitution | Span],
        unchanged: Sequence["re.Pattern[str]"],
    ) -> View | None:
        """Return `before` with the substitutions applied, or None without any; add spans to `self.marked`.

        Text that matches one of the patterns in `unchanged` is not substituted.
        """
        substitutions: list[Substitution] = []
        for reading in readings:
            # Elsewhere this view equals its parent, to which the readers have already been applied.
            if before.changes is not None and not before.changes.are_reached(
                reading.start - 1, reading.end + 1
            ):
                continue
            if isinstance(reading, Span):
                self.marked.append(before.to_original(reading))
            else:
                substitutions.append(reading)
        for pattern in unchanged:
            if substitutions:
                matches = [match.span() for match in pattern.finditer(before.text)]
                substitutions = _drop_touching(substitutions, matches)
        return _write_excerpts(before, _drop_overlapping(substitutions)) if substitutions else None


def _drop_touching(
    substitutions: Iterable[Substitution], stretches: Sequence[tuple[int, int]]
) -> list[Substitution]:
    """Return the substitutions that touch none of the given ranges, which must be in order."""
    ends = [end for _, end in stretches]
    remaining = []
    for substitution in substitutions:
        following = bisect_right(ends, substitution.start)
        if following == len(stretches) or substitution.end <= stretches[following][0]:
            remaining.append(substitution)
    return remaining


def _drop_overlapping(substitutions: Iterable[Substitution]) -> list[Substitution]:
    """Return the substitutions in order, without those that overlap an earlier or longer substitution."""
    remaining: list[Substitution] = []
    for substitution in sorted(substitutions, key=lambda s: (s.start, -s.end)):
        if not remaining or substitution.start >= remaining[-1].end:
            remaining.append(substitution)
    return remaining


class _ViewWriter:
    """Writes the view derived from `before`, stretch by stretch."""

    def __init__(self, before: View) -> None:
        self._before = before
        self._pieces: list[str] = []
        self._starts = array("I")
        self._ends = array("I")
        self._changes = Changes()

    def copy(self, start: int, end: int) -> None:
        before = self._before
        self._pieces.append(before.text[start:end])
        self._starts.extend(
            range(start, end) if before.starts is None else before.starts[start:end]
        )
        self._ends.extend(
            range(start + 1, end + 1) if before.ends is None else before.ends[start:end]
        )

    def substitute(self, substitution: Substitution) -> None:
        start_in_view = len(self._starts)
        start = substitution.start
        end = substitution.end
        plain = substitution.plain
        if substitution.backwards and len(plain) == end - start:
            for position in range(end - 1, start - 1, -1):
                self.copy(position, position + 1)
        elif len(plain) == end - start:
            self.copy(start, end)
            self._pieces[-1] = plain
        elif plain:
            self._pieces.append(plain)
            start_in_original, end_in_original = self._locate(start, end)
            self._starts.extend([start_in_original] * len(plain))
            self._ends.extend([end_in_original] * len(plain))
        self._changes.add(start_in_view, len(self._starts), crossing=substitution.crossing)

    def separate(self) -> None:
        if self._starts:
            self._pieces.append(_SEPARATOR)
            self._starts.extend([self._starts[-1]] * len(_SEPARATOR))
            self._ends.extend([self._ends[-1]] * len(_SEPARATOR))

    def finish(self) -> View:
        return View("".join(self._pieces), self._starts, self._ends, self._changes)

    def _locate(self, start: int, end: int) -> tuple[int, int]:
        if end > start:
            return self._before.locate(start, end)
        position = self._before.locate(start - 1, start)[1]
        return position, position


def _write_excerpts(before: View, substitutions: Sequence[Substitution]) -> View:
    """Write the view that contains each substitution with its context."""
    writer = _ViewWriter(before)
    written_end = -1  # end of the last excerpt, in the parent text
    following_starts = [substitution.start for substitution in substitutions[1:]]
    for substitution, next_start in zip(
        substitutions, [*following_starts, len(before.text)], strict=True
    ):
        start = _find_word_start(before.text, max(0, substitution.start - _BEFORE))
        if start > written_end:
            if written_end >= 0:
                writer.separate()
            written_end = start
        writer.copy(written_end, substitution.start)
        writer.substitute(substitution)
        written_end = min(next_start, _find_word_end(before.text, substitution.end + _AFTER))
        writer.copy(substitution.end, written_end)
    return writer.finish()


def _find_word_start(text: str, position: int) -> int:
    """Return the start of the word around `position`, going back at most `_WORD` characters."""
    first = max(0, position - _WORD)
    for start in range(position, first, -1):
        if text[start - 1].isspace():
            return start
    return first


def _find_word_end(text: str, position: int) -> int:
    """Return the end of the word around `position`, going forward at most `_WORD` characters."""
    last = min(len(text), position + _WORD)
    for end in range(position, last):
        if text[end].isspace():
            return end
    return last
