"""A judge's verdict, read strictly from its reply: every score that was asked for, in range, or what is wrong.

A judge is asked to put a mark into its verdict that nobody who wrote the texts can have known. The last object that
bears it is the verdict, whatever else the reply quotes. A judge that forgets it, or was never asked for it, is read by
what it says: its verdict is the last JSON object that names a criterion and whose words are not those of a text that
it was shown. Where only numbers tell several such objects apart, none of them counts, high or low: any grades can be
listed in an answer beforehand. Nothing is guessed, and nothing has a default.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import Any

from agent.jury.quotations import Shown, TooMuchError, squeezed
from agent.jury.rubric import SCORE, Rubric

MOST_CHARACTERS = 100_000  # of a reply; 4,096 tokens are fewer
_MOST_ATTEMPTS = 1_000
_MOST_NEAR = 100  # braces before a mark, of which one opens its object
_MOST_WORK = 2_000_000  # characters that attempts at reading objects may cost in all
_DEEP = 50_000  # what an attempt counts as that ended in too deep a nest
_SHOWN = 1_000  # characters of a nest that is too deep, by which it is found among the texts
_FEWEST_LETTERS = 8  # of a broken object, beside its names, below which it is no quotation
_AHEAD = 30  # characters after the error in a broken object, where its first words may stand
_OWN_WORDS = 16  # letters of a verdict's words, below which a text may hold them by foresight


class Fault(StrEnum):
    """Why a reply holds no valid verdict. Closed, so that it can be counted and shown."""

    NO_TEXT = "no_text"  # the reply is blank
    CUT_OFF = "cut_off"  # it ended at the limit of tokens, so that what stands in it need not be the judge's last word
    FILTERED = "filtered"  # the judge's server withheld it
    TOO_LONG = "too_long"  # more, or more entangled, than is read
    NO_VERDICT = "no_verdict"  # no well-formed JSON object that names a criterion
    QUOTED = "quoted"  # only objects that stand in what the judge was shown
    AMBIGUOUS = "ambiguous"  # several objects that differ, and neither a mark nor words to tell the judge's own by
    DUPLICATE_KEY = "duplicate_key"  # a key is given twice, so that two readers could read two verdicts
    MISSING_CRITERION = "missing_criterion"
    MISSING_FIELD = "missing_field"  # a criterion is no object, or lacks its score or another field
    NOT_A_NUMBER = "not_a_number"  # a score is a text, true, null, NaN or infinite
    OUT_OF_RANGE = "out_of_range"  # a score lies outside the scale


@dataclass(frozen=True, slots=True)
class Verdict:
    """A valid verdict: a grade for every criterion, and what the judge wrote beside it.

    Attributes:
        grades: criterion -> score on the jury's own scale, decimals kept.
        words: criterion -> field -> text, such as the explanation. It may quote the answer: text of a case.
    """

    grades: Mapping[str, float]
    words: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Broken:
    """What begins like an object and is none: its text up to the error, and what follows."""

    text: str
    ahead: str = ""


_Attempt = dict[str, Any] | _Broken


def read_verdict(reply: str, rubric: Rubric, shown: tuple[str, ...], marker: str = "") -> Verdict | Fault:
    """Read the verdict that a judge's `reply` holds, or say why there is none. Its time is bounded whatever is in it.

    Args:
        reply: the judge's text, without its separate reasoning.
        rubric: what a verdict must hold.
        shown: every text that the judge was shown: question, right answer, answer.
        marker: what the judge was asked to mark its verdict with; empty: nothing.
    """
    if not reply.strip():
        return Fault.NO_TEXT
    if len(reply) > MOST_CHARACTERS:
        return Fault.TOO_LONG
    said = _after_thought(reply)
    try:
        attempts = list(islice(_attempts(said, rubric), _MOST_ATTEMPTS + 1))
        if len(attempts) > _MOST_ATTEMPTS:
            raise TooMuchError
        if not attempts:
            return Fault.NO_VERDICT
        marked = [one for one in attempts if _bears(one, rubric, marker)] if marker else []
        return _given(marked[-1], rubric) if marked else _unmarked(attempts, rubric, shown)
    except TooMuchError:  # what bears its mark is found however entangled the rest is
        return _amid_clutter(said, rubric, marker) if marker else Fault.TOO_LONG


def _amid_clutter(said: str, rubric: Rubric, marker: str) -> Verdict | Fault:
    """Return the verdict around the last place of the mark in a text of which not every object can be read."""
    places = [found.start() for found in re.finditer(_mark(rubric, marker), said, re.IGNORECASE)]
    if not places:
        return Fault.TOO_LONG
    for opening in [found.start() for found in _BRACE.finditer(said, 0, places[-1] + 1)][: -_MOST_NEAR - 1 : -1]:
        try:
            value, end = _DECODER.raw_decode(said, opening)
        except (json.JSONDecodeError, RecursionError):
            continue
        if end > places[-1] and _bears(value, rubric, marker):
            return _checked(value, rubric)
    return Fault.NO_VERDICT


def _mark(rubric: Rubric, marker: str) -> str:
    """Return the pattern of the mark, whatever its spaces."""
    return rf'"{re.escape(rubric.mark)}"\s*:\s*"\s*{re.escape(marker)}\s*"'


def without_mark(reply: str, rubric: Rubric, marker: str) -> str:
    """Return a reply without the mark that its judge was asked for, for readers that know of no mark."""
    if not marker:
        return reply
    mark = _mark(rubric, marker)
    return re.sub(rf"{mark}\s*,\s*|,\s*{mark}", "", reply, flags=re.IGNORECASE)


def _bears(attempt: _Attempt, rubric: Rubric, marker: str) -> bool:
    if isinstance(attempt, _Broken):
        return marker.casefold() in attempt.text.casefold()
    mark = attempt.get(rubric.mark)
    return isinstance(mark, str) and mark.strip().casefold() == marker.casefold()


def _unmarked(attempts: list[_Attempt], rubric: Rubric, shown: tuple[str, ...]) -> Verdict | Fault:
    """Return the judge's last word among attempts of which none bears its mark."""
    said = Shown(shown)
    example = Shown([json.dumps(rubric.example, ensure_ascii=False)] if rubric.example else [])
    own = [one for one in attempts if not _is_quoted(one, rubric, said, example)]
    if not own:
        return Fault.QUOTED
    given = _given(own[-1], rubric)
    if isinstance(given, Fault) or _letters(own[-1], rubric) >= _OWN_WORDS:
        return given
    others = [_given(one, rubric) for one in own[:-1] if not isinstance(one, _Broken)]
    differ = any(isinstance(other, Fault) or other.grades != given.grades for other in others)
    return Fault.AMBIGUOUS if differ else given


