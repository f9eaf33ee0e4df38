"""Canonical JSON: one value, one byte string (rules 1.3 to 1.5).

Sorted names, no spaces, ASCII, integers within +-(2^53 - 1), no floats, no null. For ASCII text this is RFC 8785.
"""

from collections.abc import Mapping, Sequence

Json = str | int | bool | Sequence["Json"] | Mapping[str, "Json"]

MAX_DEPTH = 6
MAX_INT = 2**53 - 1


def canonical(value: object) -> bytes:
    """Return the one canonical encoding of `value` (str, int, bool, list, tuple or mapping with ASCII names).

    Raises:
        ProtocolError: BAD_NUMBER for a float or a large integer, BAD_TEXT, SCHEMA for any other type.
    """
    raise NotImplementedError


def parse(data: bytes, *, max_depth: int = MAX_DEPTH) -> object:
    """Parse strict JSON. Depth is checked before the parser recurses, digits are counted before they are converted.

    Raises:
        ProtocolError: BAD_JSON, TOO_DEEP, DUPLICATE_NAME, BAD_NUMBER or BAD_TEXT.
    """
    raise NotImplementedError


def parse_canonical(data: bytes, *, max_depth: int = MAX_DEPTH) -> object:
    """Parse strict JSON that is also in canonical form. Raises as `parse`, or NOT_CANONICAL."""
    raise NotImplementedError
