"""From rows of text to instances: the prompt, the references and the unit of each. Pure."""

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from agent.catalog.benchmark import Benchmark
from agent.catalog.question import Choices, Gold
from agent.catalog.template import compile_template, nearest_column
from agent.datasets.prompt import OPTIONS, Instructions, PromptTemplate, fields_of, instructions_of
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.references import LETTERS, references, right_answer
from agent.vocabulary import Identifier, Instance, Reference


@dataclass(frozen=True, slots=True)
class _Reading:
    """How one table's rows are read: `required` cells are never empty, `arguments` stand in for further columns."""

    prompt: PromptTemplate
    gold: Gold | None
    required: tuple[str, ...]
    arguments: Mapping[str, str]

    def is_whole(self, row: Row, problems: Problems) -> bool:
        """Note the columns that are empty in the row."""
        empty = [column for column in self.required if not row.cells.get(column, "").strip()]
        for column in empty:
            problems.add(row.where, f"the column {column!r} is empty")
        return not empty


class InstanceMaker:
    """Makes the instances of one benchmark, table by table, and notes every problem.

    Args:
        benchmark: says how.
        arguments: the run entry's own of the benchmark; each is also a column that the table need not have.
        instructions: HELM's expander.
        examples: solved, to show before the question.
        fault_of: says of each instance what is wrong with it besides, "" for nothing.

    Attributes:
        named: the columns that the definition names, whether a table has them or not.
        filtered: for messages: which rows the arguments take; empty: all.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        arguments: Mapping[str, str],
        instructions: Instructions | None = None,
        examples: tuple[str, ...] = (),
        fault_of: Callable[[Instance], str] | None = None,
    ) -> None:
        self._benchmark = benchmark
        self._fault_of = fault_of
        self._instructions = instructions_of(benchmark, instructions)
        self._examples = examples
        self._arguments = {
            name: arguments.get(name, "") for name, argument in benchmark.arguments.items() if argument.kind == "text"
        }
        self._wanted = {  # column -> the value of the rows that are taken
            argument.column: arguments[name]
            for name, argument in benchmark.arguments.items()
            if argument.column and arguments.get(name)
        }
        self._choices = _with_arguments(benchmark.choices, self._arguments)
        self.named = self._expected(benchmark.gold)
        self.filtered = "".join(f" with {column}={value}" for column, value in self._wanted.items())
        self._first: dict[str, tuple[str, str]] = {}  # id -> file and place where it was first seen
        self._rows = 0

    def make(self, table: Table, problems: Problems) -> Iterator[Instance]:
        """Yield an instance for every row that is asked and has no problem."""
        reading = self._reading(table, problems, self._instructions, self._examples)
        if reading is None:
            return
        for row in table.rows:
            self._rows += 1
            if self._is_wanted(row) and not self._is_example(row) and reading.is_whole(row, problems):
                instance = self._instance(row, reading, problems)
                if instance is not None:
                    if self._fault_of and (fault := self._fault_of(instance)):
                        problems.add(row.where, fault)
                    yield instance

    def solve(self, table: Table, problems: Problems) -> Iterator[str]:
        """Yield a solved example for every row that may be one: the question, a space and the right answer."""
        reading = self._reading(table, problems, "", (), solved=True)
        if reading is None:
            return
        few_shot = self._benchmark.few_shot
        all_are_examples = few_shot is not None and few_shot.dataset_file is not None
        for row in table.rows:
            if self._is_wanted(row) and (all_are_examples or self._is_example(row)) and reading.is_whole(row, problems):
                found = references(row, reading.gold, self._choices, problems)
                if found is not None:
                    question = reading.prompt.question(self._cells(row, reading, found))
                    yield f"{question} {right_answer(found, multiple_choice=self._choices is not None)}"

    def _reading(
        self, table: Table, problems: Problems, instructions: str, examples: tuple[str, ...], *, solved: bool = False
    ) -> _Reading | None:
        """Hold the definition against the table's columns; None if no row can be read."""
        benchmark, columns = self._benchmark, table.columns
        arguments = {name: value for name, value in self._arguments.items() if name not in columns}
        known = {*columns, *arguments, *([OPTIONS] if self._choices else [])}
        # An example is the question and its answer alone.
        shown = replace(benchmark, system_template="", messages_column=None, shorten=None) if solved else benchmark
        prompt = PromptTemplate(shown, known, instructions, examples)
        gold = _with_columns(benchmark.gold, columns)
        used = (*prompt.columns, *self._wanted, *(self._answer(gold) if solved else self._definition(gold)))
        needed = _without(used, known - set(columns))
        if (needed or self.named) and not set(needed) & set(columns):
            names = ", ".join(map(repr, self._expected(gold)))
            where, hint = ("line 1", "; is the header line missing?") if table.has_header else ("the whole file", "")
            problems.add(where, f"holds none of the columns {names}{hint}")
            return None
        for problem in prompt.problems:
            problems.add("prompt", problem)
        if self._choices and OPTIONS in columns:
            problems.add("prompt", f"{OPTIONS!r} stands for the option lines and cannot be a column too")
        missing = [column for column in needed if column not in columns]
        for column in missing:
            problems.add("columns", f"{column!r} is missing{nearest_column(column, columns)}")
        if missing:
            return None
        few_shot = {benchmark.few_shot.column} if benchmark.few_shot else set()
        may_be_empty = {*benchmark.optional_columns, *self._wanted, *few_shot, *benchmark.subgroup_columns.values()}
        may_be_empty |= {*benchmark.identifiers} - {*prompt.columns, *self._answer(gold)}
        return _Reading(prompt, gold, _without(needed, may_be_empty), arguments)

    def _answer(self, gold: Gold | None) -> tuple[str, ...]:
        """The columns of the options and the right answer."""
        named = [*self._choices.columns] if self._choices else []
        named += [gold.column] if gold else []
        named += [gold.incorrect_column] if gold and gold.incorrect_column else []
        return tuple(named)

    def _definition(self, gold: Gold | None) -> tuple[str, ...]:
        """The columns that the definition names besides the prompt's."""
        benchmark = self._benchmark
        single = (benchmark.unit_column, benchmark.id_column, benchmark.few_shot and benchmark.few_shot.column)
        maps = (*benchmark.extra_columns.values(), *benchmark.subgroup_columns.values(), *benchmark.identifiers)
        return (*self._answer(gold), *(column for column in single if column), *maps)

    def _expected(self, gold: Gold | None) -> tuple[str, ...]:
        """The columns that a table is expected to have, some of which may be misspelt in the prompt."""
        fields = fields_of(self._benchmark, self._instructions)
        pseudo = {*self._arguments, *([OPTIONS] if self._choices else [])}
        return _without((*fields, *self._wanted, *self._definition(gold)), pseudo)

    def _is_wanted(self, row: Row) -> bool:
        return all(row.cells.get(column, "").strip() == value for column, value in self._wanted.items())

    def _is_example(self, row: Row) -> bool:
        few_shot = self._benchmark.few_shot
        if few_shot is None or not few_shot.column:
            return False
        return row.cells.get(few_shot.column, "").strip() == few_shot.value

    def _cells(self, row: Row, reading: _Reading, found: tuple[Reference, ...]) -> Mapping[str, str]:
        """The row's cells with what stands in for columns."""
        if self._choices is None and not reading.arguments:
            return row.cells
        lines = "\n".join(f"{LETTERS[i]}. {reference.text}" for i, reference in enumerate(found))
        return {**reading.arguments, **row.cells, **({OPTIONS: lines} if self._choices else {})}

    def _instance(self, row: Row, reading: _Reading, problems: Problems) -> Instance | None:
        benchmark = self._benchmark
        found = references(row, reading.gold, self._choices, problems)
        identity = row.cells[benchmark.id_column].strip() if benchmark.id_column else str(self._rows)
        if benchmark.id_column:
            here = (problems.file_name, row.where)
            first = self._first.setdefault(identity, here)
            if first is not here:
                file = "" if first[0] == here[0] else f"{first[0]}: "
                problems.add(row.where, f"has the same {benchmark.id_column!r} as {file}{first[1]}")
                return None
        if found is None:
            return None
        cells = self._cells(row, reading, found)
        asked = reading.prompt.ask(cells)
        if asked is None:
            problems.add(
                row.where,
                f"the column {benchmark.messages_column!r} is not a JSON list of messages, each with a role (system, "
                "which comes once and first, user or assistant) and a content, the last of the user",
            )
            return None
        subgroups = {name: cells.get(column, "").strip() for name, column in benchmark.subgroup_columns.items()}
        return Instance(
            id=identity,
            unit=row.cells[benchmark.unit_column].strip() if benchmark.unit_column else identity,
            messages=asked[0],
            references=found,
            multiple_choice=self._choices is not None,
            extra={name: cells.get(column, "") for name, column in benchmark.extra_columns.items()},
            subgroups={name: value for name, value in subgroups.items() if value},
            shortenable=asked[1],
            identifiers=tuple(
                Identifier(kind, value)
                for column, kind in benchmark.identifiers.items()
                if (value := cells.get(column, "").strip())
            ),
        )


def _without(columns: tuple[str, ...], out: Collection[str]) -> tuple[str, ...]:
    """Leave some out; each column once."""
    return tuple(dict.fromkeys(column for column in columns if column not in out))


def _with_arguments(choices: Choices | None, arguments: Mapping[str, str]) -> Choices | None:
    """Fill the arguments into the options' texts."""
    if choices is None or not choices.texts or not arguments:
        return choices
    texts = (compile_template(text, arguments)[0].render(arguments) for text in choices.texts)
    return Choices(texts=tuple(texts))


def _with_columns(gold: Gold | None, columns: tuple[str, ...]) -> Gold | None:
    """Forget the column of wrong answers where the table has none."""
    if gold and gold.incorrect_column and gold.incorrect_column not in columns:
        return Gold(gold.column, gold.form)
    return gold
