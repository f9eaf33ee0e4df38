"""Render a row's cells as the messages that ask its question, noting which parts come from the row. Pure."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from agent.catalog.benchmark import Benchmark
from agent.catalog.template import Template, compile_template, find_placeholders
from agent.datasets.references import LETTERS
from agent.vocabulary import Message, PromptCell, Reference, Shortenable

OPTIONS = "options"
Instructions = Literal["none", "expert"]
_Role = Literal["system", "user", "assistant"]

# The effect of HELM's `instructions=expert`, with our own wording.
_EXPERT = "You are an expert in the field of the following task. "


# Cells separated by at most this many signs, as in "{day}/{month}/{year}", are searched as one text: a name or date
# may extend over them.
_MAX_SEPARATOR = 3


@dataclass(frozen=True, slots=True)
class RenderedText:
    """A text made from a template.

    Attributes:
        text: the text.
        cells: the parts that come from the record, in order, without overlaps and not empty.
    """

    text: str
    cells: tuple[PromptCell, ...] = ()

    @classmethod
    def join(cls, pieces: Iterable["RenderedText"]) -> "RenderedText":
        """Join several texts."""
        texts: list[str] = []
        cells: list[PromptCell] = []
        length = 0
        for piece in pieces:
            texts.append(piece.text)
            cells += _move_cells(piece.cells, offset=length)
            length += len(piece.text)
        return cls("".join(texts), tuple(cells))

    @classmethod
    def from_record(cls, text: str, column: str) -> "RenderedText":
        """Mark a whole text as coming from the record."""
        return cls(text, (PromptCell(0, 0, len(text), column),) if text else ())

    def strip(self) -> "RenderedText":
        """Return the text without white space at its ends."""
        stripped = self.text.strip()
        start = len(self.text) - len(self.text.lstrip())
        cells: list[PromptCell] = []
        for cell in _move_cells(self.cells, offset=-start):
            part_start, part_end = max(cell.start, 0), min(cell.end, len(stripped))
            if part_start < part_end:
                cells.append(PromptCell(0, part_start, part_end, cell.column))
        return RenderedText(stripped, tuple(cells))


@dataclass(frozen=True, slots=True)
class RenderedPrompt:
    """The messages that ask a question.

    Attributes:
        messages: the messages.
        shortenable: the part that may be shortened, if any.
        cells: the parts that come from the record (see `Instance.cells`).
    """

    messages: tuple[Message, ...]
    shortenable: Shortenable | None
    cells: tuple[PromptCell, ...]


class PromptTemplate:
    """The prompt of a benchmark, rendered for the rows of one table.

    As in HELM, the last message consists of the instructions, the solved examples and the question, separated by
    blank lines.

    Attributes:
        columns: the columns that the prompt uses.
        problems: the problems found when the prompt is compared with the table's columns.
    """

    def __init__(
        self,
        benchmark: Benchmark,
        columns: Collection[str],
        instructions: str,
        examples: tuple[RenderedText, ...],
    ) -> None:
        self._messages_column = benchmark.messages_column
        self._shorten = benchmark.shorten
        self._examples = examples
        problems: list[str] = []
        self._head = _compile(instructions, columns, problems)
        self._question = _compile(benchmark.template, columns, problems)
        self._system = _compile(benchmark.system_template, columns, problems)
        columns_used = [*self._head.columns, *self._question.columns, *self._system.columns]
        if benchmark.choices and benchmark.template and OPTIONS not in columns_used:
            problems.append("lacks the placeholder {options}")
        if self._shorten and self._question.parts[1::2].count(self._shorten.column) != 1:
            problems.append(
                f"must contain the column {self._shorten.column!r}, which may be shortened, exactly once"
            )
            self._shorten = None
        if self._messages_column:
            columns_used.append(self._messages_column)
        # Most instructions are the same for all rows.
        self._fixed_lead = None if self._head.columns else self._render_lead({}, ())
        self.columns = tuple(dict.fromkeys(columns_used))
        self.problems = tuple(dict.fromkeys(problems))

    def render_question(
        self, cells: Mapping[str, str], options: Sequence[Reference] = ()
    ) -> RenderedText:
        """Return the question alone; `options` are those in the cell of the option lines."""
        return _render(self._question, cells, options)

    def render(
        self, cells: Mapping[str, str], options: Sequence[Reference] = ()
    ) -> RenderedPrompt | None:
        """Return the messages, or None if the row's messages are invalid; see `render_question`."""
        rendered: list[tuple[_Role, RenderedText]] = []
        if self._system.parts != ("",):
            rendered.append(("system", _render(self._system, cells, options)))
        question = self.render_question(cells, options)
        if self._messages_column:
            chat = _read_chat(cells.get(self._messages_column, ""))
            if chat is None or (rendered and chat[0].role == "system"):
                return None
            turns = [
                (turn.role, RenderedText.from_record(turn.content, self._messages_column))
                for turn in chat
            ]
            if self._question.parts == ("",):
                # If the definition has no question, the last message in the row is the question.
                role, question = turns.pop()
                if role != "user":
                    return None
            rendered += turns
        lead = self._fixed_lead or self._render_lead(cells, options)
        shortenable = self._find_shortenable(cells, message=len(rendered), offset=len(lead.text))
        rendered.append(("user", RenderedText.join([lead, question]) if lead.text else question))
        messages: list[Message] = []
        marked: list[PromptCell] = []
        for number, (role, content) in enumerate(rendered):
            messages.append(Message(role, content.text))
            marked += _move_cells(content.cells, message=number)
        return RenderedPrompt(tuple(messages), shortenable, tuple(marked))

    def _render_lead(self, cells: Mapping[str, str], options: Sequence[Reference]) -> RenderedText:
        """Return the instructions and solved examples, each followed by a blank line."""
        pieces: list[RenderedText] = []
        for block in (_render(self._head, cells, options).strip(), *self._examples):
            if block.text:
                pieces += [block, RenderedText("\n\n")]
        return RenderedText.join(pieces)

    def _find_shortenable(
        self, cells: Mapping[str, str], *, message: int, offset: int
    ) -> Shortenable | None:
        if self._shorten is None:
            return None
        start, end = self._question.locate(cells, self._shorten.column)
        if start >= end:
            return None
        return Shortenable(message, offset + start, offset + end, self._shorten.keep)


