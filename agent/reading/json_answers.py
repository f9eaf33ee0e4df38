"""Find the answer in a JSON object that a model wrote: whole, in a code fence, broken, or cut off. Pure.

Only the value of a key that names the answer (`answer`, `answer_choice`, `final_answer`, ...) is read; every other key
holds reasoning. Broken means unescaped quotes and line breaks, single quotes, missing or trailing commas, a missing end
or a missing beginning. If several keys name the answer, their values must agree, and a list must have one element.
"""

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from agent.reading.json_decoding import EndlessTextError
from agent.reading.json_objects import (
    JsonList,
    JsonMember,
    JsonNode,
    JsonObject,
    JsonScalar,
    blank_objects,
    find_loose_members,
    find_objects,
    holds_member,
    read_object_in_string,
)
from agent.reading.reading import Reading
from agent.reading.statements import is_taken_back
from agent.reading.words import plain_words

JSON_FIELD = "JSON field"
RULES: dict[str, tuple[str, str]] = {
    JSON_FIELD: (
        "The answer is the value under the key answer, answer_choice, option, final_answer or a "
        "similar key of a JSON object; without one, under selected, chosen, pick, verdict, "
        "decision, response, output or content.",
        '{"step_by_step_thinking": "It is not A.", "answer_choice": "B"}',
    ),
}
"""The rule of this reader, with a description and an example."""

_QUALIFIERS = r"(?:the|my|your|model)?(?:final|correct|right|best|selected|chosen|predicted)?"
_NAMES = r"(?:answer|option|choice|label|letter|prediction|selection|respuesta|réponse|antwort|risposta|resposta)"
_DETAILS = r"(?:choice|option|letter|label|idx|index|text|key|id|value|correcta|finale?)?"
# Keys are compared in lower case, without spaces, hyphens and underscores.
_ANSWER_KEY = re.compile(rf"{_QUALIFIERS}{_NAMES}{_DETAILS}|finaldecision|答案|答え|정답")
# Keys that hold the answer of an object that has no such key: {"selected": "C"}, {"role": "assistant", "content": ...}.
_SECOND_KEYS = frozenset(
    {
        *("selected", "chosen", "picked", "pick", "mypick", "finalpick", "verdict", "finalverdict", "decision"),
        *("response", "result", "output", "final", "content", "completion"),
    }
)  # fmt: skip
# Keys within the value of an answer key: {"answer": {"letter": "C", "text": "Heparin"}}.
_KEYS_OF_VALUE = frozenset({"text", "value", "key", "id", "name", "content", "letter"})
# Keys whose value can be the object that holds the answer. An object under any other key is reasoning.
_WRAPPER_KEYS = frozenset(
    {
        *("response", "result", "results", "output", "data", "json", "arguments", "parameters", "input", "final"),
        *("function", "functioncall", "toolcalls", "toolinput", "answers", "content", "properties"),
    }
)  # fmt: skip
_ARGUMENT_KEYS = frozenset({"arguments", "parameters", "input", "toolinput"})

_MAX_LENGTH = 100_000  # characters; a longer answer is an endless repetition
_MAX_DEPTH = 20

_MEMBER_END = re.compile(r"[\"'”]\s*+:")
# A text that begins with such a key is an object without its beginning, and its value is reasoning.
_LOOSE_REASONING = re.compile(
    r"\s*+[\"“”](?:\w{1,30}[_\- ])?(?:think(?:ing)?|thoughts?|reason(?:s|ing)?|rationale|analysis|explanation)[\"“”]"
    r"\s*+:\s*+[\"“”]",
    re.IGNORECASE,
)
_NOTHING = frozenset({"", "null", "none", "n/a", "na", "nan", "undefined"})