def _given(attempt: _Attempt, rubric: Rubric) -> Verdict | Fault:
    return Fault.NO_VERDICT if isinstance(attempt, _Broken) else _checked(attempt, rubric)


def _after_thought(reply: str) -> str:
    """Return what follows the thought that a reply begins with, since a draft in it is no verdict."""
    if not reply.lstrip().startswith("<think>"):
        return reply
    return reply.partition("</think>")[2]


class _Twice(dict[str, Any]):
    """An object in which a key is given twice."""


class _LongNumber(float):
    """A number of many digits, which are those that it was written with."""

    def __new__(cls, digits: str) -> "_LongNumber":
        number = super().__new__(cls, digits)
        number.digits = digits
        return number

    digits: str


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    return built if len(built) == len(pairs) else _Twice(built)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=lambda digits: int(digits) if len(digits) < 20 else _LongNumber(digits),  # as int it would be refused
)


_BRACE = re.compile(r'\{\s*["}]')  # what may begin an object


def _attempts(text: str, rubric: Rubric) -> Iterator[_Attempt]:
    """Yield what may be meant as a verdict, in order: well-formed objects, and the text of broken ones."""
    names = "|".join(re.escape(json.dumps(name, ensure_ascii=False)) for name in (rubric.mark, *rubric.criteria))
    opening = re.compile(rf"\{{\s*(?:{names})\s*:")
    for value in _objects(text):
        if isinstance(value, _Broken):
            if opening.match(value.text):
                yield value
        else:
            yield from (inner for inner in _outermost(value, rubric))


def _objects(text: str) -> Iterator[_Attempt]:
    """Yield every outermost JSON object in `text`, and for each brace that opens none the text up to the error.

    Raises:
        TooMuchError: the text is so entangled that going on would take too long.
    """
    work, found = 0, _BRACE.search(text)
    while found:
        start = found.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as why:
            work += why.pos - start + why.pos // 50 + 50  # the error itself counts the lines before it
            end = start + 1
            yield _Broken(text[start : why.pos], text[why.pos : why.pos + _AHEAD])
        except RecursionError:
            work += _DEEP
            end = start + 1
            yield _Broken(text[start : start + _SHOWN])
        else:
            yield value
        if work > _MOST_WORK:
            raise TooMuchError
        found = _BRACE.search(text, end)


