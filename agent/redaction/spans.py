"""Findings as spans: uniting those that overlap, and searching a record's known values in its other texts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.tags import TAG

# Of two overlapping findings the one earlier in this list names the union.
_PRECEDENCE = (
    "EMAIL", "URL", "MRN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "SSN", "PHONE", "IP",
    "ADDRESS", "NAME", "FACILITY", "DATE", "AGE", "ZIP", "LOCATION", "ID",
)  # fmt: skip
_NOT_SEARCHED = frozenset({"AGE", "ZIP", "DATE", "LOCATION"})  # found again by their own rules where they matter
_SEARCHED_LETTERS = 3  # letters or digits a value needs to be searched
_SEARCHED_LENGTH = 100  # characters; longer values are encoded data or whole addresses
_NAME_PART = regex.compile(r"[\p{L}\p{M}]+(?:['-][\p{L}\p{M}]+)*")
_WHOLE_WORD = r"(?<![\p{L}\d])\L<values>(?![\p{L}\d])"


@dataclass(frozen=True, slots=True)
class Span:
    """A finding: offsets into a text, end exclusive."""

    start: int
    end: int
    entity: str


def united(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans in order, without overlaps, covering together what they covered, but for tags in `text`."""
    union: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if union and span.start < union[-1].end:
            last = union[-1]
            # A facility or address that holds a name or a number in it stays what it is.
            entity = (
                last.entity
                if span.end <= last.end and last.entity in ("FACILITY", "ADDRESS", "URL")
                else _stronger(last, span)
            )
            union[-1] = Span(last.start, max(last.end, span.end), entity)
        else:
            union.append(span)
    tags = [tag.span() for tag in TAG.finditer(text)]
    return [piece for span in union for piece in _outside(span, tags)]


def _stronger(one: Span, other: Span) -> str:
    return min(one.entity, other.entity, key=_PRECEDENCE.index)


def _outside(span: Span, tags: Sequence[tuple[int, int]]) -> Iterable[Span]:
    start = span.start
    for tag_start, tag_end in tags:
        if tag_end > start and tag_start < span.end:
            if start < tag_start:
                yield Span(start, tag_start, span.entity)
            start = tag_end
    if start < span.end:
        yield Span(start, span.end, span.entity)


@dataclass(frozen=True, slots=True)
class KnownValues:
    """Values found somewhere in a record, to be searched in all of its texts.

    Attributes:
        whole: entity by full value, in lower case; searched in any case.
        parts: full name by a part of it in lower case (a family name, say); searched in any case.
    """

    whole: Mapping[str, str]
    parts: Mapping[str, str]


def known_values(findings: Iterable[tuple[str, str]], everyday: frozenset[str]) -> KnownValues:
    """Return what to search for, given the record's findings as (entity, value).

    `everyday` are lower-case words that identify nobody when they stand alone.
    """
    whole: dict[str, str] = {}
    parts: dict[str, str] = {}
    for entity, found in findings:
        value = found.strip()
        if entity in _NOT_SEARCHED or len(value) > _SEARCHED_LENGTH or value.casefold() in everyday:
            continue
        if sum(map(str.isalnum, value)) < _SEARCHED_LETTERS:
            continue
        whole.setdefault(value.lower(), entity)
        if entity == "NAME":
            for part in _NAME_PART.findall(value):
                if len(part) >= _SEARCHED_LETTERS and part.casefold() not in everyday:
                    parts[part.lower()] = max(parts.get(part.lower(), ""), value, key=len)
    return KnownValues(whole, parts)


def search(text: str, known: KnownValues, deadline: Deadline) -> Iterator[Span]:
    """Find every known value in folded text, as whole words.

    Raises:
        TimeoutError: the deadline passed.
    """
    if known.whole:
        for match in regex.finditer(
            _WHOLE_WORD, text, regex.IGNORECASE, timeout=deadline.left(), values=list(known.whole)
        ):
            yield Span(match.start(), match.end(), known.whole.get(match.group().lower(), "ID"))
    if known.parts:
        for match in regex.finditer(
            _WHOLE_WORD, text, regex.IGNORECASE, timeout=deadline.left(), values=list(known.parts)
        ):
            yield Span(match.start(), match.end(), "NAME")
