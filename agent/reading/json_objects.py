"""Find the JSON objects in a text that a model wrote: whole, in a code fence, in prose, broken, or cut off. Pure.

`find_objects` returns the objects with the place of every key and value. Well-formed JSON is read strictly, except that
strings may contain line breaks. Anything else is read as its author meant it: with unescaped quotes, single, triple or
curly quotes, bare keys, missing or trailing commas, or without its end. Keys and values of an object whose beginning is
missing are loose members.

Models repeat the beginnings of objects and strings endlessly, so every search ends at a limit.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agent.reading.json_decoding import (
    LENIENT,
    DecodedObject,
    EndlessTextError,
    decode_at,
    decode_objects,
)

_MAX_OBJECTS = 100  # in a text; `find_well_formed_objects` has no such limit
_MAX_DEPTH = 100
_MAX_MEMBERS = 1_000  # of one broken object or list
_MAX_STEPS = 30_000  # of reading the broken objects of a text
_SHORTEST_MEMBER = 5  # characters: "a":1

# --- Well-formed JSON

_OPENING = re.compile(r"\{\s*+\"")
_CHARACTERS = r"[^\"\\]*+(?:\\.[^\"\\]*+)*+"
_SCALAR = rf"(?:\"(?P<string>{_CHARACTERS})\"|(?P<bare>[^\s\"{{}}\[\],]++))?"
# The value of a member or element is missing where an object or list begins.
_MEMBER = re.compile(rf"[\s,]*+\"(?P<key>{_CHARACTERS})\"\s*+:\s*+{_SCALAR}", re.DOTALL)
_ELEMENT = re.compile(rf"[\s,]*+{_SCALAR}", re.DOTALL)

# --- Broken JSON

_SPACE = r"\s*+"
_BROKEN_OPENING = re.compile(rf"\{{{_SPACE}(?:\\?[\"'“”]|\w{{1,40}}{_SPACE}:)")
_SKIPPED = re.compile(_SPACE)
_SEPARATORS = re.compile(r"[\s,;]*+")
_COLON = re.compile(rf"{_SPACE}(?::|=>|=){_SPACE}")
_BARE_KEY = re.compile(rf"\w[\w \-]{{0,60}}(?={_SPACE}:)")
_BARE_VALUE = re.compile(r"[^,}\]\n]{0,500}")
_TO_QUOTE = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+", re.DOTALL),
}
# Strings with these quotes end at the next such quote: those of Python, JavaScript and Markdown.
_PLAIN_QUOTES = ('"""', "'''", "```", "`")
_NEXT_KEY = rf"(?:\"[^\"\n]{{1,60}}+\"|'[^'\n]{{1,60}}+'|\w{{1,40}}+){_SPACE}:"
# What follows the quote that ends a value in an object, or an element of a list.
_AFTER_VALUE = re.compile(rf"{_SPACE}(?:\}}|```|\Z|,{_SPACE}(?:\}}|\Z|{_NEXT_KEY})|{_NEXT_KEY})")
_AFTER_ELEMENT = re.compile(rf"{_SPACE}(?:\]|,|\Z)")
_LOOSE_KEY = re.compile(rf"[\"']([^\"'\n]{{1,60}}+)[\"']{_SPACE}:{_SPACE}(?=[\"'`\[\w])")
_QUOTED_KEY = re.compile(rf"[\"']([^\"'\n]{{1,60}}+)[\"']{_SPACE}:")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
# Models write the escapes b and f only by mistake, in LaTeX: beta, frac.
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": " ", "f": " "}
_SURROGATE = re.compile("[\ud800-\udfff]")
_CURLY_QUOTE = re.compile("[“”„‟]")
_FENCE = re.compile(r"```\w{0,20}")
_FENCE_BEFORE_OBJECT = re.compile(r"```\w{0,20}\s*+(?=\{)")


