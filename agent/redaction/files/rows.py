"""Rows of a JSON-lines file: which of their fields are cleared, and what is written of them."""

import json
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from agent.errors import RedactionError
from agent.redaction.entities import Entity
from agent.redaction.redacted import Withheld
from agent.redaction.spans.span import Span
from agent.redaction.views.nested import Json, texts_in, with_texts
from agent.vocabulary import Identifier

MOST_LINE = 64 * 2**20  # bytes; a longer line is withheld without being read into memory
_ROWS_NAMED = 10  # of those in which something was withheld
_ENTITIES = frozenset(get_args(Entity))

Others = Literal["keep", "redact", "drop"]


class Clears(Protocol):
    """The engine, or one made elsewhere."""

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = (), unit: str | None = None
    ) -> Sequence[tuple[str, tuple[Span, ...] | Withheld]]:
        """Clear the texts of one record together; beside each, what was found where in the original."""
        ...


@dataclass(frozen=True, slots=True)
class RowTask:
    """What to do with each row.

    Attributes:
        fields: are cleared, together; whatever is nested in them too.
        spans: write places in the original text: [[start, end, entity], ...]; by field where there are several.
        identifiers: the field that says what is known of the row's people ({"NAME": ["Anna Kowalski"], ...}); it is
            never written.
        unit: the field that names the patient: where a policy moves dates, those of one patient move alike.
        others: whether the other fields are written as they are, cleared together with the rest, or not at all.
    """

    fields: tuple[str, ...]
    spans: bool = False
    identifiers: str | None = None
    unit: str | None = None
    others: Others = "keep"


@dataclass(slots=True)
class RowTally:
    """What became of rows.

    Attributes:
        found: identifiers found.
        touched: rows in which any was found.
        characters: of the texts looked at.
        withheld: fields not shown, by reason.
        spoilt: rows with such a field; rows_withheld: the first few of them, counted from 1.
        unread: rows with fields that nobody looked at.
        introduced: rows that say who they are about, in the field for that.
        replaced: rows that had a field of the name under which places are written.
    """

    rows: int = 0
    found: int = 0
    touched: int = 0
    characters: int = 0
    unread: int = 0
    introduced: int = 0
    replaced: int = 0
    spoilt: int = 0
    withheld: Counter[str] = field(default_factory=Counter)
    rows_withheld: list[int] = field(default_factory=list)

    def add(self, other: "RowTally") -> None:
        """Count the rows of `other`, which come later, as well."""
        self.rows += other.rows
        self.found += other.found
        self.touched += other.touched
        self.characters += other.characters
        self.unread += other.unread
        self.introduced += other.introduced
        self.replaced += other.replaced
        self.spoilt += other.spoilt
        self.withheld.update(other.withheld)
        self.rows_withheld = (self.rows_withheld + other.rows_withheld)[:_ROWS_NAMED]

    def withhold(self, number: int, reasons: Sequence[Withheld]) -> None:
        """Count fields of one row as withheld."""
        self.withheld.update(str(reason) for reason in reasons)
        self.spoilt += bool(reasons)
        if reasons and len(self.rows_withheld) < _ROWS_NAMED:
            self.rows_withheld.append(number)


def redact_rows(lines: Sequence[bytes], first: int, task: RowTask, engine: Clears) -> tuple[list[bytes], RowTally]:
    """Return what is written for each line, and what became of them.

    Args:
        lines: of the file, without their ends. Of one that is longer than MOST_LINE any longer part will do.
        first: the number of the first of them, counted from 1.

    Raises:
        RedactionError: a row has none of the fields, or says of its people what cannot be understood.
    """
    tally = RowTally()
    return [_redacted(line, number, task, engine, tally) for number, line in enumerate(lines, first)], tally


def withheld_row(number: int, task: RowTask, reason: Withheld, tally: RowTally) -> bytes:
    """Return what is written for a row of which nothing can be shown."""
    tally.rows += 1
    tally.withhold(number, [reason])
    shown: dict[str, Any] = dict.fromkeys(task.fields, f"[WITHHELD: {reason}]")
    if task.spans:
        shown["spans"] = [] if len(task.fields) == 1 else {}
    return _line(shown)


def _redacted(line: bytes, number: int, task: RowTask, engine: Clears, tally: RowTally) -> bytes:
    if len(line) > MOST_LINE:
        return withheld_row(number, task, Withheld.TOO_LONG, tally)
    try:
        row = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
        if not isinstance(row, dict):
            return withheld_row(number, task, Withheld.UNDECODABLE, tally)
        return _cleared_row(row, number, task, engine, tally)
    except (ValueError, RecursionError):  # no JSON, a number of thousands of digits, nested too deep
        return withheld_row(number, task, Withheld.UNDECODABLE, tally)


