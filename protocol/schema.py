"""Functions for closed schemas: each checks a JSON value and returns it with its type.

`where` names the field in the error's detail. Every function raises ProtocolError SCHEMA for an invalid value.
"""

import re
import unicodedata
from typing import NoReturn

from protocol.canonical import MAX_INT
from protocol.errors import Code, ProtocolError

HEX64 = re.compile(r"[0-9a-f]{64}")
HEX64_OR_NONE = re.compile(r"[0-9a-f]{64}|none")
ORIGIN = re.compile(r"[a-z0-9](?:[a-z0-9.:/-]{0,98}[a-z0-9])?")
SITE = re.compile(r"s-[0-9a-z]{8}")
IDENTIFIER = re.compile(r"[a-z0-9][a-z0-9_-]{0,47}")
MODEL_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,127}")
AGENT_VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+!-]{0,47}")
MAX_TITLE = 120  # characters

_IN_WORDS = {
    HEX64: "64 digits from 0-9 and a-f",
    HEX64_OR_NONE: "64 digits from 0-9 and a-f, or none",
    ORIGIN: (
        "1 to 100 of the characters a-z, 0-9 and .:/- with a letter or digit first and last, such as board.example"
    ),
    SITE: "s- and 8 of the characters a-z and 0-9",
    IDENTIFIER: "1 to 48 of the characters a-z, 0-9, _ and - with a letter or digit first",
    MODEL_NAME: (
        "1 to 128 of the characters A-Z, a-z, 0-9 and ._:/@+- with a letter or digit first, such as "
        "qwen/qwen2.5-7b-instruct"
    ),
    AGENT_VERSION: "1 to 48 of the characters A-Z, a-z, 0-9 and .+!- with a letter or digit first, such as 0.1.0",
}
"""Descriptions, for error messages, of the patterns of values that people write."""


def _refuse(where: str, expected: str) -> NoReturn:
    raise ProtocolError(Code.SCHEMA, f"{where}: expected {expected}")


def mapping(value: object, where: str) -> dict[str, object]:
    """Return `value` if it is an object; its names are not checked."""
    return value if isinstance(value, dict) else _refuse(where, "an object")


def record(value: object, names: frozenset[str], where: str) -> dict[str, object]:
    """Return `value` if it is an object with exactly these names."""
    found = mapping(value, where)
    if found.keys() != names:
        _refuse(where, f"exactly the fields {', '.join(sorted(names))}")
    return found


def array(value: object, where: str, low: int, high: int) -> list[object]:
    """Return `value` if it is an array of `low` to `high` items."""
    if not isinstance(value, list) or not low <= len(value) <= high:
        _refuse(where, f"an array of {low} to {high} items")
    return value


def integer(value: object, where: str, low: int = 0, high: int = MAX_INT) -> int:
    """Return `value` if it is an integer (not a boolean) from `low` to `high`."""
    if type(value) is not int or not low <= value <= high:
        _refuse(where, f"an integer from {low} to {high}")
    return value


def is_number(value: object, number: int) -> bool:
    """Return whether `value` is this integer and not a boolean, since `True == 1` in Python."""
    return type(value) is int and value == number


def flag(value: object, where: str) -> bool:
    """Return `value` if it is true or false."""
    return value if isinstance(value, bool) else _refuse(where, "true or false")


def text(value: object, where: str, pattern: re.Pattern[str]) -> str:
    """Return `value` if it is a string that `pattern` matches from end to end."""
    if not isinstance(value, str) or not pattern.fullmatch(value):
        _refuse(where, _IN_WORDS.get(pattern, f"text of the form {pattern.pattern}"))
    return value


def choice(value: object, where: str, options: tuple[str, ...]) -> str:
    """Return `value` if it is one of `options`."""
    if not isinstance(value, str) or value not in options:
        _refuse(where, f"one of {', '.join(options)}")
    return value


def title(value: object, where: str, *, empty: bool = False) -> str:
    """Return `value` if it is a display name: printable, in Unicode's composed form, without spaces around it."""
    if not isinstance(value, str) or not (empty or value) or len(value) > MAX_TITLE:
        _refuse(where, f"text of {0 if empty else 1} to {MAX_TITLE} characters")
    for character in value:
        if not character.isprintable():
            _refuse(
                where,
                f"printable text with plain spaces; it contains the character {_name_character(character)}",
            )
    if value != value.strip():
        _refuse(where, "text without a space before or after it")
    if value != unicodedata.normalize("NFC", value):
        _refuse(
            where,
            "each letter with its accent as one character (Unicode's normal form C); type it again",
        )
    return value


def _name_character(character: str) -> str:
    """Return the code point of a character that cannot be printed, with its name if it has one."""
    return f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
