"""A judge's verdict, read strictly from its reply: every score that was asked for, in range, or what is wrong.

A verdict is the last JSON object in the reply that names a criterion; prose and code fences around it are passed over,
and so is a thought that the reply begins with. What the judge only quotes is no verdict: an object that stands in the
answer, however it is spaced or escaped, or the example of the jury's own prompt. Nothing is guessed, and nothing has a
default.
"""

import hashlib
import html
import json
import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import islice
from typing import Any

from agent.jury.rubric import SCORE, Rubric

_MOST_CHARACTERS = 400_000  # of a reply; 4,096 tokens are far fewer
_MOST_ATTEMPTS = 1_000
_MOST_WORK = 2_000_000  # characters that attempts at reading objects may cost in all
_DEEP = 50_000  # what an attempt counts as that ended in too deep a nest
_SHOWN = 1_000  # characters of a nest that is too deep, by which it is found in the answer
_FEWEST_WORDS = 8  # letters and digits of a verdict's words, below which only an equal object is a quotation


class Fault(StrEnum):
    """Why a reply holds no valid verdict. Closed, so that it can be counted and shown."""

    NO_TEXT = "no_text"  # the reply is blank
    CUT_OFF = "cut_off"  # it ended at the limit of tokens, so that what stands in it need not be the judge's last word
    FILTERED = "filtered"  # the judge's server withheld it
    TOO_LONG = "too_long"  # more, or more entangled, than is read
    NO_VERDICT = "no_verdict"  # no well-formed JSON object that names a criterion
    QUOTED = "quoted"  # only objects that stand in the answer or in the prompt
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


def read_verdict(reply: str, rubric: Rubric, answer: str) -> Verdict | Fault:
    """Read the verdict that a judge's `reply` holds, or say why there is none. Its time is bounded whatever is in it.

    Args:
        reply: the judge's text, without its separate reasoning.
        rubric: what a verdict must hold.
        answer: what was judged, as its model gave it.
    """
    if not reply.strip():
        return Fault.NO_TEXT
    if len(reply) > _MOST_CHARACTERS:
        return Fault.TOO_LONG
    said = _after_thought(reply)
    try:
        attempts = list(islice(_attempts(said, rubric), _MOST_ATTEMPTS + 1))
    except _TooMuchError:
        return Fault.TOO_LONG
    if len(attempts) > _MOST_ATTEMPTS:
        return Fault.TOO_LONG
    if not attempts:
        return Fault.NO_VERDICT
    source = _Source(answer)
    for attempt in reversed(attempts):
        if isinstance(attempt, str):
            if not source.holds_text(attempt):
                return Fault.NO_VERDICT
        elif not source.holds_object(attempt) and not _is_example(attempt, rubric):
            return _checked(attempt, rubric)
    return Fault.QUOTED


def _after_thought(reply: str) -> str:
    """Return what follows the thought that a reply begins with, since a draft in it is no verdict."""
    if not reply.lstrip().startswith("<think>"):
        return reply
    return reply.partition("</think>")[2]


class _TooMuchError(Exception):
    """Reading would take too long."""


class _Twice(dict[str, Any]):
    """An object in which a key is given twice."""


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    built = dict(pairs)
    return built if len(built) == len(pairs) else _Twice(built)


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_int=lambda digits: int(digits) if len(digits) < 20 else float(digits),  # a long one would be refused
)


_BRACE = re.compile(r'\{\s*["}]')  # what may begin an object


def _attempts(text: str, rubric: Rubric) -> Iterator[dict[str, Any] | str]:
    """Yield what may be meant as a verdict, in order: well-formed objects, and the text of broken ones."""
    names = "|".join(re.escape(json.dumps(name, ensure_ascii=False)) for name in rubric.criteria)
    opening = re.compile(rf"\{{\s*(?:{names})\s*:")
    for value in _objects(text):
        if isinstance(value, str):
            if opening.match(value):
                yield value
        else:
            yield from (inner for inner in _outermost(value, rubric))