def read_instructions(benchmark: Benchmark, change: Instructions | None) -> str:
    """Return the benchmark's instructions after applying HELM's `instructions` run expander."""
    match change:
        case "none":
            return ""
        case "expert":
            return (_EXPERT + benchmark.instructions).strip()
    return benchmark.instructions.strip()


def list_fields(benchmark: Benchmark, instructions: str) -> list[str]:
    """Return the placeholders in the prompt's texts, whether or not a table has these columns."""
    fields: list[str] = []
    for text in (instructions, benchmark.template, benchmark.system_template):
        fields += find_placeholders(text)
    if benchmark.messages_column:
        fields.append(benchmark.messages_column)
    return fields


def write_option_lines(options: Sequence[Reference]) -> str:
    """Return the answer options, each on its own line after its letter."""
    lines = [f"{letter}. {option.text}" for letter, option in zip(LETTERS, options, strict=False)]
    return "\n".join(lines)


def _render(
    template: Template, cells: Mapping[str, str], options: Sequence[Reference]
) -> RenderedText:
    """Fill in the cells, and note where they stand; the letters of answer options belong to no cell."""
    text = template.render(cells)
    marked: list[PromptCell] = []
    for column, start, end in template.locate_cells(cells):
        if column == OPTIONS and options:
            marked += _locate_options(options, start)
        elif start < end:
            marked.append(PromptCell(0, start, end, column))
    return RenderedText(text, tuple(_join_close_cells(marked, text)))


def _locate_options(options: Sequence[Reference], start: int) -> Iterator[PromptCell]:
    """Yield the text of each option in the lines of `write_option_lines`, which begin at `start`."""
    for letter, option in zip(LETTERS, options, strict=False):
        text_start = start + len(f"{letter}. ")
        start = text_start + len(option.text) + len("\n")
        if option.text:
            yield PromptCell(0, text_start, text_start + len(option.text), OPTIONS)


def _join_close_cells(cells: Iterable[PromptCell], text: str) -> list[PromptCell]:
    joined: list[PromptCell] = []
    for cell in cells:
        if joined and _is_separator(text[joined[-1].end : cell.start]):
            first = joined.pop()
            joined.append(PromptCell(0, first.start, cell.end, first.column))
        else:
            joined.append(cell)
    return joined


def _is_separator(between: str) -> bool:
    return (
        len(between) <= _MAX_SEPARATOR
        and "\n" not in between
        and not any(map(str.isalnum, between))
    )


def _move_cells(
    cells: Sequence[PromptCell], *, message: int = 0, offset: int = 0
) -> Sequence[PromptCell]:
    """Return cells of the first message in another message, or further on."""
    if not message and not offset:
        return cells
    return [
        PromptCell(message, cell.start + offset, cell.end + offset, cell.column) for cell in cells
    ]


def _compile(text: str, columns: Collection[str], problems: list[str]) -> Template:
    template, template_problems = compile_template(text, columns)
    problems += template_problems
    return template


def _read_chat(cell: str) -> list[Message] | None:
    try:
        value = json.loads(cell)
    except (json.JSONDecodeError, RecursionError):
        return None
    if not isinstance(value, list) or not value:
        return None
    chat: list[Message] = []
    for number, turn in enumerate(value):
        if not isinstance(turn, dict) or set(turn) != {"role", "content"}:
            return None
        role, content = turn["role"], turn["content"]
        if role not in ("system", "user", "assistant") or (role == "system" and number):
            return None
        if not isinstance(content, str) or not content.strip():
            return None
        chat.append(Message(cast(_Role, role), content))
    return chat
