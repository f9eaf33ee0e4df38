"""Read a judge's verdict strictly from its reply: a score in range for every criterion, or the fault of the reply.

The request asks the judge to put a mark into its verdict that the authors of the texts cannot know. The last object
with the mark is the verdict, even if the reply quotes other objects. Without a mark, the verdict is the last JSON
object that names a criterion and whose words are not quoted from a text that the judge saw. If several such objects
differ only in their numbers, none of them counts, because an answer can list any grades in advance. The reader never
guesses and has no defaults.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from agent.jury.quotations import SearchLimitError, ShownTexts, squeeze
from agent.jury.rubric import SCORE, Rubric
from agent.reading.json_decoding import (
    DecodedObject,
    EndlessTextError,
    UndecodedObject,
    decode_objects,
    decode_objects_around,
)
from agent.reading.thoughts import split_leading_thought

MAX_CHARACTERS = 100_000  # maximum length of a reply; 4,096 tokens are shorter
_MAX_ATTEMPTS = 1_000  # maximum number of objects in a reply
_SHOWN = 1_000  # characters of an object nested too deeply that are searched for in the texts
# Minimum letters, besides names of criteria and fields, in a broken object that counts as a quotation.
_MIN_LETTERS = 8
_AHEAD = 30  # characters read after the error in a broken object, to include its first words
# A score as text must be spelt like a number in JSON, so that no other reader could see another number.
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,5})(?:\.[0-9]{1,6})?")
_OWN_WORDS = 16  # letters in a verdict's words; fewer could be foreseen by an answer


class Fault(StrEnum):
    """Why a reply contains no valid verdict. The list is closed, so that faults can be counted and shown."""

    NO_TEXT = "no_text"  # the reply is blank
    CUT_OFF = "cut_off"  # the reply ended at the token limit, so its last object may not be the judge's verdict
    FILTERED = "filtered"  # the judge's server withheld the reply
    TOO_LONG = "too_long"  # too long, or with too many objects, to be read in bounded time
    NO_VERDICT = "no_verdict"  # no well-formed JSON object that names a criterion
    QUOTED = "quoted"  # it contains only objects from the texts that the judge saw
    AMBIGUOUS = "ambiguous"  # several different objects, and neither a mark nor words identify the judge's own
    # A key is repeated, so that two readers could see different verdicts.
    DUPLICATE_KEY = "duplicate_key"
    MISSING_CRITERION = "missing_criterion"
    # A criterion is neither a score nor an object, or lacks its score, or has only some of its fields.
    MISSING_FIELD = "missing_field"
    NOT_A_NUMBER = (
        "not_a_number"  # a score is text other than a number, a boolean, null, NaN or infinite
    )
    OUT_OF_RANGE = "out_of_range"  # a score is outside the scale


@dataclass(frozen=True, slots=True)
class Verdict:
    """A valid verdict: a grade and the judge's words for every criterion.

    Attributes:
        grades: criterion -> score on the jury's own scale, with decimals.
        words: criterion -> field -> text, such as the explanation; empty for a criterion with only a score. May quote
            the answer, so treat it as patient text.
    """

    grades: Mapping[str, float]
    words: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Broken:
    """The text of an object that cannot be parsed: the text up to the error, and a few characters after it."""

    text: str
    ahead: str = ""


_Attempt = dict[str, Any] | _Broken


def read_verdict(
    reply: str, rubric: Rubric, shown: tuple[str, ...], marker: str = ""
) -> Verdict | Fault:
    """Return the verdict in a judge's `reply`, or the reply's fault. The time is bounded, whatever the text.

    Args:
        reply: the judge's text, without its separate reasoning.
        rubric: the rubric of the jury.
        shown: every text that the judge saw: question, right answer, answer.
        marker: the marker of the request; empty if the request asked for no mark.
    """
    if not reply.strip():
        return Fault.NO_TEXT
    if len(reply) > MAX_CHARACTERS:
        return Fault.TOO_LONG
    # A draft in the reasoning is not a verdict.
    text = split_leading_thought(reply).answer
    try:
        return _read_attempts(text, rubric, shown, marker)
    except (SearchLimitError, EndlessTextError):
        # A verdict with its mark is found even in a text with too many objects to read.
        return _read_around_mark(text, rubric, marker) if marker else Fault.TOO_LONG


def _read_attempts(
    text: str, rubric: Rubric, shown: tuple[str, ...], marker: str
) -> Verdict | Fault:
    attempts = list(islice(_find_attempts(text, rubric), _MAX_ATTEMPTS + 1))
    if len(attempts) > _MAX_ATTEMPTS:
        raise SearchLimitError
    if not attempts:
        return Fault.NO_VERDICT
    if marker:
        for attempt in reversed(attempts):
            if _has_mark(attempt, rubric, marker):
                return _check_attempt(attempt, rubric)
    return _read_unmarked(attempts, rubric, shown)


def _read_around_mark(text: str, rubric: Rubric, marker: str) -> Verdict | Fault:
    """Return the verdict around the last mark in a text, without reading all of its objects."""
    marks = list(re.finditer(_build_mark_pattern(rubric, marker), text, re.IGNORECASE))
    if not marks:
        return Fault.TOO_LONG
    mark_start = marks[-1].start()
    for around in decode_objects_around(text, mark_start, _DECODER):
        if _has_mark(around.value, rubric, marker):
            return _check_object(around.value, rubric)
    return Fault.NO_VERDICT


def _build_mark_pattern(rubric: Rubric, marker: str) -> str:
    """Return a pattern that matches the mark regardless of the spaces in it."""
    return rf'"{re.escape(rubric.mark)}"\s*:\s*"\s*{re.escape(marker)}\s*"'


def remove_mark(reply: str, rubric: Rubric, marker: str) -> str:
    """Return a reply without the mark of its request, for readers that do not expect marks."""
    if not marker:
        return reply
    mark = _build_mark_pattern(rubric, marker)
    return re.sub(rf"{mark}\s*,\s*|,\s*{mark}", "", reply, flags=re.IGNORECASE)


def _has_mark(attempt: _Attempt, rubric: Rubric, marker: str) -> bool:
    if isinstance(attempt, _Broken):
        return marker.casefold() in attempt.text.casefold()
    mark = attempt.get(rubric.mark)
    return isinstance(mark, str) and mark.strip().casefold() == marker.casefold()


def _read_unmarked(
    attempts: list[_Attempt], rubric: Rubric, shown: tuple[str, ...]
) -> Verdict | Fault:
    """Return the last verdict among attempts without a mark that is the judge's own."""
    shown_texts = ShownTexts(shown)
    example = ShownTexts([json.dumps(rubric.example, ensure_ascii=False)] if rubric.example else [])
    own_attempts = [
        attempt for attempt in attempts if not _is_quoted(attempt, rubric, shown_texts, example)
    ]
    if not own_attempts:
        return Fault.QUOTED
    *earlier, last = own_attempts
    verdict = _check_attempt(last, rubric)
    if isinstance(verdict, Fault) or _count_word_letters(last, rubric) >= _OWN_WORDS:
        return verdict
    # If only numbers distinguish the last verdict from earlier ones, it may be an answer's, which can list any numbers.
    for attempt in earlier:
        if isinstance(attempt, _Broken):
            continue
        earlier_verdict = _check_object(attempt, rubric)
        if isinstance(earlier_verdict, Fault) or earlier_verdict.grades != verdict.grades:
            return Fault.AMBIGUOUS
    return verdict


