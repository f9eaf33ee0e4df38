"""Findings as spans, and uniting those that overlap."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.redaction.edges import taken_in, trimmed
from agent.redaction.entities import PRECEDENCE
from agent.redaction.identity.known_phrases import GENERIC
from agent.redaction.identity.words_of import keys_of
from agent.redaction.writing.tags import TAG

_RANK: dict[str, int] = {entity: rank for rank, entity in enumerate(PRECEDENCE)}

_HOLDING = frozenset({"FACILITY", "ADDRESS", "URL"})
_WORDED = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})
_BEFORE_FAMILY = re.compile(
    r"(?i)\s{0,9}(?:(?:pt|patient|client|resident|re)\b\.?)?\s{0,3}(?:name)?\s{0,3}[:#-]?\s{0,3}"
)
_ONE_NAME = re.compile(r"[^\W\d_]{2,40}(?:['’-][^\W\d_]{1,40}){0,2}")
_MORE_NAMES = re.compile(r",? (?:and|or|y)\b|\s?[,;/&]")
_GIVEN_NAME = re.compile(r"[^\W\d_][^\W\d_A-Z]+")

# The title of somebody who is a tag already.
_TITLE_OF_TAG = re.compile(r"(?i)\W{0,2}(?:dr|mr|mrs|ms|mx|miss|prof|doctor|nurse|sr|sra)\.?\s{0,3}(?=\[)")


@dataclass(frozen=True, slots=True)
class Span:
    """A finding: offsets into a text, end exclusive."""

    start: int
    end: int
    entity: str


def united(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans in order, without overlaps, covering together what they covered, but for tags in `text`.

    Numbers and pairs of days that were found in part are covered whole, and what identifies nobody at the ends of a
    span is not (see `agent.redaction.edges`).
    """
    union = _apart(spans, text)
    union = _apart((Span(*found) for span in union for found in taken_in(*_place(span), text)), text)
    union = _whole_names(union, text)
    tags = [tag.span() for tag in TAG.finditer(text)] if "[" in text else []
    if tags:
        ends = [end for _, end in tags]
        union = [
            piece
            for span in union
            for piece in _outside(span, tags, bisect_right(ends, span.start))
            if any(map(str.isalnum, text[piece.start : piece.end]))  # what a tag left of a finding
            and not _TITLE_OF_TAG.match(text, piece.start, min(len(text), piece.end + 4))
        ]
    last = 0
    shown: list[Span] = []
    for span in union:
        for start, end, entity in trimmed(*_place(span), text):
            if max(start, last) < end:
                shown.append(Span(max(start, last), end, entity))
                last = end
    return shown


def _place(span: Span) -> tuple[int, int, str]:
    return span.start, span.end, span.entity


def _apart(spans: Iterable[Span], text: str) -> list[Span]:
    """Return spans in order, without overlaps, covering together what they covered."""
    union: list[Span] = []
    for span in sorted(spans, key=lambda s: (s.start, -s.end)):
        if not union or span.start >= union[-1].end:
            union.append(span)
            continue
        last = union[-1]
        entity = _stronger(last, span)
        if span.end <= last.end:
            # A facility or address that holds a name or a number in it stays what it is.
            same = span.start == last.start and span.end == last.end
            if last.entity in _HOLDING and not (same and entity == "NAME" and not _is_institution(last, text)):
                continue
            union[-1] = Span(last.start, last.end, entity)
        elif last.entity != span.entity and _WORDED.issuperset((last.entity, span.entity)):
            # Each keeps its kind, and the stronger one its words.
            cut = last.end if entity == last.entity else span.start
            if cut > last.start:
                union[-1] = Span(last.start, cut, last.entity)
                union.append(Span(cut, span.end, span.entity))
            else:
                union[-1] = Span(last.start, span.end, entity)
        else:
            union[-1] = Span(last.start, max(last.end, span.end), entity)
    return union


def _is_institution(span: Span, text: str) -> bool:
    return not GENERIC.isdisjoint(keys_of(text[span.start : span.end]))


def _is_inverted(family: Span, given: Span, text: str) -> bool:
    """Tell whether two names of one word each are one, as forms have it: "Pt Holloway, Margaret"."""
    return (
        _BEFORE_FAMILY.fullmatch(text, text.rfind("\n", 0, family.start) + 1, family.start) is not None
        and _ONE_NAME.fullmatch(text, family.start, family.end) is not None
        and _ONE_NAME.fullmatch(text, given.start, given.end) is not None
        and _MORE_NAMES.match(text, given.end) is None
    )


def _whole_names(spans: Sequence[Span], text: str) -> list[Span]:
    """Join a name to the word before it that was found by itself: a family name, or what an institution could be."""
    joined: list[Span] = []
    for span in spans:
        if (
            span.entity == "NAME"
            and joined
            and joined[-1].entity in ("ORGANIZATION", "FACILITY")
            and joined[-1].end == span.start - 1
            and text[span.start - 1] == " "
            and _GIVEN_NAME.fullmatch(text, joined[-1].start, joined[-1].end)
            and not _is_institution(joined[-1], text)
        ) or (
            span.entity == "NAME"
            and joined
            and joined[-1].entity == "NAME"
            and text[joined[-1].end : span.start] == ", "
            and _is_inverted(joined[-1], span, text)
        ):
            joined[-1] = Span(joined[-1].start, span.end, "NAME")
        else:
            joined.append(span)
    return joined


def _stronger(one: Span, other: Span) -> str:
    return min(one.entity, other.entity, key=_RANK.__getitem__)


def _outside(span: Span, tags: Sequence[tuple[int, int]], first: int) -> Iterable[Span]:
    start = span.start
    for place in range(first, len(tags)):
        tag_start, tag_end = tags[place]
        if tag_start >= span.end:
            break
        if start < tag_start:
            yield Span(start, tag_start, span.entity)
        start = tag_end
    if start < span.end:
        yield Span(start, span.end, span.entity)
