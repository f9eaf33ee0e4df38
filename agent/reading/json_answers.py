"""Find the answer in a JSON object that a model wrote: whole, in a code fence, broken, or cut off. Pure.

Only the value of a key that names the answer (`answer`, `answer_choice`, `final_answer`, ...) is read; every other key
holds reasoning. Broken means unescaped quotes and line breaks, single quotes, missing or trailing commas, a missing end
or a missing beginning. If several keys name the answer, their values must agree, and a list must have one element.
"""

import json
import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

from agent.reading.reading import Reading
from agent.reading.statements import is_taken_back
from agent.reading.words import plain_words

JSON_FIELD = "JSON field"
RULES: dict[str, tuple[str, str]] = {
    JSON_FIELD: (
        "The answer is the value under the key answer, answer_choice, option, final_answer or a "
        "similar key of a JSON object.",
        '{"step_by_step_thinking": "It is not A.", "answer_choice": "B"}',
    ),
}
"""The rule of this reader, with a description and an example."""

_QUALIFIERS = r"(?:the|my|your|model)?(?:final|correct|right|best|selected|chosen|predicted)?"
_NAMES = r"(?:answer|option|choice|label|letter|prediction|selection|respuesta|réponse|antwort|risposta|resposta)"
_DETAILS = r"(?:choice|option|letter|label|idx|index|text|key|id|value|correcta|finale?)?"
# Keys are compared in lower case, without spaces, hyphens and underscores.
_ANSWER_KEY = re.compile(rf"{_QUALIFIERS}{_NAMES}{_DETAILS}|finaldecision|答案|答え|정답")
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
_MAX_OBJECTS = 100
_MAX_DEPTH = 20
_MAX_MEMBERS = 1_000
_MAX_STEPS = 30_000

