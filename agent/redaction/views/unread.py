"""Find text that cannot be read: in scripts that no policy supports, or shown from right to left."""

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import regex

from agent.redaction.spans.span import Span
from agent.redaction.views.decoding import Substitution

# Letters of scripts other than Latin, with their marks. One or two Greek letters on their own denote measures,
# proteins and receptors.
_FOREIGN = regex.compile(
    r"(?:(?=[\p{L}\p{M}])[^\p{Latin}\p{Greek}\p{Common}\p{Inherited}][\p{M}'’-]*)+|[\p{Greek}]{3,}"
)
_UNSPACED = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]"
)
_BETWEEN = 3  # maximum characters between words that form one detection
_WORD = 2  # characters of a script without spaces that count as one word
_FEW = 5  # maximum number of unreadable words that are redacted, such as a name or a street; more withhold the text

_OVERRIDDEN = regex.compile(r"\u202e([^\u202c\u202d\n]{1,200})")


def find_unreadable(text: str) -> list[Span] | None:
    """Return the stretches of `text` in unreadable scripts, which may name a person; None if they have too many words.

    Args:
        text: folded except for lookalike letters of other scripts.
    """
    words = 0
    spans: list[Span] = []
    for match in _FOREIGN.finditer(text):
        if _is_beside_latin(text, match.start(), match.end()):
            continue
        unspaced = sum(1 for _ in _UNSPACED.finditer(match.group()))
        words += max(1, math.ceil(unspaced / _WORD))
        if words > _FEW:
            return None
        start = match.start()
        if spans and start - spans[-1].end <= _BETWEEN:
            start = spans.pop().start
        spans.append(Span(start, match.end(), "UNKNOWN_WORD"))
    return spans


def _is_beside_latin(text: str, start: int, end: int) -> bool:
    """Return whether the letters are part of a word with Latin letters: a disguise that is read as Latin."""
    near = text[start - 1 : start] + text[end : end + 1]
    return any(unicodedata.name(character, "").startswith("LATIN") for character in near)


def read_reversed(text: str, plain: str, starts: Sequence[int]) -> Iterator[Substitution]:
    """Yield substitutions for text that a control character displays from right to left.

    Args:
        text: the original.
        plain: its plain view.
        starts: for each character of `plain`, its position in `text`.
    """
    for match in _OVERRIDDEN.finditer(text):
        start = bisect_left(starts, match.start(1))
        end = bisect_left(starts, match.end(1))
        if end > start:
            yield Substitution(start, end, plain[start:end][::-1], backwards=True)
