"""Extract the part of an answer that a benchmark's own parser selects: a JSON field, a pattern's match, a label. Pure.

Metrics then score that part as if it were the whole answer. Nothing is guessed: an answer without such a part is
unparsed. Option letters are read by `agent.reading.choice`.
"""

import re
from functools import cache
from typing import Any

import regex

from agent.errors import BenchmarkError
from agent.reading.json_answers import AnswerPart, find_field, read_json_answer
from agent.reading.json_objects import (
    JsonMember,
    JsonScalar,
    find_well_formed_objects,
    iter_members,
    write_json,
)
from agent.vocabulary import AnswerParser, Reason, Unscored

PATTERN_SECONDS = 1.0
"""Maximum time for matching a pattern against one answer. A pattern that needs longer counts as not found."""

# A longer answer is an endless repetition.
_MAX_LENGTH = 1_000_000  # characters
_MAX_WORK = 20_000_000  # characters read by failed attempts to decode an object

_MAX_PATTERN_LENGTH = 2_000  # characters
_MAX_WRITTEN_OUT = 100_000  # elements, which take 0.2 seconds and a few megabytes to compile
_WITH_KEY = frozenset({"true", "false", "yes", "no", "y", "n", "1", "0"})
"""The values of a JSON field that state a label only together with their key."""

_COUNT = re.compile(r"\{\s*(\d*)\s*,?\s*(\d*)")
_SPACED = re.compile(r"\(\?[A-Za-z0-9]*x")
_CORRECT = "Correct it in the YAML."


def extract(parser: AnswerParser, text: str) -> str | Unscored:
    """Return the part of an answer that the parser selects, or the reason why there is none.

    "json" selects the last well-formed object that has the field, even in a code fence, between words or inside another
    object; if there is none, the last broken or cut-off object that has it. The field's value is a string, or a number,
    boolean or list in JSON notation. A null counts as no answer. Without a field, it selects the value of the key that
    names the answer (`answer`, `answer_choice`, ...).
    "pattern" selects the last match, by the rules of the `regex` module.
    "label" returns the label that the answer states. If "json" or "pattern" has labels too, it returns the label that
    the selected part states.

    Raises:
        BenchmarkError: the pattern is not a regular expression.
    """
    if parser.kind == "label" and text.strip():
        from agent.reading.labels import find_label  # compiling its patterns takes time

        # Quicker than `extract_part`, which also locates the label.
        return find_label(text, parser.labels) or Unscored(Reason.UNPARSED)
    part = extract_part(parser, text)
    return part if isinstance(part, Unscored) else part.text


def extract_part(parser: AnswerParser, text: str) -> AnswerPart | Unscored:
    """Return the part that `extract` selects, with its place in the answer.

    The place of a label is that of the words that state it.

    Raises:
        BenchmarkError: the pattern is not a regular expression.
    """
    if parser.kind in {"option_letter", "text"}:
        return AnswerPart(text, 0, len(text))
    if not text.strip():
        return Unscored(Reason.EMPTY)
    part: AnswerPart | None
    if parser.kind == "label":
        from agent.reading.labels import read_label

        reading = read_label(text, parser.labels)
        part = None if reading is None else AnswerPart(reading.value, reading.start, reading.end)
    else:
        part = _select_part(parser, text)
        if part is not None and parser.labels:
            part = _read_label_in_part(parser, part)
    return Unscored(Reason.UNPARSED) if part is None or not part.text else part


def _select_part(parser: AnswerParser, text: str) -> AnswerPart | None:
    """Return the part that a field or pattern selects."""
    if parser.kind == "pattern":
        return _find_last_match(text, parser.pattern)
    if not parser.field:
        reading = read_json_answer(text)
        return None if reading is None else AnswerPart(reading.value, reading.start, reading.end)
    return _find_field(text[:_MAX_LENGTH], parser.field)


