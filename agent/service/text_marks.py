"""Mark passages of a redacted text on a page: tags, the place where a value was read, and words that were searched."""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from markupsafe import escape

from agent.redaction.replacements.tags import TAG

Span = tuple[int, int]

MOST_HITS: Final = 500
"""Occurrences that are marked in one text: a letter that is searched for in a megabyte must not fill a page."""
_BEFORE_HIT: Final = 40  # characters
_AFTER_HIT: Final = 60
_TAG: Final = '<span class="tag">', "</span>"
_READ: Final = '<mark class="read">', "</mark>"
_HIT: Final = '<mark class="hit">', "</mark>"


def find_words(text: str, words: str, most: int = MOST_HITS) -> list[Span]:
    """Return the places where words stand in a text, in any case; at most `most`, without overlaps."""
    folded_words = words.casefold()
    if not folded_words or folded_words not in text.casefold():
        return []
    folded, origins = _fold(text)
    spans: list[Span] = []
    place = folded.find(folded_words)
    while place >= 0 and len(spans) < most:
        end = place + len(folded_words)
        spans.append((origins[place], origins[end - 1] + 1))
        place = folded.find(folded_words, end)
    return _join_touching(spans)


def _fold(text: str) -> tuple[str, Sequence[int]]:
    """Return a text without differences of case, and the place of each of its characters in the text itself."""
    folded = text.casefold()
    if len(folded) == len(text) and text.isascii():
        return folded, range(len(text))
    parts = [character.casefold() for character in text]  # ß becomes two characters
    origins = [place for place, part in enumerate(parts) for _ in part]
    return "".join(parts), origins


def _join_touching(spans: Sequence[Span]) -> list[Span]:
    """Return spans without overlaps: two hits can share a character that folds to two."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


def render_text(text: str, words: str = "", read: Sequence[Span] = ()) -> str:
    """Return a text as escaped markup.

    Args:
        text: the redacted text. Its tags are marked.
        words: words to mark wherever they stand, in any case.
        read: where a value was read.
    """
    layers = (
        (_TAG, [match.span() for match in TAG.finditer(text)]),
        (_READ, list(read)),
        (_HIT, find_words(text, words)),
    )
    edges = {0, len(text)}
    for _, spans in layers:
        edges.update(edge for span in spans for edge in span)
    pieces: list[str] = []
    for start, end in pairwise(sorted(edges)):
        piece = str(escape(text[start:end]))
        for (opening, closing), spans in reversed(layers):
            if _covers(spans, start):
                piece = f"{opening}{piece}{closing}"
        pieces.append(piece)
    return "".join(pieces)


def _covers(spans: Sequence[Span], place: int) -> bool:
    """Return whether one of these spans, which are in order, contains a place."""
    index = bisect_right(spans, (place, float("inf"))) - 1
    return index >= 0 and place < spans[index][1]


def cut_around_hit(text: str, words: str) -> str | None:
    """Return the passage of a text around the first place where words stand, on one line; None if there is none."""
    hits = find_words(text, words, most=1)
    if not hits:
        return None
    start, end = hits[0]
    before = _cut_words(text[max(0, start - _BEFORE_HIT) : start], is_cut=start > _BEFORE_HIT)
    after = text[end : end + _AFTER_HIT]
    passage = f"{before}{text[start:end]}{after}"
    if end + _AFTER_HIT < len(text):
        passage = passage + " …"
    return " ".join(passage.split())


def _cut_words(text: str, *, is_cut: bool) -> str:
    """Return a text that begins with a whole word, after a mark if something was cut off before it."""
    if not is_cut:
        return text
    head, space, tail = text.partition(" ")
    return f"… {tail if space else head}"