def _check_attempt(attempt: _Attempt, rubric: Rubric) -> Verdict | Fault:
    if isinstance(attempt, _Broken):
        return Fault.NO_VERDICT
    return _check_object(attempt, rubric)


class _DuplicateKeys(dict[str, Any]):
    """An object with a repeated key."""


class _LongNumber(float):
    """A number with many digits, stored with the digits as the judge wrote them."""

    def __new__(cls, digits: str) -> "_LongNumber":
        number = super().__new__(cls, digits)
        number.digits = digits
        return number

    digits: str


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    return built if len(built) == len(pairs) else _DuplicateKeys(built)


def _read_integer(digits: str) -> int | float:
    # Python refuses to parse an int with thousands of digits.
    return int(digits) if len(digits) < 20 else _LongNumber(digits)


_DECODER = json.JSONDecoder(object_pairs_hook=_build_object, parse_int=_read_integer)


def _find_attempts(text: str, rubric: Rubric) -> Iterator[_Attempt]:
    """Yield every possible verdict, in order: well-formed objects, and the text of broken ones.

    Raises:
        EndlessTextError: the text contains so many braces that reading on would take too long.
    """
    names = "|".join(
        re.escape(json.dumps(name, ensure_ascii=False)) for name in (rubric.mark, *rubric.criteria)
    )
    opening = re.compile(rf"\{{\s*(?:{names})\s*:")
    for found in decode_objects(text, _DECODER):
        if isinstance(found, DecodedObject):
            yield from _find_outermost(found.value, rubric)
            continue
        broken = _cut_out(text, found)
        if opening.match(broken.text):
            yield broken