class JsonScalar(NamedTuple):
    """A string, number or bare word.

    Attributes:
        raw: the value as it is written, without its quotes.
        start, end: the place of `raw` in the text.
        quote: the quote that begins the value; empty for a number or bare word.
        is_closed: whether the end of the value was found; a value that is cut off lacks it.
    """

    raw: str
    start: int
    end: int
    quote: str
    is_closed: bool

    @property
    def text(self) -> str:
        """The value without the escapes of JSON."""
        return unescape(self.raw)

    @property
    def has_swallowed_member(self) -> bool:
        """Whether the value is a string without an end of its own, which runs over the next key and value."""
        if self.quote not in _TO_QUOTE or self.quote not in self.raw:
            return False
        own_end = _TO_QUOTE[self.quote].match(self.raw)
        is_broken = own_end is not None and own_end.end() < len(self.raw)
        return is_broken and holds_member(self.raw)

    @property
    def outer_start(self) -> int:
        """The position of the quote that begins the value."""
        return self.start - len(self.quote)

    @property
    def outer_end(self) -> int:
        """The position after the quote that ends the value."""
        return self.end + len(self.quote) if self.is_closed else self.end


class JsonMember(NamedTuple):
    """A key, without its quotes and escapes, with its position in the text and its value."""

    key: str
    start: int
    is_quoted: bool
    value: "JsonNode"


class JsonList(NamedTuple):
    """A list that stands in the text from `start` to `end`."""

    elements: "tuple[JsonNode, ...]"
    start: int
    end: int


class JsonObject(NamedTuple):
    """An object that stands in the text from `start` to `end`."""

    members: tuple[JsonMember, ...]
    start: int
    end: int


JsonNode = JsonScalar | JsonList | JsonObject


# --- Objects with their places ----------------------------------------------------------------------------------------


def find_objects(text: str) -> list[JsonObject]:
    """Return the outermost objects of a text that have members, in order.

    Raises:
        EndlessTextError: there are too many to read, so that the rest might state something else.
    """
    objects: list[JsonObject] = []
    work = _Work()
    position = attempts = 0
    while opening := _BROKEN_OPENING.search(text, position):
        attempts += 1
        if attempts > _MAX_OBJECTS:
            raise EndlessTextError
        start = opening.start()
        position = start + 1
        found = _read_well_formed(text, start) or _read_broken(text, start, work)
        if found is not None and found.members:
            objects.append(found)
            position = max(position, found.end)
    return objects


def find_well_formed_objects(text: str, max_work: int) -> list[JsonObject]:
    """Return the outermost well-formed objects of a text, in order; those before the limit of work is reached.

    Unlike `find_objects`, it also finds those that stand inside a broken object.
    """
    objects: list[JsonObject] = []
    try:
        for decoded in decode_objects(text, max_work=max_work):
            if isinstance(decoded, DecodedObject):
                scanned = _scan_object(text, decoded.start, 0)
                if scanned is not None:
                    objects.append(scanned)
    except EndlessTextError:
        pass
    return objects


def find_members(text: str) -> list[JsonMember]:
    """Return the members of all objects of a text, including those of inner objects, and its loose members; in order.

    Raises:
        EndlessTextError: there are too many to read.
    """
    members: list[JsonMember] = []
    position = 0
    for found in find_objects(text):
        members += find_loose_members(text, position, found.start)
        for member in iter_members(found):
            members.append(member)
            value = member.value
            if isinstance(value, JsonScalar) and value.has_swallowed_member:
                members += find_loose_members(text, value.start, value.outer_end)
        position = found.end
    return members + find_loose_members(text, position)


def find_loose_members(text: str, start: int = 0, end: int | None = None) -> list[JsonMember]:
    """Return the quoted keys with a value in a part of a text that has no beginning of an object.

    Raises:
        EndlessTextError: there are too many to read.
    """
    limit = len(text) if end is None else end
    if limit - start < _SHORTEST_MEMBER:
        return []
    if not _LOOSE_KEY.search(text, start, limit) and not _CURLY_QUOTE.search(text, start, limit):
        return []
    text = _straighten_quotes(text[:limit])
    scanner = _BrokenScanner(text, _Work())
    members: list[JsonMember] = []
    position = start
    while key := _LOOSE_KEY.search(text, position):
        position = key.end()
        read = scanner.read_value(position, 0, _AFTER_VALUE)
        if read is not None:
            value, value_end = read
            members.append(JsonMember(unescape(key[1]), key.start(1), True, value))
            # The text after a value without an end may hold the next member.
            is_certain = not isinstance(value, JsonScalar) or value.is_closed
            position = max(position, value_end) if is_certain else position
    return members


