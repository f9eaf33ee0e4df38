"""Clear what was read from an answer, and find its place in the redacted answer.

A value can be written otherwise than in the answer (a date as 2014-03-04), and lacks the words around it ("aged 93"),
so that redaction could miss it or a part of it. It is therefore shown only if it cannot be patient text, like an
option's letter; if the answer's own words for it are shown; or if redaction changed it, and every word that is left
of it stands in the shown answer as often as in the answer.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from agent.reading.reading import Reading, ValueKind
from agent.redaction.redacted import Redacted
from agent.redaction.replacements.tags import TAG, WITHHELD_TAG

_HARMLESS: frozenset[ValueKind] = frozenset({"option", "verdict"})
_CONTEXTS = (0, 20, 60)  # characters around a span that tell it from others like it
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class AnswerReading:
    """What metrics read from a stored answer, before it is cleared.

    Attributes:
        metrics: the titles of the metrics that read it.
        kind: the kind of the value.
        reading: the value, its place in the answer and the rule.
        is_whole_text: whether the metrics compare the whole answer, so that it is not shown again.
    """

    metrics: tuple[str, ...]
    kind: ValueKind
    reading: Reading
    is_whole_text: bool = False


@dataclass(frozen=True, slots=True)
class ClearedReading:
    """What metrics read from an answer, as a person may see it.

    Attributes:
        metrics: the titles of the metrics that read it.
        rule: the rule that read it.
        value: the value; None if it is the whole text, or may not be shown.
        start, end: its place in the answer as shown; None if that cannot be told.
    """

    metrics: tuple[str, ...]
    rule: str
    value: Redacted | None
    start: int | None = None
    end: int | None = None


def list_reading_texts(readings: tuple[AnswerReading, ...]) -> Iterator[str]:
    """Yield the texts to clear, in the order in which `clear_readings` consumes them."""
    for shown in readings:
        if not shown.is_whole_text:
            yield shown.reading.value


def clear_readings(
    readings: tuple[AnswerReading, ...],
    answer: str,
    cleared_answer: Redacted,
    texts: Iterator[Redacted],
) -> Iterator[ClearedReading]:
    """Yield the readings as a person may see them; `texts` are the cleared values."""
    for shown in readings:
        reading = shown.reading
        if shown.is_whole_text:
            yield ClearedReading(shown.metrics, reading.rule, None)
            continue
        value = next(texts)
        place = locate_in_redacted(answer, cleared_answer, reading.start, reading.end)
        is_shown = shown.kind in _HARMLESS
        if not is_shown and WITHHELD_TAG not in cleared_answer:
            is_redacted = value != reading.value and _shows_words(value, answer, cleared_answer)
            is_shown = place is not None or is_redacted
        start, end = place or (None, None)
        yield ClearedReading(shown.metrics, reading.rule, value if is_shown else None, start, end)


def _shows_words(value: str, answer: str, redacted: str) -> bool:
    """Return whether the redacted answer shows the words of a redacted value, and no fewer of them than the answer."""
    answer_words, redacted_words = _count_words(answer), _count_words(TAG.sub(" ", redacted))
    return all(
        redacted_words[word] >= max(1, answer_words[word])
        for word in _count_words(TAG.sub(" ", value))
    )


def _count_words(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.casefold()))


def locate_in_redacted(answer: str, redacted: str, start: int, end: int) -> tuple[int, int] | None:
    """Return where the span of an answer stands in the redacted answer, or None if it was changed or is ambiguous."""
    place = _find_in_redacted(answer, redacted, start, end)
    return None if place is None or _cuts_tag(redacted, *place) else place


def _cuts_tag(redacted: str, start: int, end: int) -> bool:
    """Return whether a span holds a part of a tag, whose letters and numbers are not words of the answer."""
    for tag in TAG.finditer(redacted):
        overlaps = tag.start() < end and start < tag.end()
        if overlaps and not start <= tag.start() <= tag.end() <= end:
            return True
    return False


def _find_in_redacted(answer: str, redacted: str, start: int, end: int) -> tuple[int, int] | None:
    if answer == redacted or answer[:end] == redacted[:end]:
        return start, end
    rest = len(answer) - start
    if answer[start:] == redacted[max(0, len(redacted) - rest) :]:
        moved = len(redacted) - len(answer)
        return start + moved, end + moved
    for context in _CONTEXTS:
        first = max(0, start - context)
        words = answer[first : end + context]
        position = redacted.find(words)
        if position >= 0 and _occurs_once(words, answer) and _occurs_once(words, redacted):
            return position + start - first, position + end - first
    return None


def _occurs_once(words: str, text: str) -> bool:
    return text.find(words) == text.rfind(words)