def _cut_out(text: str, broken: UndecodedObject) -> _Broken:
    """Return the text of a broken object up to its error, and the characters after it."""
    start, error = broken
    if error is None:
        return _Broken(text[start : start + _SHOWN])
    return _Broken(text[start:error], text[error : error + _AHEAD])


def _find_outermost(value: object, rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Yield the objects in `value` that name a criterion and are not inside another such object, in order."""
    stack = [value]
    while stack:
        match stack.pop():
            case dict() as item if any(criterion in item for criterion in rubric.criteria):
                yield item
            case dict() as item:
                stack.extend(reversed(item.values()))
            case list() as items:
                stack.extend(reversed(items))


def _check_object(attempt: Mapping[str, Any], rubric: Rubric) -> Verdict | Fault:
    if any(isinstance(inner, _DuplicateKeys) for inner in _find_all_objects(attempt)):
        return Fault.DUPLICATE_KEY
    grades: dict[str, float] = {}
    words: dict[str, dict[str, str]] = {}
    for criterion in rubric.criteria:
        if criterion not in attempt:
            return Fault.MISSING_CRITERION
        judged = attempt[criterion]
        fields = rubric.fields.get(criterion, ())
        if _is_bare(judged):
            judged, fields = _unwrap_bare(judged), ()
        if not isinstance(judged, dict) or SCORE not in judged:
            return Fault.MISSING_FIELD
        if any(field not in judged for field in fields):
            return Fault.MISSING_FIELD
        score = _read_score(judged[SCORE])
        if score is None:
            return Fault.NOT_A_NUMBER
        if not rubric.scale.low <= score <= rubric.scale.high:
            return Fault.OUT_OF_RANGE
        grades[criterion] = score
        words[criterion] = {field: _write_text(judged[field]) for field in fields}
    return Verdict(grades, words)


def _is_bare(judged: object) -> bool:
    """Return whether a criterion's value is only a score: 5, "5", or an object without another key."""
    if isinstance(judged, dict):
        return judged.keys() == {SCORE}
    return isinstance(judged, int | float | str)


def _unwrap_bare(judged: object) -> dict[str, object]:
    """Return a bare score as an object."""
    return judged if isinstance(judged, dict) else {SCORE: judged}


def _read_score(value: object) -> float | None:
    """Return a score, which may be a number or the text of one; None for anything else, such as "4/5" or "4 or 5"."""
    if isinstance(value, str):
        return float(value) if _NUMBER.fullmatch(value.strip(" ")) else None
    # In Python a bool is an int.
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _write_text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode(
        "utf-8", "replace"
    ).decode()  # half a pair of surrogates cannot be written to a file


def _find_all_objects(value: object) -> Iterator[Mapping[str, Any]]:
    # A stack, because a reply can nest deeper than Python recurses.
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, Mapping):
            yield item
            stack.extend(item.values())
        elif isinstance(item, list):
            stack.extend(item)


