"""Canonical JSON: every value has exactly one encoding (rules 1.3 to 1.5).

Sorted names, no spaces, ASCII, integers within +-(2^53 - 1), no floats, no null. For ASCII text this is RFC 8785.
"""

import json
import re
from typing import NoReturn

from protocol.errors import Code, ProtocolError

MAX_DEPTH = 6
MAX_INT = 2**53 - 1

_NAME = re.compile(r"[\x20-\x7e]+")
_FORBIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
# An unterminated string is matched to the end of the text at once, so the scan stays linear.
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_BRACKET = re.compile(r"[\[\]{}]")
_NESTING = {"[": 1, "{": 1, "]": -1, "}": -1}

_ENCODER = json.JSONEncoder(
    ensure_ascii=True, sort_keys=True, separators=(",", ":"), allow_nan=False
)


def canonical(value: object) -> bytes:
    """Return the one canonical encoding of `value` (str, int, bool, list, tuple or dict with printable ASCII names).

    Raises:
        ProtocolError: BAD_NUMBER for a float or a large integer, BAD_TEXT, SCHEMA for any other type.
    """
    _check(value)
    return _encode(value)


def _encode(value: object) -> bytes:
    return _ENCODER.encode(value).encode("ascii")


def _check(value: object) -> None:
    match value:
        case bool():
            pass
        case int():
            if abs(value) > MAX_INT:
                raise ProtocolError(Code.BAD_NUMBER, "an integer is beyond 2^53 - 1")
        case float():
            raise ProtocolError(Code.BAD_NUMBER, "floats are not part of the protocol")
        case str():
            if _FORBIDDEN.search(value):
                raise ProtocolError(
                    Code.BAD_TEXT, "a text contains a control character or lone surrogate"
                )
        case list() | tuple():
            for item in value:
                _check(item)
        case dict():
            for name, item in value.items():
                if not isinstance(name, str) or not _NAME.fullmatch(name):
                    raise ProtocolError(Code.BAD_TEXT, "a name must be printable ASCII")
                _check(item)
        case _:
            raise ProtocolError(Code.SCHEMA, f"{type(value).__name__} is not part of the protocol")


def parse(data: bytes, *, max_depth: int = MAX_DEPTH) -> object:
    """Parse strict JSON.

    The nesting depth is checked before the parser recurses, and the length of an integer before it is converted.

    Raises:
        ProtocolError: BAD_JSON, TOO_DEEP, DUPLICATE_NAME, BAD_NUMBER, BAD_TEXT, or SCHEMA for null.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ProtocolError(Code.BAD_JSON, f"the text is not UTF-8 at byte {error.start}") from None
    _check_depth(text, max_depth)
    try:
        value: object = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise ProtocolError(Code.BAD_JSON, f"invalid JSON at character {error.pos}") from None
    if not _is_plain(text):
        _check(value)
    return value


def _is_plain(text: str) -> bool:
    """Return whether the JSON text alone shows that `_check` would accept its value. This is faster than `_check`."""
    is_printable_ascii = text.isascii() and text.isprintable()
    return is_printable_ascii and "\\" not in text and "null" not in text and '""' not in text


def _check_depth(text: str, max_depth: int) -> None:
    depth = 0
    for bracket in _BRACKET.findall(_STRING.sub("", text)):
        depth += _NESTING[bracket]
        if depth > max_depth:
            raise ProtocolError(
                Code.TOO_DEEP, f"the value is nested more than {max_depth} levels deep"
            )


def parse_canonical(data: bytes, *, max_depth: int = MAX_DEPTH) -> object:
    """Parse strict JSON that must also be in canonical form.

    Raises:
        ProtocolError: as `parse`, or NOT_CANONICAL.
    """
    value = parse(data, max_depth=max_depth)
    if _encode(value) != data:
        raise ProtocolError(Code.NOT_CANONICAL, "not the canonical encoding of its value")
    return value


def _refuse_duplicates(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ProtocolError(Code.DUPLICATE_NAME, "an object has the same name twice")
    return members


def _parse_integer(digits: str) -> int:
    if digits == "-0" or len(digits) > len(str(-MAX_INT)):
        raise ProtocolError(Code.BAD_NUMBER, "an integer is -0, or has more than 16 digits")
    number = int(digits)
    if abs(number) > MAX_INT:
        raise ProtocolError(Code.BAD_NUMBER, "an integer is beyond 2^53 - 1")
    return number


def _refuse_float(_: str) -> NoReturn:
    raise ProtocolError(
        Code.BAD_NUMBER, "fractions, exponents, NaN and Infinity are not part of the protocol"
    )


_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicates,
    parse_int=_parse_integer,
    parse_float=_refuse_float,
    parse_constant=_refuse_float,
)