_SPACE = r"[\s]*+"
_OBJECT = re.compile(r"\{[\s]*+(?:\\?[\"'“”]|\w{1,40}[\s]*+:)")
_SEPARATORS = re.compile(r"[\s,;]*+")
_SKIPPED = re.compile(_SPACE)
_COLON = re.compile(rf"{_SPACE}(?::|=>|=){_SPACE}")
_BARE_KEY = re.compile(r"\w[\w \-]{0,60}(?=[\s]*+:)")
_BARE_VALUE = re.compile(r"[^,}\]\n]{0,500}")
_TO_QUOTE = {
    '"': re.compile(r'(?:[^"\\]|\\.)*+', re.DOTALL),
    "'": re.compile(r"(?:[^'\\]|\\.)*+", re.DOTALL),
}
_NEXT_KEY = rf"(?:\"[^\"\n]{{1,60}}+\"|'[^'\n]{{1,60}}+'|\w{{1,40}}+){_SPACE}:"
# What follows the quote that ends a value in an object, or an element of a list.
_AFTER_VALUE = re.compile(rf"{_SPACE}(?:\}}|```|\Z|,{_SPACE}(?:\}}|\Z|{_NEXT_KEY})|{_NEXT_KEY})")
_AFTER_ELEMENT = re.compile(rf"{_SPACE}(?:\]|,|\Z)")
_LATER_KEY = re.compile(rf"[\"'][^\"'\n]{{1,60}}+[\"']{_SPACE}:")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}
_FENCE = re.compile(r"```[\w]{0,20}")
_QUOTED_KEY = re.compile(rf"[\"']([^\"'\n]{{1,60}}+)[\"']{_SPACE}:{_SPACE}(?=[\"'\[\w])")
_MEMBER = re.compile(rf"[\"'”]{_SPACE}:")
_SMART_QUOTES = str.maketrans("“”„‟", '""""')
# A text that begins with such a key is an object without its beginning, and its value is reasoning.
_LOOSE_REASONING = re.compile(
    rf"{_SPACE}\"(?:\w{{1,30}}[_\- ])?(?:think(?:ing)?|thoughts?|reason(?:s|ing)?|rationale|analysis|explanation)\""
    rf"{_SPACE}:{_SPACE}\"",
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


@dataclass(frozen=True, slots=True)
class _Value:
    """A string, number or bare word, without its quotes, and its position."""

    start: int
    end: int
    is_string: bool


@dataclass(frozen=True, slots=True)
class _List:
    elements: "tuple[_Node, ...]"


@dataclass(frozen=True, slots=True)
class _Object:
    members: "tuple[_Member, ...]"


@dataclass(frozen=True, slots=True)
class _Member:
    key: str
    key_span: tuple[int, int]
    value: "_Node"


_Node = _Value | _List | _Object


@dataclass(frozen=True, slots=True)
class _Written:
    """An object that stands in the answer from `start` to `end`."""

    start: int
    end: int
    tree: _Object
    text: str  # the answer as it was read; of the same length


def select_parts(answer: str) -> tuple[AnswerPart, ...] | None:
    """Return the parts of an answer that may state it; None if it holds no JSON object and is read as a whole.

    If an object has a key that names the answer, the parts are the values of such keys; all that can be read must
    agree. Otherwise, the only part is the text around the objects. No part means that the answer cannot be read.
    """
    has_member = "{" in answer or _MEMBER.search(answer) is not None
    if not has_member or len(answer) > _MAX_LENGTH:
        return None
    try:
        return _select_parts(answer)
    except _EndlessError:
        return ()


def _select_parts(answer: str) -> tuple[AnswerPart, ...] | None:
    work = _Work()
    objects = _find_objects(answer, work)
    if not objects:
        return _find_loose_members(answer, work)
    parts: list[AnswerPart] = []
    is_named = False
    for written in objects:
        values = _find_answers(written, work)
        if values is None:
            continue
        is_named = True
        if not values:
            return ()
        parts += values
    if is_named:
        return () if is_taken_back(answer, objects[-1].end) else tuple(parts)
    if not any(_looks_like_json(written) for written in objects):
        return None
    around = _blank_objects(answer, objects)
    return (AnswerPart(around, 0, len(answer)),) if around.strip() else ()


def read_parts(answer: str, read: Callable[[str], V | None]) -> V | None:
    """Read an answer with a reader of plain text, which is shown only the parts that may state the answer."""
    parts = select_parts(answer)
    if parts is None:
        return read(answer)
    values = {value for part in parts if (value := read(part.text)) is not None}
    return values.pop() if len(values) == 1 else None


def read_json_answer(answer: str) -> Reading | None:
    """Read the value of the key that names the answer in a JSON object, or None if there is no single one."""
    parts = select_parts(answer)
    if not parts or (parts[0].start == 0 and parts[0].end == len(answer)):
        return None
    first = parts[0]
    if len({plain_words(part.text) for part in parts}) > 1:
        return None
    return Reading(first.text.strip(), first.start, first.end, JSON_FIELD)


def find_field(answer: str, field: str) -> str | None:
    """Return the value of a field in the last object of an answer that has it, even if the object is broken."""
    if len(answer) > _MAX_LENGTH:
        return None
    try:
        objects = _find_objects(answer, _Work())
    except _EndlessError:
        return None
    for written in reversed(objects):
        for member in reversed(written.tree.members):
            if member.key == field and isinstance(member.value, _Value):
                part = _read_value(member.value, written)
                is_null = not member.value.is_string and part is not None and part.text == "null"
                return None if part is None or is_null else part.text
    return None


class _EndlessError(Exception):
    """Reading a text would take too long, because it repeats the beginnings of objects or strings."""


class _Work:
    """Counts the steps of reading a text, and ends it if they are too many."""

    def __init__(self) -> None:
        self._steps = 0

    def add(self, characters: int) -> None:
        """Count one step that reads some characters.

        Raises:
            _EndlessError: there were too many.
        """
        self._steps += 1 + characters // 100
        if self._steps > _MAX_STEPS:
            raise _EndlessError


def _find_objects(answer: str, work: _Work) -> list[_Written]:
    """Return the JSON objects in an answer, in order.

    Raises:
        _EndlessError: there are too many to read, so that the rest might state another answer.
    """
    objects: list[_Written] = []
    position = 0
    tried = 0
    while opening := _OBJECT.search(answer, position):
        tried += 1
        if tried > _MAX_OBJECTS:
            raise _EndlessError
        position = opening.start() + 1
        start = opening.start()
        written = _read_strictly(answer, start, work) or _read_broken(answer, start, work)
        if written is not None and written.tree.members:
            objects.append(written)
            position = max(position, written.end)
    return objects


def _read_strictly(answer: str, start: int, work: _Work) -> _Written | None:
    """Read well-formed JSON, except that strings may contain line breaks."""
    try:
        value, end = _DECODER.raw_decode(answer, start)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    scanned = _Scanner(answer[:end], work, is_strict=True).read_object(start, 0)
    if scanned is None:
        return None
    tree, _ = scanned
    return _Written(start, end, tree, answer)


_DECODER = json.JSONDecoder(strict=False)


def _read_broken(answer: str, start: int, work: _Work) -> _Written | None:
    text = answer[:start] + answer[start:].translate(_SMART_QUOTES)
    if text.startswith('\\"', _SKIPPED.match(text, start + 1).end()):  # type: ignore[union-attr]
        # The whole object was written as a JSON string.
        text = text[:start] + text[start:].replace('\\"', ' "')
    scanned = _Scanner(text, work, is_strict=False).read_object(start, 0)
    if scanned is None:
        return None
    tree, end = scanned
    return _Written(start, end, tree, text)


class _Scanner:
    """Reads an object with the positions of its keys and values."""

    def __init__(self, text: str, work: _Work, *, is_strict: bool) -> None:
        self._text = text
        self._work = work
        self._is_strict = is_strict

    def read_object(self, start: int, depth: int) -> tuple[_Object, int] | None:
        """Read the object at `start`; return it with its end, or None if it is nested too deeply."""
        if depth > _MAX_DEPTH:
            return None
        members: list[_Member] = []
        position = start + 1
        while len(members) < _MAX_MEMBERS:
            position = self._skip(_SEPARATORS, position)
            if position >= len(self._text):
                break
            if self._text[position] == "}":
                return _Object(tuple(members)), position + 1
            key = self._read_key(position)
            if key is None:
                next_position = self._find_next_member(position)
                if next_position is None:
                    end = self._text.find("}", position)
                    return _Object(tuple(members)), end + 1 if end >= 0 else len(self._text)
                position = next_position
                continue
            key_span, position = key
            value = self.read_value(position, depth)
            if value is None:
                return None
            node, position = value
            members.append(_Member(self._text[slice(*key_span)], key_span, node))
        return _Object(tuple(members)), position

    def _skip(self, pattern: re.Pattern[str], position: int) -> int:
        match = pattern.match(self._text, position)
        return position if match is None else match.end()

    def _read_key(self, position: int) -> tuple[tuple[int, int], int] | None:
        """Return the span of the key at a position and the position of its value; None if there is no key."""
        if self._text[position] in _TO_QUOTE:
            closing = _TO_QUOTE[self._text[position]].match(self._text, position + 1)
            span = (position + 1, closing.end() if closing else position + 1)
            after = span[1] + 1
        else:
            bare = _BARE_KEY.match(self._text, position)
            if bare is None:
                return None
            span = bare.span()
            after = span[1]
        colon = _COLON.match(self._text, after)
        return None if colon is None else (span, colon.end())

    def _find_next_member(self, position: int) -> int | None:
        """Return the position of the next key after text that is no member."""
        end = self._text.find("}", position)
        later = _LATER_KEY.search(self._text, position + 1, end if end >= 0 else len(self._text))
        self._work.add((end if end >= 0 else len(self._text)) - position)
        return None if later is None else later.start()

    def read_value(
        self, position: int, depth: int = 0, after: re.Pattern[str] = _AFTER_VALUE
    ) -> tuple[_Node, int] | None:
        """Read a value; return it with its end, or None if it is nested too deeply."""
        first = self._text[position : position + 1]
        if first == "{":
            return self.read_object(position, depth + 1)
        if first == "[":
            return self._read_list(position, depth + 1)
        if first in _TO_QUOTE:
            end = self._find_closing_quote(position, after)
            return _Value(position + 1, end, is_string=True), min(end + 1, len(self._text))
        bare = _BARE_VALUE.match(self._text, position)
        end = bare.end() if bare else position
        written = self._text[position:end].rstrip()
        return _Value(position, position + len(written), is_string=False), end

    def _read_list(self, start: int, depth: int) -> tuple[_List, int] | None:
        if depth > _MAX_DEPTH:
            return None
        elements: list[_Node] = []
        position = start + 1
        while len(elements) < _MAX_MEMBERS:
            position = self._skip(_SEPARATORS, position)
            if position >= len(self._text) or self._text[position] in "]}":
                break
            element = self.read_value(position, depth, _AFTER_ELEMENT)
            if element is None:
                return None
            node, end = element
            elements.append(node)
            if end == position:
                break
            position = end
        return _List(tuple(elements)), min(position + 1, len(self._text))

    def _find_closing_quote(self, start: int, after: re.Pattern[str]) -> int:
        """Return the position of the quote that ends the string at `start`, or the end of the text if it is cut off.

        In broken JSON, a quote ends a string only if the next key or the end of the object or list follows.
        """
        to_quote = _TO_QUOTE[self._text[start]]
        first_end = -1
        position = start + 1
        while (match := to_quote.match(self._text, position)) and match.end() < len(self._text):
            end = match.end()
            self._work.add(end - position)
            if self._text[end] == "\\":  # a backslash is the last character
                break
            if self._is_strict or after.match(self._text, end + 1):
                return end
            first_end = end if first_end < 0 else first_end
            position = end + 1
        return len(self._text) if first_end < 0 else first_end


def _squash(key: str) -> str:
    """Return a key in lower case, without spaces, hyphens, underscores and emphasis."""
    return re.sub(r"[\s_\-*.:?#]+", "", key).lower()


def names_answer(key: str) -> bool:
    """Return whether a key of JSON names the answer, as `answer_choice` does."""
    return _ANSWER_KEY.fullmatch(_squash(key)) is not None


def _looks_like_json(written: _Written) -> bool:
    """Return whether an object has a quoted key, as a set or a formula in braces does not."""
    return any(written.text[member.key_span[0] - 1] in "\"'" for member in written.tree.members)


def _find_answers(written: _Written, work: _Work) -> list[AnswerPart] | None:
    """Return the values of the keys that name the answer; none if they are unclear, None if there is no such key."""
    level = [written]
    for _ in range(_MAX_DEPTH):
        parts: list[AnswerPart] = []
        is_named = False
        for node in level:
            for member in node.tree.members:
                if not names_answer(member.key):
                    continue
                is_named = True
                for part in _read_node(member.value, node):
                    if part is None:
                        return []
                    parts.append(part)
        if is_named:
            return parts
        level = [inner for node in level for inner in _unwrap(node, work)]
    return None


def _unwrap(written: _Written, work: _Work) -> Iterator[_Written]:
    """Yield the objects within an object that may hold the answer."""
    members = written.tree.members
    for member in members:
        key = _squash(member.key)
        if key not in _WRAPPER_KEYS and len(members) > 1:
            continue
        if isinstance(member.value, _Value):
            if key in _ARGUMENT_KEYS:
                yield from _read_arguments(member.value, written, work)
            continue
        elements = member.value.elements if isinstance(member.value, _List) else (member.value,)
        for element in elements:
            if isinstance(element, _Object):
                yield replace(written, tree=element)


def _read_arguments(value: _Value, written: _Written, work: _Work) -> Iterator[_Written]:
    """Read the arguments of a call of a tool, which are JSON in a string."""
    inside = written.text[value.start : value.end].replace('\\"', ' "')
    if inside.startswith("{"):
        text = written.text[: value.start] + inside
        scanned = _Scanner(text, work, is_strict=False).read_object(value.start, 1)
        if scanned is not None:
            yield _Written(value.start, value.end, scanned[0], text)


def _read_node(node: _Node, written: _Written) -> Iterator[AnswerPart | None]:
    """Yield the texts that a value states; None if it states several or none."""
    if isinstance(node, _Value):
        part = _read_value(node, written)
        yield part if part is not None and _squash(part.text) not in _NOTHING else None
    elif isinstance(node, _List):
        if len(node.elements) == 1:
            yield from _read_node(node.elements[0], written)
        else:
            yield None
    else:
        named = [
            member
            for member in node.members
            if names_answer(member.key) or _squash(member.key) in _KEYS_OF_VALUE
        ]
        for member in named:
            yield from _read_node(member.value, written)
        if not named:
            yield None


def _read_value(value: _Value, written: _Written) -> AnswerPart | None:
    start, end = value.start, value.end
    raw = written.text[start:end]
    if value.is_string and _QUOTED_KEY.search(raw):
        return None  # a further key was swallowed
    if "\\" not in raw:
        return AnswerPart(raw, start, end)
    return AnswerPart(_ESCAPE.sub(_replace_escape, raw), start, end)


def _replace_escape(match: re.Match[str]) -> str:
    if match[1]:
        return chr(int(match[1], 16)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _ESCAPED.get(match[2], match[2])


def _find_loose_members(answer: str, work: _Work) -> tuple[AnswerPart, ...] | None:
    """Return the values of quoted keys that name the answer in a text without the beginning of an object.

    Without such a key, the result is None, or no part if the text begins with a key that holds reasoning.
    """
    text = answer.translate(_SMART_QUOTES)
    scanner = _Scanner(text, work, is_strict=False)
    whole = _Written(0, len(text), _Object(()), text)
    parts: list[AnswerPart] = []
    for key in _QUOTED_KEY.finditer(text):
        if not names_answer(key[1]):
            continue
        scanned = scanner.read_value(key.end())
        values = [None] if scanned is None else list(_read_node(scanned[0], whole))
        if None in values:
            return ()
        parts += [value for value in values if value is not None]
    if parts:
        return tuple(parts)
    return () if _LOOSE_REASONING.match(text) else None


def _blank_objects(answer: str, objects: list[_Written]) -> str:
    """Replace objects, and the fences around them, by spaces."""
    pieces = []
    position = 0
    for written in objects:
        pieces.append(_blank_fences(answer[position : written.start]))
        pieces.append("\n".ljust(written.end - written.start))
        position = written.end
    pieces.append(_blank_fences(answer[position:]))
    return "".join(pieces)


def _blank_fences(text: str) -> str:
    return _FENCE.sub(lambda fence: " " * len(fence[0]), text)
