"""Read the verdict in fields: a JSON object, elements, or lines of keys and values. Pure."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import (
    JsonList,
    JsonMember,
    JsonNode,
    JsonObject,
    JsonScalar,
    blank_objects,
    find_objects,
    iter_scalars,
)
from agent.reading.note_verdicts import patterns
from agent.reading.note_verdicts.claims import CONTRADICTION, NO_ERROR, SOME_ERROR, VerdictClaim
from agent.reading.note_verdicts.note import Sentences, look_up_sentence
from agent.reading.note_verdicts.text import find_in_text
from agent.reading.plain_answer import simplify

_KEYS_OF_ID = frozenset(
    {
        *("id", "sentence id", "error sentence", "error sentence id", "sentence", "line"),
        *("wrong sentence", "incorrect sentence", "error id", "sentence number"),
        *("error location", "wrong sentence id", "incorrect sentence id", "error line"),
        *("sentence index", "index", "error sentence number", "line number", "number"),
        *("location", "error in sentence", "erroneous sentence", "sentence with error"),
        *("altered sentence", "wrong id"),
    }
)  # fmt: skip
_KEYS_OF_FLAG = frozenset(
    {
        *("error", "error flag", "has error", "errors", "contains error", "flag", "is error"),
        *("error present", "error found", "error detected", "any error", "has errors"),
        *("note has error", "incorrect", "is incorrect", "note contains error"),
    }
)  # fmt: skip
_KEYS_OF_COUNT = frozenset(
    {
        "error count",
        "number of errors",
        "errors found",
        "num errors",
        "errors count",
        "total errors",
        "n errors",
    }
)
_KEYS_OF_CORRECTNESS = frozenset(
    {"correct", "is correct", "note correct", "note is correct", "all correct", "iscorrect"}
)
_KEYS_OF_ANSWER = frozenset(
    {
        *("answer", "verdict", "final answer", "output", "result", "response", "prediction"),
        *("label", "decision", "assessment", "conclusion", "status", "final verdict"),
        *("judgment", "judgement"),
    }
)  # fmt: skip
_KEYS_OF_CORRECTION = frozenset(
    {
        "corrected sentence",
        "correction",
        "corrected",
        "fix",
        "new",
        "corrected text",
        "replacement",
        "corrected version",
        "new sentence",
        "revised sentence",
    }
)
_TRUE = frozenset({"true", "yes", "1", "y", "ja", "sí", "present", "found"})
_FALSE = frozenset(
    {
        "false",
        "no",
        "0",
        "n",
        "none",
        "null",
        "na",
        "n/a",
        "nein",
        "absent",
        "no error",
        "no errors",
        "-1",
        "",
    }
)

# "key: value" at the beginning of a line, or in a list of such pairs.
_PAIR = re.compile(
    r"(?:^"
    r"|[{,;\[(])[ \t]{0,8}(?:[-*•+>][ \t]{1,3})?[*_`]{0,3}(?P<quote>[\"'`]?)"
    r"(?P<key>[A-Za-z][A-Za-z_ .-]{0,30}?)[\"'`]?[*_`]{0,3}[ \t]{0,3}(?:[:=]|(?<=(?i:id|ce|ne) )-(?= ))"
    r"\s{0,3}[*_`]{0,3}(?P<value>\"(?:[^\"\\\n]|\\.){0,1500}\"|'(?:[^'\\\n]|\\.){0,1500}'(?=[ \t]{0,3}[,;}\n]"
    r"|\Z)|[^\n,;}\]]{0,300})",
    re.MULTILINE,
)
_ELEMENT = re.compile(r"<(?P<key>[A-Za-z_]\w{0,30})>(?P<value>[^<]{0,1500})</(?P=key)>")
_WORD_GAP = re.compile(r"(?<=[a-z])(?=[A-Z])|[^A-Za-z]+")
_LEADING_NUMBER = re.compile(
    rf"[^\w-]{{0,3}}(?:{patterns.SENTENCE_WORD}\s)?(?:ids?\s)?#?(-1|\d{{1,4}}){patterns.NOT_AFTER}",
    re.IGNORECASE,
)


_Meaning = Literal["id", "flag", "count", "correctness", "answer", "correction"]
_LONGEST_KEY = 60  # characters
_FINE = frozenset({"ok", "okay", "fine", "right", "correct", "no error"})
_MEANINGS: dict[str, _Meaning] = {
    **dict.fromkeys(_KEYS_OF_ID, "id"),
    **dict.fromkeys(_KEYS_OF_FLAG, "flag"),
    **dict.fromkeys(_KEYS_OF_COUNT, "count"),
    **dict.fromkeys(_KEYS_OF_CORRECTNESS, "correctness"),
    **dict.fromkeys(_KEYS_OF_ANSWER, "answer"),
    **dict.fromkeys(_KEYS_OF_CORRECTION, "correction"),
}


def _look_up_meaning(key: str) -> _Meaning | None:
    """Return the meaning of a key such as `error_sentence_id` or `errorFlag`, or None if it is unknown."""
    return _look_up_short_key(key) if len(key) <= _LONGEST_KEY else None


@lru_cache(1_000)  # models repeat their keys in every answer
def _look_up_short_key(key: str) -> _Meaning | None:
    return _MEANINGS.get(" ".join(_WORD_GAP.sub(" ", key).lower().split()))


class _Field(NamedTuple):
    """A key with a value, which stand in the answer from `start` to `end`.

    Attributes:
        key: the key as it is written.
        value: the value, in its quotes if it is not JSON.
        is_quoted: whether the key is quoted, or the name of an element, as no word of a sentence is.
    """

    key: str
    value: str
    start: int
    end: int
    is_quoted: bool


class _Fields:
    """Collects what the fields of an answer state."""

    def __init__(self, sentences: Sentences) -> None:
        self._sentences = sentences
        self.flags: set[bool] = set()
        self.numbers: set[int] = set()
        self.answers: set[int] = set()
        self.names_no_sentence = False
        self.correction: bool | None = None
        self.spans: list[tuple[int, int]] = []

    def add(self, field: _Field) -> None:
        """Take what a field states, unless its key or value is unknown."""
        meaning = _look_up_meaning(field.key)
        if meaning is None:
            return
        text = field.value.strip(" \t*_`\r\n").strip("\"'").strip()
        if self._take(meaning, text, is_quoted=field.is_quoted):
            self.spans.append((field.start, field.end))

    def _take(self, meaning: _Meaning, text: str, *, is_quoted: bool) -> bool:
        """Take what a field states; return whether its value is known."""
        word = text.lower().rstrip(".")
        if meaning == "id":
            self._add_sentence(text, word)
            return True
        if meaning == "correction":
            self.correction = word not in _FALSE
            return True
        if meaning == "count" and word.isdigit():
            self.flags.add(int(word) > 0)
            return True
        if meaning in ("flag", "correctness") and (word in _TRUE or word in _FALSE):
            self.flags.add((word in _TRUE) == (meaning == "flag"))
            return True
        if meaning == "flag" and is_quoted and (number := _LEADING_NUMBER.match(text)):
            self.numbers.add(int(number[1]))
            return True
        return meaning == "answer" and is_quoted and self._add_answer(text)

    def _add_answer(self, text: str) -> bool:
        """Take the verdict in the value of a key that names the answer; return whether it states one."""
        claim = find_in_text(simplify(text), self._sentences)
        if claim is None:
            return False
        self.answers.add(claim.verdict)
        return True

    def _add_sentence(self, text: str, word: str) -> None:
        number = _LEADING_NUMBER.match(text)
        if number and int(number[1]) >= 0:
            self.numbers.add(int(number[1]))
        elif word in _FALSE:
            self.names_no_sentence = True
        elif patterns.CORRECT_LINE.fullmatch(text.strip(" .")):
            self.flags.add(False)
        else:
            found = look_up_sentence(text, self._sentences)
            if found is not None:
                self.numbers.add(found)

    def decide(self) -> int | None:
        """Return the verdict, CONTRADICTION, or None if no field states one."""
        verdicts = set(self.answers)
        has_correction = self.correction is True
        if len(self.flags) > 1:
            return CONTRADICTION
        if self.flags == {False}:
            if self.numbers or has_correction:
                return CONTRADICTION
            verdicts.add(NO_ERROR)
        elif self.numbers:
            if self.names_no_sentence:
                return CONTRADICTION
            verdicts.add(self.numbers.pop() if len(self.numbers) == 1 else SOME_ERROR)
        elif self.flags == {True}:
            verdicts.add(SOME_ERROR)
        elif self.names_no_sentence and not has_correction:
            verdicts.add(NO_ERROR)
        if len(verdicts) > 1:
            verdicts.discard(SOME_ERROR)
        if len(verdicts) > 1:
            return CONTRADICTION
        return verdicts.pop() if verdicts else None


def find_in_fields(answer: str, sentences: Sentences) -> VerdictClaim | None:
    """Return the verdict in the fields of a JSON object, elements, or lines of keys and values."""
    if not (":" in answer or "=" in answer or "</" in answer or " - " in answer):
        return None
    fields = _Fields(sentences)
    for field in _iter_fields(answer):
        fields.add(field)
    verdict = fields.decide()
    if verdict is None:
        return None
    if verdict >= 0 and sentences and verdict not in sentences:
        verdict = SOME_ERROR
    start = min(start for start, _ in fields.spans)
    end = max(end for _, end in fields.spans)
    return VerdictClaim(verdict, start, end, "field", True)


def _iter_fields(answer: str) -> Iterator[_Field]:
    """Yield the members of all JSON objects, then the pairs of key and value around them, then the elements."""
    around = answer
    if "{" in answer:
        try:
            objects = find_objects(answer)
        except EndlessTextError:
            return
        for found in _drop_correct_sentences(objects) or objects:
            yield from _iter_members(found)
        around = blank_objects(answer, objects)
    if around and not around.isspace():
        yield from _iter_pairs(answer, around)
    if "</" in answer:
        for match in _ELEMENT.finditer(answer):
            if match["key"].lower() not in ("answer", "final_answer"):
                end = match.end("value")
                yield _Field(match["key"], match["value"], match.start("key"), end, True)


def _iter_pairs(answer: str, around: str) -> Iterator[_Field]:
    """Yield the pairs of key and value around the objects of an answer."""
    for match in _PAIR.finditer(around):
        value = match["value"]
        if value != answer[match.start("value") : match.end("value")]:
            continue  # the value is an object
        if value == "[" and around.startswith("]", match.end("value")):
            value = ""
        is_quoted = bool(match["quote"] and match["value"])
        yield _Field(match["key"], value, match.start("key"), match.end("value"), is_quoted)


def _iter_members(node: JsonNode) -> Iterator[_Field]:
    """Yield the members of an object and of those within it; each element of a list is a value of its key."""
    if isinstance(node, JsonList):
        objects = [element for element in node.elements if isinstance(element, JsonObject)]
        if not any(_is_cut_off(found) for found in objects):
            for found in _drop_correct_sentences(objects):
                yield from _iter_members(found)
    elif isinstance(node, JsonObject):
        for member in node.members:
            if isinstance(member.value, JsonScalar):
                if not _is_missing(member.value):
                    yield _make_field(member, member.value)
            else:
                yield from _iter_elements(member)
                yield from _iter_members(member.value)


def _iter_elements(member: JsonMember) -> Iterator[_Field]:
    """Yield the scalars of a list under its key, and an empty list as no value."""
    if isinstance(member.value, JsonList) and not member.value.elements:
        yield _Field(member.key, "", member.start, member.value.end, member.is_quoted)
    for scalar in iter_scalars(member.value):
        if not _is_missing(scalar):
            yield _make_field(member, scalar)


def _make_field(member: JsonMember, scalar: JsonScalar) -> _Field:
    return _Field(member.key, scalar.text, member.start, scalar.outer_end, member.is_quoted)


def _is_missing(scalar: JsonScalar) -> bool:
    """Return whether the answer was cut off before a value, which is not the same as an empty string."""
    return not scalar.raw and not (scalar.quote and scalar.is_closed)


def _is_cut_off(found: JsonObject) -> bool:
    """Return whether a value of an object was cut off, so that the object may have gone on."""
    scalars = [member.value for member in found.members if isinstance(member.value, JsonScalar)]
    return any(not scalar.is_closed or _is_missing(scalar) for scalar in scalars)


def _drop_correct_sentences(objects: list[JsonObject]) -> list[JsonObject]:
    """Drop those of several objects that say that their own sentence is correct: {"id": 0, "status": "ok"}."""
    if len(objects) < 2:
        return objects
    return [found for found in objects if not _is_about_correct_sentence(found)]


def _is_about_correct_sentence(found: JsonObject) -> bool:
    has_number = False
    is_correct = False
    for member in found.members:
        if isinstance(member.value, JsonScalar):
            meaning = _look_up_meaning(member.key)
            word = member.value.text.strip().lower()
            has_number |= meaning == "id" and word.isdigit()
            is_correct |= meaning == "answer" and word in _FINE
            is_correct |= meaning == "flag" and word in _FALSE
            is_correct |= meaning == "correctness" and word in _TRUE
    return has_number and is_correct