def _cleared_row(row: dict[str, Json], number: int, task: RowTask, engine: Clears, tally: RowTally) -> bytes:
    tally.introduced += task.identifiers in row
    identifiers = tuple(_identifiers(row, number, task))
    unit = _unit(row, number, task)
    named = {name: row[name] for name in task.fields if name in row}
    if not named:
        raise RedactionError(
            f"row {number}: it has no field {' or '.join(task.fields)}",
            "Name fields that the rows have; each row needs one of them. Nothing was written.",
        )
    if task.spans and any(not isinstance(value, str | None) for value in named.values()):
        raise RedactionError(
            f"row {number}: --spans needs a text in {' and '.join(task.fields)}",
            "Places can be told in plain texts only: leave --spans out. Nothing was written.",
        )
    # What --spans writes takes the place of a field of that name.
    others = {key: value for key, value in row.items() if key not in named and not (task.spans and key == "spans")}
    read: list[Json] = [*named.values(), *([others] if task.others == "redact" else [])]
    texts = [text for value in read for text in texts_in(value)]
    results = engine.redact_and_find(texts, identifiers, unit)
    replaced = iter([shown for shown, _ in results])
    cleared = dict(zip(named, [with_texts(value, replaced) for value in named.values()], strict=True))
    rest = _rest(others, task, replaced)
    shown: dict[str, Any] = {}
    for key in row:  # fields keep their order, whatever the others are called now
        if key in cleared:
            shown[key] = cleared[key]
        elif key in others and rest:
            other, value = rest.popleft()
            shown[other] = value
    if task.spans:
        places = iter([_places(text, found) for text, (_, found) in zip(texts, results, strict=True)])
        by_field = {name: next(places) if isinstance(value, str) else [] for name, value in named.items()}
        shown["spans"] = by_field if len(task.fields) > 1 else next(iter(by_field.values()))
        tally.replaced += "spans" in row
    line = _line(shown)
    tally.rows += 1
    tally.characters += sum(map(len, texts))
    tally.unread += task.others == "keep" and bool(others)
    tally.withhold(number, [found for _, found in results if isinstance(found, Withheld)])
    found = sum(len(found) for _, found in results if not isinstance(found, Withheld))
    tally.found += found
    tally.touched += found > 0
    return line


def _rest(others: dict[str, Json], task: RowTask, replaced: Iterator[str]) -> deque[tuple[str, Json]]:
    """Return what is written of the other fields, in their order."""
    if task.others == "drop":
        return deque()
    shown = with_texts(others, replaced) if task.others == "redact" else others
    assert isinstance(shown, dict)
    return deque(shown.items())


def _unit(row: dict[str, Json], number: int, task: RowTask) -> str | None:
    if task.unit is None:
        return None
    unit = row.get(task.unit)
    if isinstance(unit, bool) or not isinstance(unit, str | int) or unit == "":
        raise RedactionError(
            f"row {number}: {task.unit}: expected a text or a whole number that names the patient",
            "Each row needs one where --unit is given. Nothing was written.",
        )
    return str(unit)


def _identifiers(row: dict[str, Json], number: int, task: RowTask) -> Iterator[Identifier]:
    """Take what is known of the row's people out of it."""
    known = row.pop(task.identifiers, None) if task.identifiers is not None else None
    if known is None:
        return
    wrong = RedactionError(
        f'row {number}: {task.identifiers}: expected {{"NAME": ["...", ...], ...}}',
        f"A key is one of {', '.join(sorted(_ENTITIES))}; a value a text or a list of texts. Nothing was written.",
    )
    if not isinstance(known, dict):
        raise wrong
    for entity, values in known.items():
        for value in values if isinstance(values, list) else [values]:
            if entity not in _ENTITIES or isinstance(value, bool | list | dict | None):
                raise wrong
            yield Identifier(entity, str(value))


def _places(text: str, found: tuple[Span, ...] | Withheld) -> list[tuple[int, int, str]]:
    if isinstance(found, Withheld):
        return [(0, len(text), "WITHHELD")]
    return [(span.start, span.end, span.entity) for span in found]


def _line(row: dict[str, Any]) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half of a surrogate pair, which stands for itself in JSON's escapes alone
        return json.dumps(row).encode()
