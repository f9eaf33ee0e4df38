"""Findings as spans, and uniting those that overlap."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agent.redaction.entities import PRECEDENCE
from agent.redaction.tags import TAG

_RANK: dict[str, int] = {entity: rank for rank, entity in enumerate(PRECEDENCE)}

# The title of somebody who is a tag already.
_TITLE_OF_TAG = re.compile(r"(?i)\W{0,2}(?:dr|mr|mrs|ms|mx|miss|prof|doctor|nurse|sr|sra)\.?\s{0,3}(?=\[)")


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
    if not tags:
        return union
    ends = [end for _, end in tags]
    return [
        piece
        for span in union
        for piece in _outside(span, tags, bisect_right(ends, span.start))
        if any(map(str.isalnum, text[piece.start : piece.end]))  # what a tag left of a finding
        and not _TITLE_OF_TAG.match(text, piece.start, min(len(text), piece.end + 4))
    ]


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