def _objects(text: str) -> Iterator[dict[str, Any] | str]:
    """Yield every outermost JSON object in `text`, and for each brace that opens none the text up to the error.

    Raises:
        _TooMuchError: the text is so entangled that going on would take too long.
    """
    work, found = 0, _BRACE.search(text)
    while found:
        start = found.start()
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as why:
            work += why.pos - start + why.pos // 50 + 50  # the error itself counts the lines before it
            end = start + 1
            yield text[start : why.pos]
        except RecursionError:
            work += _DEEP
            end = start + 1
            yield text[start : start + _SHOWN]
        else:
            yield value
        if work > _MOST_WORK:
            raise _TooMuchError
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


def _is_example(found: Mapping[str, Any], rubric: Rubric) -> bool:
    """Tell whether a judge copied the example. One without words is what a judge may well mean, so it counts."""
    example = rubric.example
    has_words = example is not None and any(isinstance(v, dict) and set(v) - {SCORE} for v in example.values())
    return has_words and _digests(found)[-1] == _digests(example)[-1]


class _Source:
    """The answer, as what a judge may quote from. Worked out only when it is asked."""

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def holds_object(self, found: Mapping[str, Any]) -> bool:
        """Tell whether the object stands in the answer, whatever its spaces, escapes or order of keys."""
        words = _squeezed(_spoken(found, keys=False))
        said = _squeezed(_spoken(found, keys=True))
        if len(words) >= _FEWEST_WORDS and any(said in text for text in self._texts):
            return True
        return _digests(found)[-1] in self._objects

    def holds_text(self, text: str) -> bool:
        """Tell whether the text stands in the answer, whatever its spaces and signs."""
        return any(_squeezed(text) in known for known in self._texts)

    @cached_property
    def _readings(self) -> list[str]:
        once = _unescaped(self._answer)
        return list(dict.fromkeys((self._answer, once, _unescaped(once), html.unescape(self._answer))))

    @cached_property
    def _texts(self) -> list[str]:
        return [_squeezed(reading) for reading in self._readings]

    @cached_property
    def _objects(self) -> set[bytes]:
        known: set[bytes] = set()
        for reading in self._readings:
            try:
                for value in _objects(reading):
                    known.update(_digests(value) if isinstance(value, dict) else ())
            except _TooMuchError:
                continue  # what was found until here is known, and all of it as text
        return known


_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _ESCAPED.get(m[2], m[2]), text)


def _squeezed(text: str) -> str:
    """Return letters and digits alone, in one case."""
    return re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())


def _spoken(value: object, *, keys: bool) -> str:
    """Return what an object holds, in order: its keys, texts and numbers, or its texts alone."""
    said: list[str] = []
    waiting: list[object] = [value]
    while waiting:
        match waiting.pop():
            case dict() as found:
                for key, inner in reversed(found.items()):
                    waiting.append(inner)
                    if keys:
                        waiting.append(key)
            case list() as found:
                waiting.extend(reversed(found))
            case str() as text:
                said.append(text)
            case other if keys:
                said.append(json.dumps(other))
    return " ".join(said)


def _digests(value: object) -> list[bytes]:
    """Return a digest of every list and object in `value` and of itself, which comes last.

    It is the same for equal objects, whatever their order of keys, the signs and spaces in texts, and 5 or 5.0.
    """
    done: dict[int, bytes] = {}
    digests: list[bytes] = []
    waiting: list[tuple[object, bool]] = [(value, False)]
    while waiting:
        found, opened = waiting.pop()
        if isinstance(found, dict | list) and not opened:
            waiting.append((found, True))
            waiting.extend((inner, False) for inner in (found.values() if isinstance(found, dict) else found))
            continue
        match found:
            case dict():
                parts = sorted(
                    _hash(_squeezed(key).encode("utf-8", "replace")) + done[id(inner)] for key, inner in found.items()
                )
                digest = _hash(b"map" + b"".join(parts))
            case list():
                digest = _hash(b"list" + b"".join(done[id(inner)] for inner in found))
            case bool() | None:
                digest = _hash(f"word {found}".encode())
            case int() | float():
                digest = _hash(f"number {float(found)}".encode())
            case _:
                digest = _hash(b"text " + _squeezed(str(found)).encode("utf-8", "replace"))
        done[id(found)] = digest
        if opened or found is value:
            digests.append(digest)
    return digests


def _hash(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()
