"""What nobody here can read: words in scripts of no language of the policies, and text shown from right to left."""

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import regex

from agent.redaction.decoding import Change
from agent.redaction.spans import Span

# Letters that are neither Latin nor of no script at all, with their marks. One or two Greek letters by themselves
# stand for measures, proteins and receptors.
_FOREIGN = regex.compile(
    r"(?:(?=[\p{L}\p{M}])[^\p{Latin}\p{Greek}\p{Common}\p{Inherited}][\p{M}'’-]*)+|[\p{Greek}]{3,}"
)
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]")
_BETWEEN = 3  # characters between words that are one finding
_WORD = 2  # characters of a script without spaces
_FEW = 5  # words: a name, a street

_OVERRIDDEN = regex.compile(r"\u202e([^\u202c\u202d\n]{1,200})")


def unread(text: str) -> list[Span] | None:
    """Return the stretches of `text` that cannot be read, which may be anything; None: there are more than a few words.

    Args:
        text: with compatibility characters folded, and letters of other scripts as they are.
    """
    words, found = 0, list[Span]()
    for match in _FOREIGN.finditer(text):
        if _with_latin(text, match.start(), match.end()):
            continue
        unspaced = sum(1 for _ in _UNSPACED.finditer(match.group()))
        words += max(1, -(-unspaced // _WORD))
        if words > _FEW:
            return None
        if found and match.start() - found[-1].end <= _BETWEEN:
            found[-1] = Span(found[-1].start, match.end(), "UNKNOWN_WORD")
        else:
            found.append(Span(match.start(), match.end(), "UNKNOWN_WORD"))
    return found


def _with_latin(text: str, start: int, end: int) -> bool:
    """Tell whether the stretch is part of a word with Latin letters: a disguise, which is read as Latin."""
    near = text[start - 1 : start] + text[end : end + 1]
    return any(unicodedata.name(character, "").startswith("LATIN") for character in near)


def overridden(text: str, plain: str, starts: Sequence[int]) -> Iterator[Change]:
    """Yield what a control character shows from right to left.

    Args:
        text: as it is.
        plain: its plain view.
        starts: by character of `plain`, its place in `text`.
    """
    for match in _OVERRIDDEN.finditer(text):
        start, end = bisect_left(starts, match.start(1)), bisect_left(starts, match.end(1))
        if end > start:
            yield Change(start, end, plain[start:end][::-1], backwards=True)