def iter_members(node: JsonNode) -> Iterator[JsonMember]:
    """Yield the members of an object or list, each followed by those within its value."""
    if isinstance(node, JsonObject):
        for member in node.members:
            yield member
            if not isinstance(member.value, JsonScalar):
                yield from iter_members(member.value)
    elif isinstance(node, JsonList):
        for element in node.elements:
            yield from iter_members(element)


def iter_scalars(node: JsonNode) -> Iterator[JsonScalar]:
    """Yield a value that is a scalar, or the scalars of a list."""
    if isinstance(node, JsonScalar):
        yield node
    elif isinstance(node, JsonList):
        for element in node.elements:
            yield from iter_scalars(element)


def read_object_in_string(scalar: JsonScalar) -> JsonObject | None:
    """Return the object that a string holds as escaped JSON, as the arguments of a tool call are; None if it does not.

    Raises:
        EndlessTextError: it is too long to read.
    """
    inside = scalar.raw.replace('\\"', ' "')
    if not inside.startswith("{"):
        return None
    # The places are those in the text, so as many characters stand before the object as there.
    scanner = _BrokenScanner(" " * scalar.start + inside, _Work())
    return scanner.read_object(scalar.start, 1)


def blank_objects(text: str, objects: Sequence[JsonObject]) -> str:
    """Return the text with spaces for the objects and the marks of code fences. Places stay as they are."""
    pieces: list[str] = []
    position = 0
    for found in objects:
        pieces.append(_blank_fences(text[position : found.start]))
        pieces.append("\n".ljust(found.end - found.start))
        position = found.end
    pieces.append(_blank_fences(text[position:]))
    return "".join(pieces)


def _blank_fences(text: str) -> str:
    if "```" not in text:
        return text
    return _FENCE.sub(lambda fence: " " * len(fence[0]), text)


def list_quoted_keys(text: str) -> list[str]:
    """Return everything in a text that is written like a key, even within a string, in order."""
    return _QUOTED_KEY.findall(text)


