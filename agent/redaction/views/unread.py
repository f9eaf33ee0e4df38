"""Find text that cannot be read: in scripts and languages that no policy supports, or shown from right to left."""

import math
import re
import unicodedata
from bisect import bisect_left
from collections import Counter
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

# Frequent words of English and Spanish, then those of other languages that English and Spanish do not share.
_OURS, *_OTHERS = (
    frozenset(words.split())
    for words in (
        "the of and to in is was with for on not has he she a an el la los las de que y en un una con por para se no "
        "del al es su",
        "der das und ist nicht mit dem ein eine einer eines wurde wurden auf für bei nach zur zum von sich sind wird "
        "auch oder über keine",
        "des et est une du dans pas avec qui au aux ce cette été sont ont ne il elle mais où chez depuis",
        "il di che è per della nel nella sono gli dei alla dal stato stata ed",
        "um uma não com da das dos foi ao em é são pelo pela na",
        "het een niet voor zijn werd bij dat naar ook aan wordt heeft",
        "się jest nie oraz przez został była był dla na od",
        "och att är på för inte till ett av som det",
    )
)
_PROSE = 40  # minimum words from which a language can be recognised
_EXAMINED = 4_000  # characters at the beginning of a text, which nearly always suffice to recognise its language
# Minimum share of words that are frequent words of the language; prose has 0.2 and more.
_SHARE = 0.08

_LATIN_WORD = re.compile(r"[a-z\u00df-\u024f]+")
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


def is_in_other_language(text: str) -> bool:
    """Return whether `text` is prose in a language with Latin letters that no policy supports."""
    words = Counter(_LATIN_WORD.findall(text[:_EXAMINED].lower()))
    if words.total() < _PROSE:
        return False
    ours = _count_words(words, _OURS)
    most = max(_count_words(words, language) for language in _OTHERS)
    return most > ours and most > _SHARE * words.total()


def _count_words(words: Counter[str], language: frozenset[str]) -> int:
    return sum(words[word] for word in language)


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