def _read_label_in_part(parser: AnswerParser, part: AnswerPart) -> AnswerPart | None:
    """Return the label that a part states, at the place of the part."""
    from agent.reading.labels import find_label

    text = part.text
    if parser.kind == "json" and text.lower() in _WITH_KEY:
        # `true` means opposite labels in {"hallucinated": true} and {"factual": true}.
        text = f'{{"{parser.field or "answer"}": {text}}}'
    label = find_label(text, parser.labels)
    return None if label is None else AnswerPart(label, part.start, part.end)


@cache
def compiled(pattern: str) -> Any:
    """Compile a parser's pattern.

    Raises:
        BenchmarkError: the pattern is not a regular expression, and the message says where; or it could exhaust memory.
    """
    if len(pattern) > _MAX_PATTERN_LENGTH:
        raise BenchmarkError(
            f"answer_pattern is longer than {_MAX_PATTERN_LENGTH} characters", _CORRECT
        )
    if _measure_written_out(pattern) > _MAX_WRITTEN_OUT:
        raise BenchmarkError(
            "answer_pattern repeats repeated groups too often; use smaller counts in {}", _CORRECT
        )
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise BenchmarkError(
            f"answer_pattern is not a regular expression: {error}", _CORRECT
        ) from None
    except (RecursionError, OverflowError, MemoryError):
        raise BenchmarkError("answer_pattern is nested too deeply", _CORRECT) from None


def _measure_written_out(pattern: str) -> int:
    """Return an upper bound on the length of a pattern after the compiler writes out its counted repeats.

    Groups can be nested, so their counts multiply. A count after anything else repeats only that element. With the flag
    x, a comment may separate a group from its count, so every count is treated as a group's.
    """
    length, factor = len(pattern), 1
    spaced = _SPACED.search(pattern) is not None
    for match in _COUNT.finditer(pattern):
        count = max(1, *(int(digits or "0") for digits in match.groups()))
        if spaced or pattern[: match.start()].endswith((")", "}", "*", "+", "?")):
            factor *= count
        else:
            length += count
    return length * factor


def _find_last_match(text: str, pattern: str) -> AnswerPart | None:
    last = None
    try:
        for match in compiled(pattern).finditer(text[:_MAX_LENGTH], timeout=PATTERN_SECONDS):
            last = match
    except TimeoutError:
        return None
    if last is None:
        return None
    start, end = last.span(1 if last.re.groups else 0)
    found = text[start:end] if start >= 0 else ""
    start += len(found) - len(found.lstrip())
    return AnswerPart(found.strip(), start, start + len(found.strip()))


def _find_field(text: str, field: str) -> AnswerPart | None:
    """Return the field of the last well-formed object that has it; otherwise of the last broken one."""
    part = _find_well_formed_field(text, field) or find_field(text, field)
    return None if part is None else _strip(part)


def _find_well_formed_field(text: str, field: str) -> AnswerPart | None:
    """Return the field of the last well-formed object that has it, or None if that is null or there is none.

    An object's own field comes before those of the objects within it.
    """
    for found in reversed(find_well_formed_objects(text, _MAX_WORK)):
        own = [member for member in found.members if member.key == field]
        named = own or [member for member in iter_members(found) if member.key == field]
        if named:
            return _read_member(text, named[-1])
    return None


def _read_member(text: str, member: JsonMember) -> AnswerPart | None:
    value = member.value
    if isinstance(value, JsonScalar) and not value.quote and value.raw == "null":
        return None
    return AnswerPart(write_json(text, value), value.start, value.end)


def _strip(part: AnswerPart) -> AnswerPart:
    """Return a part without the white space around it. Its place stays, if it is written with escapes."""
    stripped = part.text.strip()
    if stripped == part.text:
        return part
    start, end = part.locate(len(part.text) - len(part.text.lstrip()), len(part.text.rstrip()))
    return AnswerPart(stripped, start, end)