def unescape(raw: str) -> str:
    """Return a string of JSON without its escapes. A backslash before any other character is dropped."""
    if "\\" not in raw:
        return raw
    text = _ESCAPE.sub(_replace_escape, raw)
    if _SURROGATE.search(text):
        # A pair of surrogates is one character, half a pair is none.
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _replace_escape(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _ESCAPED.get(match[2], match[2])


def write_json(text: str, node: JsonNode) -> str:
    """Return a well-formed value as text: a string without quotes and escapes, anything else in JSON notation."""
    if isinstance(node, JsonScalar) and node.quote:
        return node.text
    return json.dumps(LENIENT.decode(text[node.start : node.end]), ensure_ascii=False)


def holds_member(raw: str) -> bool:
    """Return whether a string holds a key with its value, which it may have swallowed for want of its own end."""
    return _LOOSE_KEY.search(raw) is not None


# --- Scanning ---------------------------------------------------------------------------------------------------------


def _read_well_formed(text: str, start: int) -> JsonObject | None:
    if not _OPENING.match(text, start) or text.find("}", start) < 0:
        return None  # far quicker than the decoder's error
    decoded = decode_at(text, start)
    return _scan_object(text, start, 0) if isinstance(decoded, DecodedObject) else None


def _scan_object(text: str, start: int, depth: int) -> JsonObject | None:
    """Return the well-formed object at `start`, or None if it is nested too deeply."""
    members: list[JsonMember] = []
    position = start + 1
    while match := _MEMBER.match(text, position):
        position = match.end()
        value: JsonNode | None = _take_scalar(match)
        if value is None:
            value = _scan_container(text, position, depth + 1)
            if value is None:
                return None
            position = value.end
        members.append(JsonMember(unescape(match["key"]), match.start("key"), True, value))
    return JsonObject(tuple(members), start, text.index("}", position) + 1)


def _scan_container(text: str, start: int, depth: int) -> JsonList | JsonObject | None:
    """Return the well-formed list or object at `start`, or None if it is nested too deeply."""
    if depth > _MAX_DEPTH:
        return None
    if text[start] == "{":
        return _scan_object(text, start, depth)
    elements: list[JsonNode] = []
    position = start + 1
    while match := _ELEMENT.match(text, position):
        position = match.end()
        element: JsonNode | None = _take_scalar(match)
        if element is None:
            if text[position] == "]":
                break
            element = _scan_container(text, position, depth + 1)
            if element is None:
                return None
            position = element.end
        elements.append(element)
    return JsonList(tuple(elements), start, position + 1)


def _take_scalar(match: re.Match[str]) -> JsonScalar | None:
    """Return the scalar of a member or element, or None if it is an object, a list or missing."""
    group = match.lastindex
    if group is None or match.lastgroup == "key":
        return None
    quote = '"' if match.lastgroup == "string" else ""
    return JsonScalar(match[group], match.start(group), match.end(group), quote, True)


class _Work:
    """Counts the steps of reading a text, and ends it if they are too many."""

    def __init__(self) -> None:
        self._steps = 0

    def add(self, characters: int) -> None:
        """Count one step that reads some characters.

        Raises:
            EndlessTextError: there were too many.
        """
        self._steps += 1 + characters // 100
        if self._steps > _MAX_STEPS:
            raise EndlessTextError


def _straighten_quotes(text: str) -> str:
    return _CURLY_QUOTE.sub('"', text)


def _read_broken(text: str, start: int, work: _Work) -> JsonObject | None:
    """Return the broken object at `start`, or None if it is nested too deeply."""
    if _CURLY_QUOTE.search(text, start):
        text = text[:start] + _straighten_quotes(text[start:])
    if text.startswith('\\"', _SKIPPED.match(text, start + 1).end()):  # type: ignore[union-attr]
        # The whole object was written as a JSON string. The space is of no importance at the end of a key or value.
        text = text[:start] + text[start:].replace('\\"', ' "')
    return _BrokenScanner(text, work).read_object(start, 0)


class _BrokenScanner:
    """Reads an object that is not well-formed."""

    def __init__(self, text: str, work: _Work) -> None:
        self._text = text
        self._work = work

    def read_object(self, start: int, depth: int) -> JsonObject | None:
        """Read the object at `start`; None if it is nested too deeply."""
        if depth > _MAX_DEPTH:
            return None
        self._work.add(0)
        members: list[JsonMember] = []
        position = start + 1
        while len(members) < _MAX_MEMBERS:
            position = self._skip(_SEPARATORS, position)
            if position >= len(self._text):
                break
            if self._text[position] == "}":
                position += 1
                break
            well_formed = self._read_well_formed_member(position)
            if well_formed is not None:
                members.append(well_formed)
                position = well_formed.value.end + 1
                continue
            key = self._read_key(position)
            if key is None:
                later = self._find_later_key(position)
                if later is None:
                    position = self._find_object_end(position)
                    break
                position = later
                continue
            read = self.read_value(key.end, depth, _AFTER_VALUE)
            if read is None:
                return None
            value, position = read
            members.append(JsonMember(key.text, key.start, key.is_quoted, value))
        return JsonObject(tuple(members), start, position)

    def _read_well_formed_member(self, position: int) -> JsonMember | None:
        """Read a member as most members of broken objects are: well-formed, with a string as its value."""
        match = _MEMBER.match(self._text, position)
        scalar = _take_scalar(match) if match else None
        if match is None or scalar is None or not scalar.quote:
            return None
        if not _AFTER_VALUE.match(self._text, match.end()):
            return None
        key = unescape(match["key"]).rstrip()
        return JsonMember(key, match.start("key"), True, scalar)

    def _skip(self, pattern: re.Pattern[str], position: int) -> int:
        match = pattern.match(self._text, position)
        return position if match is None else match.end()

    def _read_key(self, position: int) -> "_ReadKey | None":
        to_quote = _TO_QUOTE.get(self._text[position])
        if to_quote is not None:
            closing = to_quote.match(self._text, position + 1)
            start, end = position + 1, closing.end() if closing else position + 1
            after = end + 1
        else:
            bare = _BARE_KEY.match(self._text, position)
            if bare is None:
                return None
            start, end = bare.span()
            after = end
        colon = _COLON.match(self._text, after)
        if colon is None:
            return None
        key = unescape(self._text[start:end]).rstrip()
        return _ReadKey(key, start, colon.end(), to_quote is not None)

    def _find_later_key(self, position: int) -> int | None:
        """Return the position of the next key of the object after text that is no member, or None."""
        end = self._find_object_end(position)
        self._work.add(end - position)
        later = _QUOTED_KEY.search(self._text, position + 1, end)
        return None if later is None else later.start()

    def _find_object_end(self, position: int) -> int:
        """Return the position after the next brace, or the end of the text."""
        end = self._text.find("}", position)
        return end + 1 if end >= 0 else len(self._text)

    def read_value(
        self, position: int, depth: int, after: re.Pattern[str]
    ) -> tuple[JsonNode, int] | None:
        """Read a value; return it with its end, or None if it is nested too deeply.

        Args:
            position: the position of the value.
            depth: the number of objects and lists around it.
            after: what follows the quote that ends a string.
        """
        position = self._skip(_FENCE_BEFORE_OBJECT, position)
        first = self._text[position : position + 1]
        if first == "{":
            inner = self.read_object(position, depth + 1)
            return None if inner is None else (inner, inner.end)
        if first == "[":
            listed = self._read_list(position, depth + 1)
            return None if listed is None else (listed, listed.end)
        for quote in _PLAIN_QUOTES:
            if self._text.startswith(quote, position):
                scalar = self._read_to_quote(position, quote)
                return scalar, scalar.outer_end
        if first in _TO_QUOTE:
            scalar = self._read_string(position, after)
            return scalar, min(scalar.end + 1, len(self._text))
        return self._read_bare(position)

    def _read_list(self, start: int, depth: int) -> JsonList | None:
        if depth > _MAX_DEPTH:
            return None
        self._work.add(0)
        elements: list[JsonNode] = []
        position = start + 1
        while len(elements) < _MAX_MEMBERS:
            position = self._skip(_SEPARATORS, position)
            if position >= len(self._text) or self._text[position] in "]}":
                break
            read = self.read_value(position, depth, _AFTER_ELEMENT)
            if read is None:
                return None
            element, end = read
            elements.append(element)
            if end == position:
                break
            position = end
        return JsonList(tuple(elements), start, min(position + 1, len(self._text)))

    def _read_bare(self, position: int) -> tuple[JsonScalar, int]:
        """Read a number or word, which ends at a comma, bracket or line break."""
        end = self._skip(_BARE_VALUE, position)
        raw = self._text[position:end].rstrip()
        return JsonScalar(raw, position, position + len(raw), "", True), end

    def _read_to_quote(self, position: int, quote: str) -> JsonScalar:
        """Read a string that ends at the next such quote, or with the text."""
        start = position + len(quote)
        end = self._text.find(quote, start)
        is_closed = end >= 0
        raw = self._text[start:end] if is_closed else self._text[start:]
        return JsonScalar(raw, start, start + len(raw), quote, is_closed)

    def _read_string(self, position: int, after: re.Pattern[str]) -> JsonScalar:
        """Read a string in quotes that may hold such quotes itself.

        A quote ends the string only if the next key or the end of the object or list follows. Without such a quote the
        string ends at the first one, and without any it is cut off.
        """
        quote = self._text[position]
        start = position + 1
        end = self._find_closing_quote(start, after)
        is_closed = end is not None
        if end is None:
            end = self._find_first_quote(start, quote)
        return JsonScalar(self._text[start:end], start, end, quote, is_closed)

    def _find_first_quote(self, start: int, quote: str) -> int:
        """Return the position of the first quote that is not escaped, or the end of the text."""
        match = _TO_QUOTE[quote].match(self._text, start)
        is_found = match is not None and self._text.startswith(quote, match.end())
        return match.end() if match is not None and is_found else len(self._text)

    def _find_closing_quote(self, start: int, after: re.Pattern[str]) -> int | None:
        to_quote = _TO_QUOTE[self._text[start - 1]]
        position = start
        while (match := to_quote.match(self._text, position)) and match.end() < len(self._text):
            end = match.end()
            self._work.add(end - position)
            if self._text[end] == "\\":  # a backslash is the last character
                return None
            if after.match(self._text, end + 1):
                return end
            position = end + 1
        return None


class _ReadKey(NamedTuple):
    """A key with its place, and the position of its value."""

    text: str
    start: int
    end: int
    is_quoted: bool
