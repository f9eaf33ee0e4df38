"""Read the option in a table whose row or column is called the answer. Pure.

| Answer | D |          | Question | Answer |
| Reason | ... |        | Is it?   | B (no) |
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from agent.reading.choice import cues
from agent.reading.choice.claims import ClaimStrength, OptionClaim
from agent.reading.choice.line_beginnings import BARE, read_at_line_start
from agent.reading.choice.marked_answer import Line, MarkedAnswer
from agent.reading.choice.rules import STATED_ANSWER

_MAX_LINES = 60
_WORDS_OF_ANSWER = ("answer", "choice", "verdict", "option")
_CELL = re.compile(r"[^|\n]+")
_NAMES_ANSWER = re.compile(
    r"(?:(?:final|correct|best|my|chosen|selected|the|right)\s){0,3}(?:answer|choice|option\schosen|selected\soption|verdict)(?:\sletter)?\s?:?"
)


def read_tables(answer: MarkedAnswer) -> Iterator[OptionClaim]:
    """Yield the claims of cells beside or below a cell that is called the answer."""
    if "|" not in answer.text or not any(map(answer.lower.__contains__, _WORDS_OF_ANSWER)):
        return
    lines = [line for line in answer.lines[:_MAX_LINES] if not _is_frame(answer, line)]
    rows = [_split(answer, line) for line in lines]
    for row in rows:
        if len(row) == 2 and _is_called_answer(answer, row[0]):
            yield from _read_cell(answer, row[1])
    for head, row in pairwise(rows):
        if len(head) != len(row) or len(head) < 2:
            continue
        for title, cell in zip(head, row, strict=True):
            is_row_of_answer = len(head) == 2 and title is head[0]
            if _is_called_answer(answer, title) and not is_row_of_answer:
                yield from _read_cell(answer, cell)


def _is_frame(answer: MarkedAnswer, line: Line) -> bool:
    return not answer.text[line.start : line.end].strip("|:+- ")


def _split(answer: MarkedAnswer, line: Line) -> list[Line]:
    if "|" not in answer.text[line.start : line.end]:
        return []
    return [Line(*cell.span()) for cell in _CELL.finditer(answer.text, line.start, line.end)]


def _is_called_answer(answer: MarkedAnswer, cell: Line) -> bool:
    return _NAMES_ANSWER.fullmatch(answer.lower[cell.start : cell.end].strip()) is not None


def _read_cell(answer: MarkedAnswer, cell: Line) -> Iterator[OptionClaim]:
    """Yield the claim of a cell that is nothing but an option."""
    start = cell.start
    while start < cell.end and answer.text[start] == " ":
        start += 1
    end = start + len(answer.text[start : cell.end].rstrip())
    bare = BARE.fullmatch(answer.text, start, end)
    if bare:
        option = answer.options.get_letter_option(bare[1])
        yield OptionClaim(option, start, end, ClaimStrength.ANSWER, STATED_ANSWER)
        return
    reference = read_at_line_start(answer, start)
    if reference is None or not cues.PURE_TAIL.fullmatch(answer.text, reference.end, end):
        return
    yield OptionClaim(reference.option, start, reference.end, ClaimStrength.ANSWER, STATED_ANSWER)
