"""Read the right and wrong answers of a row. Pure."""

import json
from collections.abc import Mapping, Sequence

from agent.catalog.question import Choices, Gold
from agent.datasets.readers.table import Problems, Row
from agent.vocabulary import Reference

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_references(
    row: Row, gold: Gold | None, choices: Choices | None, problems: Problems
) -> tuple[Reference, ...] | None:
    """Return the references in dataset order, or record a problem and return None.

    For multiple choice, the references are the options in the order of their letters.
    """
    if gold is None:
        return ()
    if choices is not None:
        options = _read_options(row.cells, choices)
        right = _find_right_option(row.cells.get(gold.column, ""), gold.form, options)
        if right is None or len(options) < 2:
            problems.add(row.where, f"the column {gold.column!r} does not name one of the options")
            return None
        return tuple(Reference(text, i == right) for i, text in enumerate(options))
    answers = [Reference(row.cells.get(gold.column, ""), True)]
    if gold.incorrect_column:
        wrong = _read_wrong_answers(row.cells.get(gold.incorrect_column, ""))
        if wrong is None:
            column = gold.incorrect_column
            problems.add(
                row.where,
                f"the column {column!r} is not a JSON list of strings; write [] for an empty list",
            )
            return None
        answers += [Reference(text, False) for text in wrong]
    return tuple(answers)


def find_right_answer(references: Sequence[Reference], *, multiple_choice: bool) -> str:
    """Return the letter of the right option or the first right text, or "" if no reference is right."""
    for index, reference in enumerate(references):
        if reference.correct:
            return LETTERS[index] if multiple_choice else reference.text
    return ""


def _read_options(cells: Mapping[str, str], choices: Choices) -> tuple[str, ...]:
    if choices.texts:
        return choices.texts
    # Only optional columns can be empty here, because other empty cells have already been reported.
    texts = [cells.get(column, "").strip() for column in choices.columns]
    return tuple(text for text in texts if text)


def _find_right_option(value: str, form: str, options: tuple[str, ...]) -> int | None:
    """Return the index of the option that a cell names by text, letter or number."""
    value = value.strip()
    index = -1
    if form == "text" and value in options:
        index = options.index(value)
    elif form == "letter" and len(value) == 1:
        index = LETTERS.find(value.upper())
    elif form not in ("text", "letter") and value.isascii() and value.isdigit():
        index = int(value) - 1
    return index if 0 <= index < len(options) else None


def _read_wrong_answers(cell: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)
