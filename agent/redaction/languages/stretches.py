"""Find the stretches of a text whose words have high scores together."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.redaction.languages.words import SCALE

_FALL = 5 * SCALE  # a stretch ends where the sum of its scores has fallen by this much


@dataclass(frozen=True, slots=True)
class Stretch:
    """Words that follow each other, from `first` to before `end`, and the sum of the scores of the distinct ones."""

    first: int
    end: int
    words: frozenset[str]
    score: int


def find_stretches(words: Sequence[str], scores: Sequence[int], least: int) -> Iterator[Stretch]:
    """Yield the stretches with the highest sums of scores, of at least `least`.

    A word that is repeated counts once, so that units and abbreviations of a table do not add up.
    """
    first = end = total = highest = 0
    for position, score in enumerate(scores):
        total += score
        if total > highest:
            highest, end = total, position + 1
        elif total <= 0 or total < highest - _FALL:
            if highest >= least:
                yield from _weigh(words, scores, first, end, least)
            first = position + 1
            total = highest = 0
    if highest >= least:
        yield from _weigh(words, scores, first, end, least)


def _weigh(
    words: Sequence[str], scores: Sequence[int], first: int, end: int, least: int
) -> Iterator[Stretch]:
    by_word = dict(zip(words[first:end], scores[first:end], strict=True))
    score = sum(by_word.values())
    if score >= least:
        yield Stretch(first, end, frozenset(by_word), score)
