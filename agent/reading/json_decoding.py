"""Decode the well-formed JSON objects of a text, in prose, code fences and broken JSON. Pure.

This is for callers that accept nothing but well-formed JSON. `agent.reading.json_objects` also reads broken objects,
and tells the place of every value.

Models repeat the beginnings of objects endlessly, so every search ends at a limit.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

LENIENT = json.JSONDecoder(strict=False)
"""Decodes JSON whose strings may contain line breaks, which are common and harmless."""

_OPENING = re.compile(r"\{\s*+\"")
_MAX_WORK = 2_000_000  # characters read by attempts to decode objects
_WORK_OF_DEEP_NESTING = 50_000  # characters counted for an attempt that is nested too deeply
_MAX_AROUND = 100  # braces before a position that are tried as the start of an object around it


class DecodedObject(NamedTuple):
    """The value of a well-formed object that stands in the text from `start` to `end`."""

    value: dict[str, Any]
    start: int
    end: int


class UndecodedObject(NamedTuple):
    """The beginning of an object that is not well-formed.

    Attributes:
        start: the position of its brace.
        error: the position at which it is wrong; None if it is nested too deeply or has an overlong number.
    """

    start: int
    error: int | None


class EndlessTextError(Exception):
    """Finding all objects of a text would take too long, because it repeats beginnings of objects or strings."""


def decode_objects(
    text: str,
    decoder: json.JSONDecoder = LENIENT,
    *,
    end: int | None = None,
    max_work: int = _MAX_WORK,
) -> Iterator[DecodedObject | UndecodedObject]:
    """Yield the outermost well-formed objects of a text and the beginnings of others, in order.

    Args:
        text: the text to search. Prose, code fences and broken JSON between the objects are skipped.
        decoder: the decoder of JSON to use.
        end: the objects begin before this position.
        max_work: the number of characters that failed attempts may read.

    Raises:
        EndlessTextError: the failed attempts read more than `max_work` characters.
    """
    work = 0
    position = 0
    limit = len(text) if end is None else end
    while opening := _OPENING.search(text, position, limit):
        attempt = decode_at(text, opening.start(), decoder)
        yield attempt
        if isinstance(attempt, DecodedObject):
            position = attempt.end
            continue
        position = attempt.start + 1
        work += _measure_work(attempt)
        if work > max_work:
            raise EndlessTextError


def decode_objects_around(
    text: str, position: int, decoder: json.JSONDecoder
) -> Iterator[DecodedObject]:
    """Yield the well-formed objects that stand around a position, the innermost first."""
    openings = list(_OPENING.finditer(text, 0, position + 1))
    for opening in reversed(openings[-_MAX_AROUND:]):
        attempt = decode_at(text, opening.start(), decoder)
        if isinstance(attempt, DecodedObject) and attempt.end > position:
            yield attempt


def decode_at(
    text: str, start: int, decoder: json.JSONDecoder = LENIENT
) -> DecodedObject | UndecodedObject:
    """Return the object whose brace stands at `start`, or where it is wrong."""
    try:
        value, end = decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        return UndecodedObject(start, error.pos)
    except (ValueError, RecursionError):  # an overlong number, or excessive nesting
        return UndecodedObject(start, None)
    return DecodedObject(value, start, end)


def _measure_work(attempt: UndecodedObject) -> int:
    if attempt.error is None:
        return _WORK_OF_DEEP_NESTING
    # Creating the error takes time in proportion to its position, because it counts the lines before it.
    return attempt.error - attempt.start + attempt.error // 50 + 50
