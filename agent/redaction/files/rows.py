"""Redact the rows of a JSON-lines file: read the fields of each, redact them together, and write the row again."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, get_args

from agent.errors import RedactionError
from agent.redaction.entities import Entity
from agent.redaction.redacted import Withheld
from agent.redaction.spans.span import Span
from agent.redaction.views.nested import Json, texts_in, with_texts
from agent.vocabulary import Identifier

MAX_LINE = 64 * 2**20  # bytes; a longer line is withheld without being read into memory
_ROWS_NAMED = 10  # rows with withheld fields whose numbers are listed; enough to look at
_ENTITIES = frozenset(get_args(Entity))

Others = Literal["keep", "redact", "drop"]


class RecordRedactor(Protocol):
    """An `Engine`, or a stand-in for one."""

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> Sequence[tuple[str, tuple[Span, ...] | Withheld]]:
        """Redact the texts of one record together; return with each the spans that were detected in the original."""
        ...


@dataclass(frozen=True, slots=True)
class RowTask:
    """The options that decide how each row is redacted.

    Attributes:
        fields: redacted together, with all that is nested in them.
        spans: write the detected spans of the original text: [[start, end, entity], ...]; by field where there are
            several fields.
        identifiers: the field that lists known values of the row's people ({"NAME": ["Anna Kowalski"], ...}); it is
            never written.
        unit: the field that names the patient: where a policy moves dates, those of one patient move alike.
        others: whether the other fields are written as they are, redacted together with `fields`, or left out.
    """

    fields: tuple[str, ...]
    spans: bool = False
    identifiers: str | None = None
    unit: str | None = None
    others: Others = "keep"


@dataclass(slots=True)
class RowTally:
    """Counts of redacted rows.

    Attributes:
        rows: all rows.
        identifiers: detected in all rows.
        redacted_rows: rows with at least one detected identifier.
        characters: of the texts that were redacted.
        unchecked_rows: rows with fields that were written without being redacted.
        rows_with_people: rows that have the field of known values (`RowTask.identifiers`).
        rows_with_spans: rows whose own field "spans" was replaced.
        withheld_rows: rows with at least one withheld field.
        withheld: withheld fields, by reason.
        first_withheld: numbers of the first rows with a withheld field, counted from 1.
    """

    rows: int = 0
    identifiers: int = 0
    redacted_rows: int = 0
    characters: int = 0
    unchecked_rows: int = 0
    rows_with_people: int = 0
    rows_with_spans: int = 0
    withheld_rows: int = 0
    withheld: Counter[str] = field(default_factory=Counter)
    first_withheld: list[int] = field(default_factory=list)

    def add(self, later: "RowTally") -> None:
        """Add the counts of `later` rows."""
        self.rows += later.rows
        self.identifiers += later.identifiers
        self.redacted_rows += later.redacted_rows
        self.characters += later.characters
        self.unchecked_rows += later.unchecked_rows
        self.rows_with_people += later.rows_with_people
        self.rows_with_spans += later.rows_with_spans
        self.withheld_rows += later.withheld_rows
        self.withheld.update(later.withheld)
        self.first_withheld = (self.first_withheld + later.first_withheld)[:_ROWS_NAMED]

    def count_row(self, number: int, texts: Sequence["_RowText"], *, has_unchecked: bool) -> None:
        """Count one row by its redacted texts."""
        self.rows += 1
        self.unchecked_rows += has_unchecked
        reasons: list[Withheld] = []
        identifiers = 0
        for text in texts:
            self.characters += len(text.original)
            if isinstance(text.spans, Withheld):
                reasons.append(text.spans)
            else:
                identifiers += len(text.spans)
        self.withhold(number, reasons)
        self.identifiers += identifiers
        self.redacted_rows += identifiers > 0

    def withhold(self, number: int, reasons: Sequence[Withheld]) -> None:
        """Count fields of one row as withheld, one for each reason."""
        if not reasons:
            return
        self.withheld.update(str(reason) for reason in reasons)
        self.withheld_rows += 1
        if len(self.first_withheld) < _ROWS_NAMED:
            self.first_withheld.append(number)


@dataclass(frozen=True, slots=True)
class _RowText:
    """One text of a row, before and after redaction."""

    original: str
    redacted: str
    spans: tuple[Span, ...] | Withheld

    def list_spans(self) -> list[tuple[int, int, str]]:
        """Return the spans as they are written; of a withheld text, one over the whole text."""
        if isinstance(self.spans, Withheld):
            return [(0, len(self.original), "WITHHELD")]
        return [(span.start, span.end, span.entity) for span in self.spans]


def redact_rows(
    lines: Sequence[bytes], first: int, task: RowTask, engine: RecordRedactor
) -> tuple[list[bytes], RowTally]:
    """Return the line that is written for each line, and the counts of all.

    Args:
        lines: of the file, without their ends. A line longer than MAX_LINE may be cut off anywhere behind that.
        first: the number of the first line, counted from 1.

    Raises:
        RedactionError: a row has none of the fields, or its known values or its patient cannot be read.
    """
    tally = RowTally()
    written = [
        _redact_line(line, number, task, engine, tally) for number, line in enumerate(lines, first)
    ]
    return written, tally


def write_withheld_row(number: int, task: RowTask, reason: Withheld, tally: RowTally) -> bytes:
    """Return the line that is written for a row of which nothing can be shown, and count it."""
    tally.rows += 1
    tally.withhold(number, [reason])
    shown: dict[str, Any] = dict.fromkeys(task.fields, f"[WITHHELD: {reason}]")
    if task.spans:
        shown["spans"] = [] if len(task.fields) == 1 else {}
    return _encode_row(shown)


def _redact_line(
    line: bytes, number: int, task: RowTask, engine: RecordRedactor, tally: RowTally
) -> bytes:
    if len(line) > MAX_LINE:
        return write_withheld_row(number, task, Withheld.TOO_LONG, tally)
    try:
        row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        if not isinstance(row, dict):
            return write_withheld_row(number, task, Withheld.UNDECODABLE, tally)
        return _redact_row(row, number, task, engine, tally)
    except (
        ValueError,
        RecursionError,
    ):  # not JSON, a number of thousands of digits, nested too deep
        return write_withheld_row(number, task, Withheld.UNDECODABLE, tally)


def _redact_row(
    row: dict[str, Json], number: int, task: RowTask, engine: RecordRedactor, tally: RowTally
) -> bytes:
    tally.rows_with_people += task.identifiers in row
    identifiers = _take_identifiers(row, number, task)
    unit = _read_unit(row, number, task)
    fields = _select_fields(row, number, task)
    others = {key: value for key, value in row.items() if key not in fields}
    if task.spans:
        others.pop("spans", None)  # the detected spans take its place

    texts = _redact_texts(
        fields, others, task, partial(engine.redact_and_find, identifiers=identifiers, unit=unit)
    )
    replacements = (text.redacted for text in texts)
    redacted_fields = {name: with_texts(value, replacements) for name, value in fields.items()}
    shown = _join_fields(row, redacted_fields, others, _rewrite_others(others, task, replacements))
    if task.spans:
        spans = _list_spans_by_field(fields, texts)
        shown["spans"] = spans if len(task.fields) > 1 else next(iter(spans.values()))
        tally.rows_with_spans += "spans" in row

    line = _encode_row(shown)
    tally.count_row(number, texts, has_unchecked=task.others == "keep" and bool(others))
    return line


def _select_fields(row: dict[str, Json], number: int, task: RowTask) -> dict[str, Json]:
    """Return the fields of a row that the task names."""
    fields = {name: row[name] for name in task.fields if name in row}
    if not fields:
        raise RedactionError(
            f"row {number}: it has no field {' or '.join(task.fields)}",
            "Name fields that the rows have; each row needs one of them. Nothing was written.",
        )
    if task.spans and any(not isinstance(value, str | None) for value in fields.values()):
        raise RedactionError(
            f"row {number}: --spans needs a text in {' and '.join(task.fields)}",
            "Spans can be listed for plain texts only: leave --spans out. Nothing was written.",
        )
    return fields


def _redact_texts(
    fields: dict[str, Json],
    others: dict[str, Json],
    task: RowTask,
    redact: Callable[[Sequence[str]], Sequence[tuple[str, tuple[Span, ...] | Withheld]]],
) -> list[_RowText]:
    """Redact the texts of the fields, and of the other fields if the task asks for that, as one record."""
    values: list[Json] = list(fields.values())
    if task.others == "redact":
        values.append(others)
    originals: list[str] = []
    for value in values:
        originals += texts_in(value)
    texts = []
    for original, (redacted, spans) in zip(originals, redact(originals), strict=True):
        texts.append(_RowText(original, redacted, spans))
    return texts


def _rewrite_others(
    others: dict[str, Json], task: RowTask, replacements: Iterator[str]
) -> dict[str, Json]:
    """Return the other fields as they are written, in their order; redaction may rename their keys."""
    if task.others == "drop":
        return {}
    rewritten = with_texts(others, replacements) if task.others == "redact" else others
    assert isinstance(rewritten, dict)
    return rewritten


def _join_fields(
    row: dict[str, Json],
    redacted: dict[str, Json],
    others: dict[str, Json],
    rewritten: dict[str, Json],
) -> dict[str, Any]:
    """Return the fields that are written, in the order of the row."""
    shown: dict[str, Any] = {}
    rewritten_fields = iter(rewritten.items())
    for key in row:
        if key in redacted:
            shown[key] = redacted[key]
        elif key in others and rewritten:
            new_key, value = next(rewritten_fields)
            shown[new_key] = value
    return shown


def _list_spans_by_field(
    fields: dict[str, Json], texts: Sequence[_RowText]
) -> dict[str, list[tuple[int, int, str]]]:
    """Return the spans of each field, which is a text or null. The texts of the fields come first in `texts`."""
    remaining = iter(texts)
    spans: dict[str, list[tuple[int, int, str]]] = {}
    for name, value in fields.items():
        spans[name] = next(remaining).list_spans() if isinstance(value, str) else []
    return spans


def _read_unit(row: dict[str, Json], number: int, task: RowTask) -> str | None:
    if task.unit is None:
        return None
    unit = row.get(task.unit)
    if isinstance(unit, bool) or not isinstance(unit, str | int) or unit == "":
        raise RedactionError(
            f"row {number}: {task.unit}: expected a text or a whole number that names the patient",
            "Each row needs one where --unit is given. Nothing was written.",
        )
    return str(unit)


def _take_identifiers(row: dict[str, Json], number: int, task: RowTask) -> list[Identifier]:
    """Remove the field of known values from a row, and return them."""
    people = row.pop(task.identifiers, None) if task.identifiers is not None else None
    if people is None:
        return []
    error = RedactionError(
        f'row {number}: {task.identifiers}: expected {{"NAME": ["...", ...], ...}}',
        f"A key is one of {', '.join(sorted(_ENTITIES))}; a value a text or a list of texts. Nothing was written.",
    )
    if not isinstance(people, dict):
        raise error
    identifiers: list[Identifier] = []
    for entity, values in people.items():
        for value in values if isinstance(values, list) else [values]:
            if entity not in _ENTITIES or isinstance(value, bool | list | dict | None):
                raise error
            identifiers.append(Identifier(entity, str(value)))
    return identifiers


def _encode_row(row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair: only JSON's escapes can write it
        return json.dumps(row).encode()
