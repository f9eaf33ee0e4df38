"""Redact the rows of a JSON Lines file: read the fields of each row, redact them together, and write the row."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Literal, Protocol, Self, get_args

from agent.errors import RedactionError
from agent.redaction.entities import Entity
from agent.redaction.redacted import Withheld
from agent.redaction.spans.span import Span
from agent.redaction.views.nested import Json, texts_in, with_texts
from agent.vocabulary import Identifier

MAX_LINE = 64 * 2**20  # bytes; longer lines are withheld without being read into memory
_ROWS_NAMED = 10  # maximum number of rows with withheld fields that are listed by number
_ENTITIES = frozenset(get_args(Entity))

Others = Literal["keep", "redact", "drop"]


class RecordRedactor(Protocol):
    """An `Engine`, or a replacement for it in tests."""

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> Sequence[tuple[str, tuple[Span, ...] | Withheld]]:
        """Redact the texts of one record together; return each with the spans detected in the original text."""
        ...


@dataclass(frozen=True, slots=True)
class RowTask:
    """The options that determine how each row is redacted.

    Attributes:
        fields: names of the fields to redact together, including all texts nested in them.
        spans: whether to write the detected spans of the original text: [[start, end, entity], ...], or by field if
            there are several fields.
        identifiers: the field that lists known values of the people in the row ({"NAME": ["Anna Kowalski"], ...}). It
            is never written.
        unit: the field that identifies the patient. If the policy moves dates, all dates of a patient move alike.
        others: whether the other fields are written unchanged, redacted together with `fields`, or omitted.
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
        rows: number of rows.
        identifiers: number of identifiers detected in all rows.
        redacted_rows: rows with at least one detected identifier.
        characters: number of characters in the redacted texts.
        unchecked_rows: rows with fields that were written without redaction.
        rows_with_people: rows that have the field of known values (`RowTask.identifiers`).
        rows_with_spans: rows whose own field "spans" was replaced.
        withheld_rows: rows with at least one withheld field.
        withheld: number of withheld fields, by reason.
        first_withheld: numbers of the first rows with a withheld field, starting at 1.
        dead_letters: the number of each row with a withheld field, and the reasons. Sums leave them out, so that a
            tally stays small.
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
    dead_letters: list[tuple[int, list[str]]] = field(default_factory=list, compare=False)

    @classmethod
    def load(cls, counts: Mapping[str, Any]) -> Self:
        """Return the tally that `dump` wrote."""
        return cls(**{**counts, "withheld": Counter(counts["withheld"])})

    def dump(self) -> dict[str, Any]:
        """Return the counts as JSON can represent them. They contain no text."""
        # asdict cannot copy a Counter.
        return {**asdict(self), "withheld": dict(self.withheld)}

    def add(self, later: "RowTally") -> None:
        """Add the counts of `later` rows to these."""
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
        """Count one row, given its redacted texts."""
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
        """Count the withheld fields of one row, given a reason for each."""
        if not reasons:
            return
        self.withheld.update(str(reason) for reason in reasons)
        self.withheld_rows += 1
        self.dead_letters.append((number, [str(reason) for reason in reasons]))
        if len(self.first_withheld) < _ROWS_NAMED:
            self.first_withheld.append(number)


@dataclass(frozen=True, slots=True)
class _RowText:
    """One text of a row, before and after redaction."""

    original: str
    redacted: str
    spans: tuple[Span, ...] | Withheld

    def list_spans(self) -> list[tuple[int, int, str]]:
        """Return the spans to write; for a withheld text, one span over the whole text."""
        if isinstance(self.spans, Withheld):
            return [(0, len(self.original), "WITHHELD")]
        return [(span.start, span.end, span.entity) for span in self.spans]


def redact_rows(
    lines: Sequence[bytes], first: int, task: RowTask, engine: RecordRedactor
) -> tuple[list[bytes], RowTally]:
    """Return the output line for each input line, and the counts of all rows.

    Args:
        lines: lines of the file, without line ends. A line longer than MAX_LINE may be truncated after that length.
        first: number of the first line, starting at 1.

    Raises:
        RedactionError: a row lacks all the fields, or its known values or its patient cannot be read.
    """
    tally = RowTally()
    written = [
        _redact_line(line, number, task, engine, tally) for number, line in enumerate(lines, first)
    ]
    return written, tally


def write_withheld_row(number: int, task: RowTask, reason: Withheld, tally: RowTally) -> bytes:
    """Return the output line for a row that is withheld entirely, and count it."""
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
    # Not JSON, a number with thousands of digits, or nested too deeply.
    except (ValueError, RecursionError):
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
        others.pop("spans", None)  # replaced by the detected spans

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
    """Return the fields of a row that the task lists."""
    fields = {name: row[name] for name in task.fields if name in row}
    if not fields:
        raise RedactionError(
            f"row {number}: has no field {' or '.join(task.fields)}",
            "Give fields that occur in the rows: each row needs at least one of them. Nothing was written.",
        )
    if task.spans and any(not isinstance(value, str | None) for value in fields.values()):
        raise RedactionError(
            f"row {number}: with --spans, the value of {' and '.join(task.fields)} must be a text or null",
            "Spans can be listed only for plain texts: omit --spans. Nothing was written.",
        )
    return fields


def _redact_texts(
    fields: dict[str, Json],
    others: dict[str, Json],
    task: RowTask,
    redact: Callable[[Sequence[str]], Sequence[tuple[str, tuple[Span, ...] | Withheld]]],
) -> list[_RowText]:
    """Redact the texts of the fields as one record, with the other fields if the task requires that."""
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
    """Return the other fields for output, in their order; redaction may rename their keys."""
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
    """Return the output fields in the order of the row."""
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
    """Return the spans of each field, whose value is a text or null; `texts` begins with the fields' texts."""
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
            f"row {number}: {task.unit}: expected a text or a whole number that identifies the patient",
            "With --unit, each row needs this field. Nothing was written.",
        )
    return str(unit)


def _take_identifiers(row: dict[str, Json], number: int, task: RowTask) -> list[Identifier]:
    """Remove the field of known values from a row, and return the values."""
    people = row.pop(task.identifiers, None) if task.identifiers is not None else None
    if people is None:
        return []
    error = RedactionError(
        f'row {number}: {task.identifiers}: expected {{"NAME": ["...", ...], ...}}',
        f"Each key is one of {', '.join(sorted(_ENTITIES))}; each value is a text or a list of texts. "
        "Nothing was written.",
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
    except UnicodeEncodeError:  # half of a surrogate pair, which only JSON escapes can represent
        return json.dumps(row).encode()
