"""The right and wrong answers of a row. Pure."""

import json
from collections.abc import Mapping

from agent.catalog.question import Choices, Gold
from agent.datasets.readers.table import Problems, Row
from agent.vocabulary import Reference

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def references(
    row: Row, gold: Gold | None, choices: Choices | None, problems: Problems
) -> tuple[Reference, ...] | None:
    """Return the references in dataset order (options by letter), or None and note why there are none."""
    if gold is None:
        return ()
    if choices is not None:
        options = _options(row.cells, choices)
        right = _right_option(row.cells.get(gold.column, ""), gold.form, options)
        if right is None or len(options) < 2:
            problems.add(row.where, f"the column {gold.column!r} names none of the options as the right one")
            return None
        return tuple(Reference(text, i == right) for i, text in enumerate(options))
    wrong = _wrong_answers(row.cells.get(gold.incorrect_column, "")) if gold.incorrect_column else ()
    if wrong is None:
        problems.add(row.where, f"the column {gold.incorrect_column!r} is not a JSON list of texts; write [] for none")
        return None
    return (Reference(row.cells.get(gold.column, ""), True), *(Reference(text, False) for text in wrong))


def right_answer(found: tuple[Reference, ...], *, multiple_choice: bool) -> str:
    """Return the answer that an example shows: the right option's letter, or the first right text."""
    right = next((index for index, reference in enumerate(found) if reference.correct), None)
    if right is None:
        return ""
    return LETTERS[right] if multiple_choice else found[right].text


def _options(cells: Mapping[str, str], choices: Choices) -> tuple[str, ...]:
    if choices.texts:
        return choices.texts
    # An option that a row lacks can only be an optional column's: the others were found not to be empty.
    return tuple(text for column in choices.columns if (text := cells.get(column, "").strip()))


def _right_option(value: str, form: str, options: tuple[str, ...]) -> int | None:
    value = value.strip()
    if form == "text":
        return options.index(value) if value in options else None
    if form == "letter":
        index = LETTERS.find(value.upper()) if len(value) == 1 else -1
    else:
        index = int(value) - 1 if value.isascii() and value.isdigit() else -1
    return index if 0 <= index < len(options) else None


def _wrong_answers(cell: str) -> tuple[str, ...] | None:
    try:
        value = json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        return None
    return tuple(value)