V = TypeVar("V", bound=Hashable)


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """A part of an answer that may state it.

    Attributes:
        text: the part, without the escapes of JSON.
        start, end: its position in the answer.
    """

    text: str
    start: int
    end: int

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the answer of a span of `text`; the whole part if it contains escapes."""
        if len(self.text) != self.end - self.start:
            return self.start, self.end
        return self.start + start, self.start + end


def select_parts(answer: str, *, is_named_only: bool = False) -> tuple[AnswerPart, ...] | None:
    """Return the parts of an answer that may state it; None if it holds no JSON object and is read as a whole.

    If an object has a key that names the answer, the parts are the values of such keys; all that can be read must
    agree. Otherwise, the only part is the text around the objects. No part means that the answer cannot be read.

    Args:
        answer: the whole answer.
        is_named_only: whether keys such as `selected` and `response`, which hold the answer of an object that has no
            key that names it, do not count.
    """
    has_member = "{" in answer or _MEMBER_END.search(answer) is not None
    if not has_member or len(answer) > _MAX_LENGTH:
        return None
    try:
        objects = find_objects(answer)
        return _select_from(answer, objects, is_named_only) if objects else _select_loose(answer)
    except EndlessTextError:
        return ()


def _select_from(
    answer: str, objects: list[JsonObject], is_named_only: bool
) -> tuple[AnswerPart, ...] | None:
    parts: list[AnswerPart] = []
    is_named = False
    for found in objects:
        values = _find_answers(found, is_named_only)
        if values is None:
            continue
        is_named = True
        if not values:
            return ()
        parts += values
    if is_named:
        rest = answer[objects[-1].end :].lstrip()
        return () if is_taken_back(rest, 0) else tuple(parts)
    if not any(_looks_like_json(found) for found in objects):
        return None
    around = blank_objects(answer, objects)
    return (AnswerPart(around, 0, len(answer)),) if around.strip() else ()


def _select_loose(answer: str) -> tuple[AnswerPart, ...] | None:
    """Return the values of quoted keys that name the answer in a text without the beginning of an object.

    Without such a key, the result is None, or no part if the text begins with a key that holds reasoning.
    """
    parts: list[AnswerPart] = []
    for member in find_loose_members(answer):
        if not names_answer(member.key):
            continue
        for part in _read_value(member.value):
            if part is None:
                return ()
            parts.append(part)
    if parts:
        return tuple(parts)
    return () if _LOOSE_REASONING.match(answer) else None


def read_parts(answer: str, read: Callable[[str], V | None]) -> V | None:
    """Read an answer with a reader of plain text, which is shown only the parts that may state the answer."""
    parts = select_parts(answer)
    if parts is None:
        return read(answer)
    values = {value for part in parts if (value := read(part.text)) is not None}
    return values.pop() if len(values) == 1 else None


def read_json_answer(answer: str) -> Reading | None:
    """Read the value of the key that names the answer in a JSON object, or None if there is no single one."""
    parts = select_parts(answer, is_named_only=True)
    if not parts or (parts[0].start == 0 and parts[0].end == len(answer)):
        return None
    first = parts[0]
    if len({plain_words(part.text) for part in parts}) > 1:
        return None
    return Reading(first.text.strip(), first.start, first.end, JSON_FIELD)


def find_field(answer: str, field: str) -> AnswerPart | None:
    """Return the value of a field in the last object of an answer that has it, even if the object is broken."""
    if len(answer) > _MAX_LENGTH:
        return None
    try:
        objects = find_objects(answer)
    except EndlessTextError:
        return None
    for found in reversed(objects):
        for member in reversed(found.members):
            if member.key == field and isinstance(member.value, JsonScalar):
                is_null = not member.value.quote and member.value.raw == "null"
                return None if is_null else _read_scalar(member.value)
    return None


def _squash(key: str) -> str:
    """Return a key in lower case, without spaces, hyphens, underscores and emphasis."""
    return re.sub(r"[\s_\-*.:?#]+", "", key).lower()


def names_answer(key: str) -> bool:
    """Return whether a key of JSON names the answer, as `answer_choice` does."""
    return _ANSWER_KEY.fullmatch(_squash(key)) is not None


def _looks_like_json(found: JsonObject) -> bool:
    """Return whether an object has a quoted key, as a set or a formula in braces does not."""
    return any(member.is_quoted for member in found.members)


def _find_answers(found: JsonObject, is_named_only: bool) -> list[AnswerPart] | None:
    """Return the values of the keys that name the answer; none if they are unclear, None if there is no such key."""
    second: list[JsonMember] = []
    level = [found]
    for _ in range(_MAX_DEPTH):
        members = [member for node in level for member in node.members]
        named = [member for member in members if names_answer(member.key)]
        if named:
            return _read_all(named)
        if not is_named_only:
            second = second or [member for member in members if _holds_answer(member)]
        level = [inner for node in level for inner in _unwrap(node)]
    return _read_all(second) if second else None


def _holds_answer(member: JsonMember) -> bool:
    """Return whether a member may hold the answer of an object without a key that names it."""
    if _squash(member.key) not in _SECOND_KEYS:
        return False
    return isinstance(member.value, JsonScalar | JsonList) and not _holds_objects(member.value)


def _holds_objects(value: JsonNode) -> bool:
    if isinstance(value, JsonList):
        return any(isinstance(element, JsonObject) for element in value.elements)
    return isinstance(value, JsonScalar) and "{" in value.raw


def _read_all(members: list[JsonMember]) -> list[AnswerPart]:
    """Return the texts that the values of members state; none if one of them is unclear."""
    parts: list[AnswerPart] = []
    for member in members:
        for part in _read_value(member.value):
            if part is None:
                return []
            parts.append(part)
    return parts


def _unwrap(found: JsonObject) -> Iterator[JsonObject]:
    """Yield the objects within an object that may hold the answer."""
    for member in found.members:
        key = _squash(member.key)
        if key not in _WRAPPER_KEYS and len(found.members) > 1:
            continue
        if isinstance(member.value, JsonScalar):
            arguments = read_object_in_string(member.value) if key in _ARGUMENT_KEYS else None
            if arguments is not None:
                yield arguments
            continue
        elements = member.value.elements if isinstance(member.value, JsonList) else (member.value,)
        for element in elements:
            if isinstance(element, JsonObject):
                yield element


def _read_value(value: JsonNode) -> Iterator[AnswerPart | None]:
    """Yield the texts that a value states; None if it states several or none."""
    if isinstance(value, JsonScalar):
        part = _read_scalar(value)
        yield part if part is not None and _squash(part.text) not in _NOTHING else None
    elif isinstance(value, JsonList):
        if len(value.elements) == 1:
            yield from _read_value(value.elements[0])
        else:
            yield None
    else:
        named = [
            member
            for member in value.members
            if names_answer(member.key) or _squash(member.key) in _KEYS_OF_VALUE
        ]
        for member in named:
            yield from _read_value(member.value)
        if not named:
            yield None


def _read_scalar(scalar: JsonScalar) -> AnswerPart | None:
    """Return the text of a scalar, or None if it is a string that swallowed a further key."""
    if scalar.quote and holds_member(scalar.raw):
        return None
    return AnswerPart(scalar.text, scalar.start, scalar.end)