def _outermost(value: object, rubric: Rubric) -> Iterator[dict[str, Any]]:
    """Yield the objects in `value` that name a criterion and are not inside another that does, in order."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case dict() as found if any(criterion in found for criterion in rubric.criteria):
                yield found
            case dict() as found:
                waiting.extend(reversed(found.values()))
            case list() as found:
                waiting.extend(reversed(found))


def _checked(found: Mapping[str, Any], rubric: Rubric) -> Verdict | Fault:
    if any(isinstance(inner, _Twice) for inner in _all_objects(found)):
        return Fault.DUPLICATE_KEY
    grades: dict[str, float] = {}
    words: dict[str, dict[str, str]] = {}
    for criterion in rubric.criteria:
        if criterion not in found:
            return Fault.MISSING_CRITERION
        given = found[criterion]
        if not isinstance(given, dict) or SCORE not in given:
            return Fault.MISSING_FIELD
        fields = rubric.fields.get(criterion, ())
        if any(field not in given for field in fields):
            return Fault.MISSING_FIELD
        score = given[SCORE]
        if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
            return Fault.NOT_A_NUMBER
        if not rubric.scale.low <= score <= rubric.scale.high:
            return Fault.OUT_OF_RANGE
        grades[criterion] = float(score)
        words[criterion] = {field: _as_text(given[field]) for field in fields}
    return Verdict(grades, words)


def _as_text(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode()  # half a pair of surrogates could not be written anywhere


def _all_objects(value: object) -> Iterator[Mapping[str, Any]]:
    waiting = [value]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping):
            yield found
            waiting.extend(found.values())
        elif isinstance(found, list):
            waiting.extend(found)


def _is_quoted(attempt: _Attempt, rubric: Rubric, shown: Shown, example: Shown) -> bool:
    """Tell whether an attempt is a quotation. Only words can show it: what has none, or few, a judge may well mean."""
    if isinstance(attempt, _Broken):
        spans = (attempt.text, attempt.text + attempt.ahead)
        return any(_beside_names(span, rubric) >= _FEWEST_LETTERS and shown.holds(span) for span in spans)
    letters = _letters(attempt, rubric)
    if letters and _stands_in(attempt, rubric, example):
        return True
    if letters < _OWN_WORDS:
        said = " ".join(_spoken(attempt.get(criterion)) for criterion in rubric.criteria)
        if isinstance(_checked(attempt, rubric), Verdict) or _beside_names(said, rubric) < _FEWEST_LETTERS:
            return False
    return _stands_in(attempt, rubric, shown)


def _beside_names(said: str, rubric: Rubric) -> int:
    """Count letters and digits beside the names of criteria and fields."""
    names = {squeezed(name) for of in rubric.criteria for name in (of, *rubric.fields.get(of, ()), SCORE)} - {""}
    rest = squeezed(said)
    for name in sorted(names, key=len, reverse=True):
        rest = rest.replace(name, "")
    return len(rest)


def _stands_in(found: Mapping[str, Any], rubric: Rubric, shown: Shown) -> bool:
    """Tell whether a text holds what the object says of every criterion, whichever comes first of words and score."""
    return all(
        any(shown.holds(f"{criterion} {said}") for said in _readings(found[criterion]))
        for criterion in rubric.criteria
        if criterion in found
    )


def _readings(value: object) -> Iterator[str]:
    yield _spoken(value)
    if isinstance(value, dict) and SCORE in value:
        rest = {key: inner for key, inner in value.items() if key != SCORE}
        yield _spoken({SCORE: value[SCORE], **rest})
        yield _spoken({**rest, SCORE: value[SCORE]})


def _letters(found: _Attempt, rubric: Rubric) -> int:
    """Count the letters and digits of the words that an object says of the criteria."""
    if isinstance(found, _Broken):
        return 0
    words = (_spoken(found.get(criterion), words_alone=True) for criterion in rubric.criteria)
    return _beside_names(" ".join(words), rubric)


def _spoken(value: object, *, words_alone: bool = False) -> str:
    """Return what a value holds, in order: its keys, texts and numbers, or its texts alone."""
    said: list[str] = []
    waiting: list[object] = [value]
    while waiting:
        match waiting.pop():
            case dict() as found:
                for key, inner in reversed(found.items()):
                    waiting += (inner,) if words_alone else (inner, key)
            case list() as found:
                waiting.extend(reversed(found))
            case str() as text:
                said.append(text)
            case other if not words_alone:
                said.append(other.digits if isinstance(other, _LongNumber) else json.dumps(other))
    return " ".join(said)