def _is_quoted(attempt: _Attempt, rubric: Rubric, shown: ShownTexts, example: ShownTexts) -> bool:
    """Return whether an attempt is a quotation. Only its words can show that: a judge may give the same grades."""
    if isinstance(attempt, _Broken):
        return _is_broken_quotation(attempt, rubric, shown)
    letters = _count_word_letters(attempt, rubric)
    if letters and _stands_in(attempt, rubric, example):
        return True
    if letters < _OWN_WORDS and _lacks_words(attempt, rubric):
        # Grades alone could be copied from any text that states grades. Which grades it states must not matter:
        # otherwise an answer could list the low ones, so that only high ones would count.
        is_example = rubric.example is not None and _stands_in(attempt, rubric, example)
        return is_example or any(shown.states_number(name) for name in rubric.criteria)
    if letters < _OWN_WORDS:
        if isinstance(_check_object(attempt, rubric), Verdict):
            return False
        wording = " ".join(_list_words(attempt.get(criterion)) for criterion in rubric.criteria)
        if _count_letters_beside_names(wording, rubric) < _MIN_LETTERS:
            return False
    return _stands_in(attempt, rubric, shown)


def _lacks_words(attempt: Mapping[str, Any], rubric: Rubric) -> bool:
    """Return whether an object gives only a score for a criterion that should have words as well."""
    criteria_with_words = [name for name in rubric.criteria if rubric.fields.get(name)]
    return any(_is_bare(attempt.get(name)) for name in criteria_with_words)


def _is_broken_quotation(attempt: _Broken, rubric: Rubric, shown: ShownTexts) -> bool:
    for wording in (attempt.text, attempt.text + attempt.ahead):
        if _count_letters_beside_names(wording, rubric) >= _MIN_LETTERS and shown.holds(wording):
            return True
    return False


def _count_letters_beside_names(wording: str, rubric: Rubric) -> int:
    """Return the number of letters and digits, not counting the names of criteria and fields."""
    names = {squeeze(SCORE)}
    for criterion in rubric.criteria:
        names.add(squeeze(criterion))
        names.update(squeeze(field) for field in rubric.fields.get(criterion, ()))
    names.discard("")
    letters = squeeze(wording)
    # The longest first, since a name may contain another.
    for name in sorted(names, key=len, reverse=True):
        letters = letters.replace(name, "")
    return len(letters)


def _stands_in(attempt: Mapping[str, Any], rubric: Rubric, shown: ShownTexts) -> bool:
    """Return whether a text contains the object's words on every criterion, with the score before or after them."""
    for criterion in rubric.criteria:
        if criterion not in attempt:
            continue
        wordings = _list_wordings(attempt[criterion])
        if not any(shown.holds(f"{criterion} {wording}") for wording in wordings):
            return False
    return True


def _list_wordings(value: object) -> Iterator[str]:
    """Yield the words of a value in their own order, then with the score first, then with the score last.

    A bare score may be quoted with or without the key `score`.
    """
    yield _list_words(value)
    if _is_bare(value):
        bare = _unwrap_bare(value)
        yield _list_words(bare)
        yield _list_words(bare[SCORE])
        return
    if isinstance(value, dict) and SCORE in value:
        fields = {key: inner for key, inner in value.items() if key != SCORE}
        yield _list_words({SCORE: value[SCORE], **fields})
        yield _list_words({**fields, SCORE: value[SCORE]})


def _count_word_letters(attempt: _Attempt, rubric: Rubric) -> int:
    """Return the number of letters and digits in an object's words on the criteria."""
    if isinstance(attempt, _Broken):
        return 0
    words = (_list_words(attempt.get(criterion), texts_only=True) for criterion in rubric.criteria)
    return _count_letters_beside_names(" ".join(words), rubric)


def _list_words(value: object, *, texts_only: bool = False) -> str:
    """Return the content of a value, in order: its keys, texts and numbers, or its texts only."""
    words: list[str] = []
    stack: list[object] = [value]
    while stack:
        match stack.pop():
            case dict() as item:
                for key, inner in reversed(item.items()):
                    stack.append(inner)
                    if not texts_only:
                        stack.append(key)
            case list() as items:
                stack.extend(reversed(items))
            case str() as text:
                words.append(text)
            case _LongNumber() as number if not texts_only:
                words.append(number.digits)
            case scalar if not texts_only:
                words.append(json.dumps(scalar))
    return " ".join(words)
