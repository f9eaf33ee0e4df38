"""Make instances with their prompts, references and units from rows of text. Pure."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from agent.catalog.benchmark import Benchmark
from agent.catalog.question import Choices, Gold
from agent.catalog.template import compile_template, describe_found_columns, suggest_column
from agent.datasets.prompt import (
    OPTIONS,
    Instructions,
    PromptTemplate,
    RenderedText,
    list_fields,
    read_instructions,
    write_option_lines,
)
from agent.datasets.readers.table import Problems, Row, Table
from agent.datasets.references import find_right_answer, read_references
from agent.datasets.row_numbers import RowNumbers
from agent.vocabulary import Identifier, Instance, Reference


@dataclass(frozen=True, slots=True)
class _Reading:
    """The rules for reading one table's rows.

    Attributes:
        prompt: the prompt template.
        gold: the definition of the right answers, if any.
        required: the columns whose cells must not be empty.
        arguments: values of the arguments that serve as additional columns.
    """

    prompt: PromptTemplate
    gold: Gold | None
    required: tuple[str, ...]
    arguments: Mapping[str, str]

    def is_whole(self, row: Row, problems: Problems) -> bool:
        """Return whether all required cells of a row are filled, and record a problem for each empty one."""
        empty = [column for column in self.required if not row.cells.get(column, "").strip()]
        for column in empty:
            problems.add(row.where, f"the column {column!r} is empty")
        return not empty


class InstanceMaker:
    """Makes the instances of one benchmark, table by table, and records all problems.

    Args:
        benchmark: the definition of the benchmark.
        arguments: the benchmark's arguments in the run entry; each also serves as a column of every table.
        instructions: the value of HELM's `instructions` run expander.
        examples: solved examples to show before the question.
        fault_of: an additional check; returns the problem that it finds in an instance, or "" if there is none.
        row_numbers: notes each instance's id, and the id that earlier versions gave it.
        source: see `Instance.source`.

    Attributes:
        named: the columns that the definition names, whether or not a table has them.
        filtered: text for messages that describes which rows the arguments select, such as " with split=test"; empty if
            they select all.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        arguments: Mapping[str, str],
        instructions: Instructions | None = None,
        examples: tuple[RenderedText, ...] = (),
        fault_of: Callable[[Instance], str] | None = None,
        row_numbers: RowNumbers | None = None,
        source: str = "",
    ) -> None:
        self._benchmark = benchmark
        self._source = source
        self._row_numbers = row_numbers
        self._fault_of = fault_of
        self._instructions = read_instructions(benchmark, instructions)
        self._examples = examples
        self._arguments: dict[str, str] = {}
        self._selected: dict[str, str] = {}  # column -> the value that a row must have to be read
        for name, argument in benchmark.arguments.items():
            if argument.kind == "text":
                self._arguments[name] = arguments.get(name, "")
            if argument.column and arguments.get(name):
                self._selected[argument.column] = arguments[name]
        self._choices = _fill_choices(benchmark.choices, self._arguments)
        self.named = self._list_expected(benchmark.gold)
        self.filtered = "".join(
            f" with {column}={value}" for column, value in self._selected.items()
        )
        self._first: dict[str, tuple[str, str]] = {}  # id -> file and row where it first occurs
        self._rows_read = 0
        self._earlier_files = (
            0  # rows of the files before the current one, from which it is numbered on
        )

    def make(self, table: Table, problems: Problems) -> Iterator[Instance]:
        """Yield an instance for every selected row that can be read; solved examples are skipped."""
        prompt = PromptTemplate(
            self._benchmark, self._list_placeholders(table), self._instructions, self._examples
        )
        gold = _drop_missing_column(self._benchmark.gold, table.columns)
        reading = self._check_columns(table, problems, prompt, gold, self._list_definition(gold))
        if reading is None:
            return
        last_number = 0
        for row in table.rows:
            self._rows_read += 1
            last_number = row.number or last_number + 1
            if (
                not self._is_selected(row)
                or self._is_example(row)
                or not reading.is_whole(row, problems)
            ):
                continue
            number = self._earlier_files + last_number
            instance = self._make_instance(row, number, reading, problems)
            if instance is None:
                continue
            if self._row_numbers is not None:
                earlier_id = self._find_earlier_id(row, instance.id)
                self._row_numbers.note(instance.id, earlier_id)
            fault = self._fault_of(instance) if self._fault_of else ""
            if fault:
                problems.add(row.where, fault)
            yield instance
        self._earlier_files += last_number

    def solve(self, table: Table, problems: Problems) -> Iterator[RenderedText]:
        """Yield the question, a space and the right answer of every row that can be a solved example."""
        # Examples have no system prompt and no earlier messages, and none of their columns is shortened.
        question_only = replace(
            self._benchmark, system_template="", messages_column=None, shorten=None
        )
        prompt = PromptTemplate(
            question_only, self._list_placeholders(table), instructions="", examples=()
        )
        gold = _drop_missing_column(self._benchmark.gold, table.columns)
        reading = self._check_columns(
            table, problems, prompt, gold, self._list_answer_columns(gold)
        )
        if reading is None:
            return
        few_shot = self._benchmark.few_shot
        all_are_examples = few_shot is not None and few_shot.dataset_file is not None
        for row in table.rows:
            is_example = all_are_examples or self._is_example(row)
            if not self._is_selected(row) or not is_example or not reading.is_whole(row, problems):
                continue
            references = read_references(row, reading.gold, self._choices, problems)
            if references is not None:
                question = reading.prompt.render_question(
                    self._complete_cells(row, reading, references), self._list_options(references)
                )
                yield RenderedText.join(
                    [question, RenderedText(" "), self._render_answer(references)]
                )

    def _list_options(self, references: tuple[Reference, ...]) -> tuple[Reference, ...]:
        return () if self._choices is None else references

    def _render_answer(self, references: tuple[Reference, ...]) -> RenderedText:
        """Return the right answer. An option's letter comes from the benchmark, and a text from the record."""
        is_choice = self._choices is not None
        answer = find_right_answer(references, multiple_choice=is_choice)
        if is_choice or self._benchmark.gold is None:
            return RenderedText(answer)
        return RenderedText.from_record(answer, self._benchmark.gold.column)

    def _list_placeholders(self, table: Table) -> set[str]:
        """Return the names that may appear in braces in the prompt."""
        names = {*table.columns, *self._arguments}
        if self._choices:
            names.add(OPTIONS)
        return names

    def _check_columns(
        self,
        table: Table,
        problems: Problems,
        prompt: PromptTemplate,
        gold: Gold | None,
        columns_read: tuple[str, ...],
    ) -> _Reading | None:
        """Compare the definition with the table's columns; return None if no row can be read."""
        columns = set(table.columns)
        columns_used = (*prompt.columns, *self._selected, *columns_read)
        needed = _drop_columns(columns_used, self._list_placeholders(table) - columns)
        if (needed or self.named) and columns.isdisjoint(needed):
            self._note_no_column(table, gold, problems)
            return None
        self._note_absent(table, prompt, needed, problems)
        for problem in prompt.problems:
            problems.add("prompt", problem)
        if self._choices and OPTIONS in columns:
            problems.add(
                "prompt", f"{OPTIONS!r} stands for the option lines, so it cannot also be a column"
            )
        if not columns.issuperset(needed):
            return None
        return _Reading(
            prompt=prompt,
            gold=gold,
            required=_drop_columns(needed, self._list_optional(prompt, gold)),
            arguments={
                name: value for name, value in self._arguments.items() if name not in columns
            },
        )

    def _note_absent(
        self, table: Table, prompt: PromptTemplate, needed: Collection[str], problems: Problems
    ) -> None:
        """Record which columns a table lacks, those of the prompt too, beside all that it has.

        A similar column is named here, unless a problem of the prompt names it.
        """
        fields = list_fields(self._benchmark, self._instructions) if prompt.problems else []
        expected = self._drop_arguments((*fields, *needed))
        absent = [column for column in expected if column not in table.columns]
        if not absent:
            return
        in_file = [column for column in expected if column not in table.added]
        found = describe_found_columns(table.file_columns, in_file)
        missing: list[str] = []
        for column in absent:
            similar = suggest_column(column, table.columns) if column in needed else ""
            missing.append(f"{column!r}{similar}")
        problems.add(
            "columns", f"missing {', '.join(missing)}; expected {_list_names(in_file)}; {found}"
        )

    def _note_no_column(self, table: Table, gold: Gold | None, problems: Problems) -> None:
        expected = self._list_expected(gold)
        names = _list_names(expected)
        found = describe_found_columns(table.file_columns, expected)
        if table.has_header:
            problems.add(
                "line 1",
                f"contains none of the columns {names}; is the header line missing? ({found})",
            )
        else:
            problems.add("the whole file", f"contains none of the columns {names}; {found}")

    def _list_optional(self, prompt: PromptTemplate, gold: Gold | None) -> set[str]:
        """Return the columns whose cells may be empty."""
        benchmark = self._benchmark
        optional = {
            *benchmark.optional_columns,
            *self._selected,
            *benchmark.subgroup_columns.values(),
        }
        if benchmark.few_shot:
            optional.add(benchmark.few_shot.column)
        # Identifiers that are shown in the prompt or scored are required; others may be unknown.
        optional |= set(benchmark.identifiers).difference(
            prompt.columns, self._list_answer_columns(gold)
        )
        return optional

    def _list_answer_columns(self, gold: Gold | None) -> tuple[str, ...]:
        """Return the columns with the options and the right and wrong answers."""
        columns = list(self._choices.columns) if self._choices else []
        if gold:
            columns.append(gold.column)
        if gold and gold.incorrect_column:
            columns.append(gold.incorrect_column)
        return tuple(columns)

    def _list_definition(self, gold: Gold | None) -> tuple[str, ...]:
        """Return the columns that the definition names, except those used only in the prompt."""
        benchmark = self._benchmark
        columns = list(self._list_answer_columns(gold))
        few_shot_column = benchmark.few_shot.column if benchmark.few_shot else None
        for column in (benchmark.unit_column, benchmark.id_column, few_shot_column):
            if column:
                columns.append(column)
        columns += benchmark.extra_columns.values()
        columns += benchmark.subgroup_columns.values()
        columns += benchmark.identifiers
        return tuple(columns)

    def _list_expected(self, gold: Gold | None) -> tuple[str, ...]:
        """Return the columns that the definition expects in a table.

        Names taken from the prompt may be misspelt, so a table may lack them.
        """
        names = (
            *list_fields(self._benchmark, self._instructions),
            *self._selected,
            *self._list_definition(gold),
        )
        return self._drop_arguments(names)

    def _drop_arguments(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that only a table's columns can have."""
        no_columns = set(self._arguments)
        if self._choices:
            no_columns.add(OPTIONS)
        return _drop_columns(names, no_columns)

    def _is_selected(self, row: Row) -> bool:
        return all(
            row.cells.get(column, "").strip() == value for column, value in self._selected.items()
        )

    def _is_example(self, row: Row) -> bool:
        few_shot = self._benchmark.few_shot
        if few_shot is None or not few_shot.column:
            return False
        return row.cells.get(few_shot.column, "").strip() == few_shot.value

    def _complete_cells(
        self, row: Row, reading: _Reading, references: tuple[Reference, ...]
    ) -> Mapping[str, str]:
        """Return the row's cells together with the arguments and option lines that serve as columns."""
        if self._choices is None and not reading.arguments:
            return row.cells
        cells = {**reading.arguments, **row.cells}
        if self._choices:
            cells[OPTIONS] = write_option_lines(references)
        return cells

    def _read_id(self, row: Row, number: int, problems: Problems) -> str | None:
        """Return the row's id, or its `number` if the benchmark has no ids.

        If an earlier row has the same id, record a problem and return None.
        """
        column = self._benchmark.id_column
        if not column:
            return str(number)
        identity = row.cells[column].strip()
        origin = (problems.file_name, row.where)
        first = self._first.setdefault(identity, origin)
        if first is origin:
            return identity
        first_file, first_where = first
        file = "" if first_file == problems.file_name else f"{first_file}: "
        problems.add(row.where, f"has the same {column!r} as {file}{first_where}")
        return None

    def _find_earlier_id(self, row: Row, identity: str) -> str:
        """Return the id that earlier versions gave the row, which numbered only the rows that they read."""
        if not self._benchmark.id_column:
            return str(self._rows_read)
        if row.number == row.kept_number:
            return identity
        # The number may follow the name of a part of the benchmark, see `Identity`.
        return re.sub(rf"(?:^|(?<=/)){row.number}$", str(row.kept_number), identity)

    def _make_instance(
        self, row: Row, number: int, reading: _Reading, problems: Problems
    ) -> Instance | None:
        benchmark = self._benchmark
        references = read_references(row, reading.gold, self._choices, problems)
        identity = self._read_id(row, number, problems)
        if references is None or identity is None:
            return None
        cells = self._complete_cells(row, reading, references)
        prompt = reading.prompt.render(cells, self._list_options(references))
        if prompt is None:
            problems.add(
                row.where,
                f"the column {benchmark.messages_column!r} is not a JSON list of messages, each with a role (user, "
                "assistant or, in the first message only, system) and a content; the last one must be from the user",
            )
            return None
        subgroups = {
            name: cells.get(column, "").strip()
            for name, column in benchmark.subgroup_columns.items()
        }
        identifiers = [
            Identifier(kind, cells.get(column, "").strip())
            for column, kind in benchmark.identifiers.items()
        ]
        return Instance(
            id=identity,
            unit=row.cells[benchmark.unit_column].strip() if benchmark.unit_column else identity,
            messages=prompt.messages,
            references=references,
            multiple_choice=self._choices is not None,
            extra={name: cells.get(column, "") for name, column in benchmark.extra_columns.items()},
            subgroups={name: value for name, value in subgroups.items() if value},
            shortenable=prompt.shortenable,
            identifiers=tuple(identifier for identifier in identifiers if identifier.value),
            cells=prompt.cells,
            source=self._source,
        )


def _list_names(columns: Iterable[str]) -> str:
    return ", ".join(map(repr, columns))


def _drop_columns(columns: tuple[str, ...], dropped: Collection[str]) -> tuple[str, ...]:
    """Return the columns without `dropped`, each once."""
    return tuple(dict.fromkeys(column for column in columns if column not in dropped))


def _fill_choices(choices: Choices | None, arguments: Mapping[str, str]) -> Choices | None:
    """Return the choices with the arguments filled into the texts of the options."""
    if choices is None or not choices.texts or not arguments:
        return choices
    texts = []
    for text in choices.texts:
        template, _ = compile_template(text, arguments)
        texts.append(template.render(arguments))
    return Choices(texts=tuple(texts))


def _drop_missing_column(gold: Gold | None, columns: tuple[str, ...]) -> Gold | None:
    """Return `gold`, without its column of wrong answers if the table lacks that column."""
    if gold and gold.incorrect_column and gold.incorrect_column not in columns:
        return Gold(gold.column, gold.form)
    return gold
