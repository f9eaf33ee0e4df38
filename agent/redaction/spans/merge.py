"""Merge the overlapping detections of rules and models into spans that can be replaced."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from agent.redaction.entities import PRECEDENCE
from agent.redaction.identity.known_phrases import GENERIC
from agent.redaction.identity.words import plain_words
from agent.redaction.replacements.tags import TAG
from agent.redaction.spans.boundaries import expand_span, trim_span
from agent.redaction.spans.growth import grow_spans
from agent.redaction.spans.span import Span

_RANK: dict[str, int] = {entity: rank for rank, entity in enumerate(PRECEDENCE)}

# A name or number within a detection of these entities is part of it.
_CONTAINERS = frozenset({"FACILITY", "ADDRESS", "URL"})
_IN_WORDS = frozenset({"NAME", "LOCATION", "FACILITY", "ORGANIZATION"})
_LINE_BEFORE_FAMILY_NAME = re.compile(
    r"(?i)\s{0,9}(?:(?:pt|patient|client|resident|re)\b\.?)?\s{0,3}(?:name)?\s{0,3}[:#-]?\s{0,3}"
)
_SINGLE_NAME = re.compile(r"[^\W\d_]{2,40}(?:['’-][^\W\d_]{1,40}){0,2}")
_LIST_GOES_ON = re.compile(r",? (?:and|or|y)\b|\s?[,;/&]")
_CAPITALISED_WORD = re.compile(r"[^\W\d_][^\W\d_A-Z]+")

# The title of a person whose name has already been replaced by a tag.
_TITLE_OF_TAG = re.compile(
    r"(?i)\W{0,2}(?:dr|mr|mrs|ms|mx|miss|prof|doctor|nurse|sr|sra)\.?\s{0,3}(?=\[)"
)


def merge_spans(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans in order and without overlaps. Together they cover the same text, except for tags.

    Numbers and lists of days that were detected only in part are covered entirely. Text at the ends of a span that
    identifies no person is trimmed (see `agent.redaction.spans.boundaries`), and neighbouring words that belong to the
    same identifier are added (see `agent.redaction.spans.growth`).
    """
    merged = _resolve_overlaps(spans, text)
    expanded = [wider for span in merged for wider in expand_span(span, text)]
    merged = _resolve_overlaps(expanded, text)
    merged = _join_names(merged, text)
    if "[" in text:
        merged = _cut_out_tags(merged, text)
    return grow_spans(_trim_spans(merged, text), text)


def _trim_spans(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans without the text at their ends that identifies no person, still without overlaps."""
    trimmed: list[Span] = []
    end_of_last = 0
    for span in spans:
        for piece in trim_span(span, text):
            # A piece may have been extended to the partner of a bracket, and so overlap its neighbour.
            start = max(piece.start, end_of_last)
            if start < piece.end:
                trimmed.append(Span(start, piece.end, piece.entity))
                end_of_last = piece.end
    return trimmed


def _resolve_overlaps(spans: Iterable[Span], text: str) -> list[Span]:
    """Return the spans in order and without overlaps. Together they cover the same text."""
    resolved: list[Span] = []
    for span in sorted(spans, key=lambda span: (span.start, -span.end)):
        if resolved and span.start < resolved[-1].end:
            resolved += _combine_overlapping(resolved.pop(), span, text)
        else:
            resolved.append(span)
    return resolved


def _combine_overlapping(first: Span, second: Span, text: str) -> tuple[Span, ...]:
    """Combine two overlapping spans, ordered by start, into one span or two spans that do not overlap."""
    stronger = min(first.entity, second.entity, key=_RANK.__getitem__)
    if second.end <= first.end:
        if _keeps_its_entity(first, second, stronger, text):
            return (first,)
        return (Span(first.start, first.end, stronger),)
    if first.entity != second.entity and _IN_WORDS.issuperset((first.entity, second.entity)):
        # Each span keeps its entity. The overlapping text goes to the stronger entity.
        cut = first.end if stronger == first.entity else second.start
        if cut > first.start:
            return Span(first.start, cut, first.entity), Span(cut, second.end, second.entity)
    return (Span(first.start, second.end, stronger),)


def _keeps_its_entity(outer: Span, inner: Span, stronger: str, text: str) -> bool:
    """Return whether a span keeps its entity although the inner span's entity may be the `stronger` of the two.

    A facility or address that contains a name or a number keeps its entity. A facility that is also detected as a name
    from end to end becomes a name, unless it contains a word that is typical of institutions.
    """
    if outer.entity not in _CONTAINERS:
        return False
    is_same_stretch = inner.start == outer.start and inner.end == outer.end
    return not (is_same_stretch and stronger == "NAME" and not _is_institution(outer, text))


def _is_institution(span: Span, text: str) -> bool:
    return not GENERIC.isdisjoint(plain_words(text[span.start : span.end]))


def _join_names(spans: Sequence[Span], text: str) -> list[Span]:
    """Join each name to the preceding name or institution if that is the first part of the same name."""
    joined: list[Span] = []
    for span in spans:
        if joined and span.entity == "NAME" and _is_one_name(joined[-1], span, text):
            joined[-1] = Span(joined[-1].start, span.end, "NAME")
        else:
            joined.append(span)
    return joined


def _is_one_name(before: Span, name: Span, text: str) -> bool:
    between = text[before.end : name.start]
    if before.entity == "NAME":
        return between == ", " and _is_inverted(before, name, text)
    return (
        # A given name that was detected as an institution: "Mercy Holloway".
        before.entity in ("ORGANIZATION", "FACILITY")
        and between == " "
        and _CAPITALISED_WORD.fullmatch(text, before.start, before.end) is not None
        and not _is_institution(before, text)
    )


def _is_inverted(family: Span, given: Span, text: str) -> bool:
    """Return whether two single-word names are one name, written as on forms: "Pt Holloway, Margaret"."""
    start_of_line = text.rfind("\n", 0, family.start) + 1
    return (
        _LINE_BEFORE_FAMILY_NAME.fullmatch(text, start_of_line, family.start) is not None
        and _SINGLE_NAME.fullmatch(text, family.start, family.end) is not None
        and _SINGLE_NAME.fullmatch(text, given.start, given.end) is not None
        and _LIST_GOES_ON.match(text, given.end) is None
    )


def _cut_out_tags(spans: Sequence[Span], text: str) -> list[Span]:
    """Return the parts of spans outside tags that contain a letter or digit and are not just a title before a tag."""
    tags = [tag.span() for tag in TAG.finditer(text)]
    if not tags:
        return list(spans)
    ends = [end for _, end in tags]
    remaining: list[Span] = []
    for span in spans:
        for piece in _split_at_tags(span, tags, bisect_right(ends, span.start)):
            if not any(map(str.isalnum, text[piece.start : piece.end])):
                continue
            if not _TITLE_OF_TAG.match(text, piece.start, min(len(text), piece.end + 4)):
                remaining.append(piece)
    return remaining


def _split_at_tags(span: Span, tags: Sequence[tuple[int, int]], first_tag: int) -> Iterator[Span]:
    start = span.start
    for index in range(first_tag, len(tags)):
        tag_start, tag_end = tags[index]
        if tag_start >= span.end:
            break
        if start < tag_start:
            yield Span(start, tag_start, span.entity)
        start = tag_end
    if start < span.end:
        yield Span(start, span.end, span.entity)
