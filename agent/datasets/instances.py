"""From rows of text to instances: the prompt, the references and the unit of each. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Literal

from agent.catalog.benchmark import Benchmark
from agent.catalog.question import Choices, Gold
from agent.catalog.template import Template, compile_template, nearest_column, placeholders
from agent.datasets.table import Problems, Row, Table
from agent.vocabulary import Instance, Message, Reference

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
OPTIONS = "options"
Instructions = Literal["none", "expert"]

# What HELM's `instructions=expert` does, in our own words.
_EXPERT = "You are an expert in the field of the following task. "


class InstanceMaker:
    """Makes the instances of one benchmark, table by table, and notes every problem.

    Attributes:
        named: the columns that the definition names, whether a table has them or not.
    """

    def __init__(self, benchmark: Benchmark, instructions: Instructions | None = None) -> None:
        self._benchmark = benchmark
        head = {"none": "", "expert": _EXPERT + benchmark.instructions, None: benchmark.instructions}[instructions]
        self._prompt = f"{head.strip()}\n\n{benchmark.template}" if head.strip() else benchmark.template
        self.named = self._without_options((*placeholders(self._prompt), *self._definition(benchmark.gold)))
        self._where: dict[str, str] = {}  # id -> where it was first seen
        self._rows = 0

    def make(self, table: Table, problems: Problems) -> Iterator[Instance]:
        """Yield an instance for every row that has no problem."""
        benchmark, columns = self._benchmark, table.columns
        template, wrong = self._template(columns)
        gold = _with_columns(benchmark.gold, columns)
        needed = self._without_options((*template.columns, *self._definition(gold)))
        if self.named and not set(needed) & set(columns):
            expected = self._without_options((*placeholders(self._prompt), *self._definition(gold)))
            names = ", ".join(map(repr, expected))
            where, hint = ("line 1", "; is the header line missing?") if table.has_header else ("the whole file", "")
            problems.add(where, f"holds none of the columns {names}{hint}")
            return
        for problem in wrong:
            problems.add("prompt", problem)
        missing = [column for column in needed if column not in columns]
        for column in missing:
            problems.add("columns", f"{column!r} is missing{nearest_column(column, columns)}")
        if missing:
            return
        optional = frozenset(benchmark.optional_columns)
        required = [column for column in needed if column not in optional]
        for row in table.rows:
            self._rows += 1
            empty = [column for column in required if not row.cells.get(column, "").strip()]
            for column in empty:
                problems.add(row.where, f"the column {column!r} is empty")
            if not empty:
                instance = self._instance(row, template, gold, problems)
                if instance is not None:
                    yield instance

    def _template(self, columns: tuple[str, ...]) -> tuple[Template, tuple[str, ...]]:
        choices = self._benchmark.choices
        template, wrong = compile_template(self._prompt, {*columns, OPTIONS} if choices else set(columns))
        if choices and OPTIONS in columns:
            wrong += (f"{OPTIONS!r} stands for the option lines and cannot be a column too",)
        if choices and OPTIONS not in template.columns:
            wrong += ("shows no {options}",)
        return template, wrong

    def _definition(self, gold: Gold | None) -> tuple[str, ...]:
        """The columns that the definition names besides the prompt's."""
        benchmark = self._benchmark
        named = [*benchmark.choices.columns] if benchmark.choices else []
        named += [gold.column] if gold else []
        named += [gold.incorrect_column] if gold and gold.incorrect_column else []
        named += [column for column in (benchmark.unit_column, benchmark.id_column) if column]
        return (*named, *benchmark.extra_columns.values())

    def _without_options(self, columns: tuple[str, ...]) -> tuple[str, ...]:
        """Take out what stands for the option lines; each column once."""
        return tuple(dict.fromkeys(c for c in columns if c != OPTIONS or not self._benchmark.choices))

    def _instance(self, row: Row, template: Template, gold: Gold | None, problems: Problems) -> Instance | None:
        benchmark, cells = self._benchmark, row.cells
        references = _references(row, gold, benchmark.choices, problems)
        identity = cells[benchmark.id_column].strip() if benchmark.id_column else str(self._rows)
        first = self._where.setdefault(identity, row.where)
        if first is not row.where:
            problems.add(row.where, f"has the same {benchmark.id_column!r} as {first}")
            return None
        if references is None:
            return None
        if benchmark.choices:
            lines = "\n".join(f"{LETTERS[i]}. {reference.text}" for i, reference in enumerate(references))
            cells = {**cells, OPTIONS: lines}
        return Instance(
            id=identity,
            unit=cells[benchmark.unit_column].strip() if benchmark.unit_column else identity,
            messages=(Message("user", template.render(cells)),),
            references=references,
            multiple_choice=benchmark.choices is not None,
            extra={name: cells.get(column, "") for name, column in benchmark.extra_columns.items()},
        )


def _with_columns(gold: Gold | None, columns: tuple[str, ...]) -> Gold | None:
    """Forget the column of wrong answers where the table has none."""
    if gold and gold.incorrect_column and gold.incorrect_column not in columns:
        return Gold(gold.column, gold.form)
    return gold


def _references(
    row: Row, gold: Gold | None, choices: Choices | None, problems: Problems
) -> tuple[Reference, ...] | None:
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
