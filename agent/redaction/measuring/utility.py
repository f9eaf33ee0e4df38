"""Measures of what redaction does to the harmless part of texts. Pure functions.

    tags per 1,000 words    redactions in texts without identifiers, by kind
    token precision         share of redacted words that are part of an identifier
    changed                 share of texts with options, numbers or units in which redaction changes one of them,
                            apart from their identifiers

Tokens are sequences of letters and digits; the words of a rate are separated by white space.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.redaction.rules.word_lists import compile_pattern
from agent.statistics.intervals import Mean, estimate_mean

LabelledSpan = tuple[int, int, str]  # start, end (exclusive), kind

_TOKEN = re.compile(r"[^\W_]+")
_NUMBER = compile_pattern(
    r"\d+(?:[.,:/]\d+)*(?: ?-?(?:\L<units_of_measure>)(?:/\L<units_of_measure>)*(?![^\W_]))?", "en"
)
# The letter or number of an option or of an entry in a list: "A. ", "(b) ", "3) ".
_MARKER = re.compile(r"(?<![\w.&/-])\(?([A-Ja-j]|[1-9])[.):](?:[ \t]+)(?=\S)")


@dataclass(frozen=True, slots=True)
class TextUtility:
    """What the redactions of one text do to its harmless part.

    Attributes:
        words: number of words, if the text has no identifiers; else 0.
        tags: number of redactions by kind, if the text has no identifiers.
        tokens: for each redacted token, whether it is part of an identifier.
        has_measures: whether there are options, numbers or units outside the identifiers.
        is_changed: whether one of these is redacted.
    """

    words: int
    tags: Counter[str]
    tokens: tuple[bool, ...]
    has_measures: bool
    is_changed: bool


@dataclass(frozen=True, slots=True)
class Utility:
    """The measures of one engine on one corpus.

    Attributes:
        words: number of words in texts without identifiers.
        tags: number of redactions in these texts, by kind, the most frequent first.
        token_precision: share of redacted tokens that are part of an identifier.
        changed: share of the texts with options, numbers or units in which one of them is changed.
    """

    words: int
    tags: Mapping[str, int]
    token_precision: Mean
    changed: Mean

    @property
    def tags_per_1000_words(self) -> float | None:
        """The rate of tags of all kinds; None without words."""
        return self.find_rate(sum(self.tags.values()))

    def find_rate(self, tags: int) -> float | None:
        """Return a number of tags per 1,000 words; None without words."""
        return 1000 * tags / self.words if self.words else None


def compare_harmless(
    text: str, is_gold: bytearray, is_taken: bytearray, taken: Sequence[LabelledSpan]
) -> TextUtility:
    """Compare the redactions of a text with its harmless part.

    Args:
        text: the text.
        is_gold: 1 for each character that is part of an identifier.
        is_taken: 1 for each character that is redacted.
        taken: the redactions.
    """
    has_identifiers = any(is_gold)
    tokens: list[bool] = []
    for token in _TOKEN.finditer(text):
        if any(is_taken[token.start() : token.end()]):
            tokens.append(any(is_gold[token.start() : token.end()]))
    has_measures = is_changed = False
    for position in _locate_measures(text):
        if not is_gold[position]:
            has_measures = True
            is_changed = is_changed or bool(is_taken[position])
    return TextUtility(
        words=0 if has_identifiers else len(text.split()),
        tags=Counter() if has_identifiers else Counter(kind for _, _, kind in taken),
        tokens=tuple(tokens),
        has_measures=has_measures,
        is_changed=is_changed,
    )


def summarise_utility(texts: Iterable[TextUtility]) -> Utility:
    """Compute the measures of a corpus; the intervals treat texts as units."""
    tags: Counter[str] = Counter()
    words = 0
    tokens: list[tuple[bytes, float]] = []
    changed: list[tuple[bytes, float]] = []
    for number, text in enumerate(texts):
        unit = number.to_bytes(8)
        words += text.words
        tags.update(text.tags)
        tokens += [(unit, float(is_identifying)) for is_identifying in text.tokens]
        if text.has_measures:
            changed.append((unit, float(text.is_changed)))
    return Utility(
        words=words,
        tags=dict(tags.most_common()),
        token_precision=estimate_mean(tokens, binary=True),
        changed=estimate_mean(changed, binary=True),
    )


def _locate_measures(text: str) -> Iterator[int]:
    """Yield the positions of the letters and digits of options, numbers and units; some of them twice."""
    for number in _NUMBER.finditer(text):
        yield from _locate_alnum(text, number.start(), number.end())
    for run in _find_options(text):
        for option, following in zip(run, [*run[1:], None], strict=True):
            end = _find_line_end(text, option.end()) if following is None else following.start()
            yield from _locate_alnum(text, option.start(), end)


def _find_options(text: str) -> Iterator[list[re.Match[str]]]:
    """Yield each sequence of at least two options, which begins with A, a or 1."""
    run: list[re.Match[str]] = []
    for marker in _MARKER.finditer(text):
        if run and ord(marker[1]) == ord(run[-1][1]) + 1:
            run.append(marker)
            continue
        if len(run) > 1:
            yield run
        run = [marker] if marker[1] in "Aa1" else []
    if len(run) > 1:
        yield run


def _find_line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end


def _locate_alnum(text: str, start: int, end: int) -> Iterator[int]:
    for position in range(start, end):
        if text[position].isalnum() or text[position] == "%":
            yield position
