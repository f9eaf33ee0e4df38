"""Render a row's cells as the messages that ask its question. Pure."""

import json
from collections.abc import Collection, Mapping
from typing import Literal, cast

from agent.catalog.benchmark import Benchmark
from agent.catalog.template import Template, compile_template, find_placeholders
from agent.vocabulary import Message, Shortenable

OPTIONS = "options"
Instructions = Literal["none", "expert"]
_Role = Literal["system", "user", "assistant"]

# The effect of HELM's `instructions=expert`, with our own wording.
_EXPERT = "You are an expert in the field of the following task. "


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
        examples: tuple[str, ...],
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
        self.columns = tuple(dict.fromkeys(columns_used))
        self.problems = tuple(dict.fromkeys(problems))

    def render_question(self, cells: Mapping[str, str]) -> str:
        """Return the question alone."""
        return self._question.render(cells)

    def render(
        self, cells: Mapping[str, str]
    ) -> tuple[tuple[Message, ...], Shortenable | None] | None:
        """Return the messages and the part that may be shortened, or None if the row's messages are invalid."""
        messages: list[Message] = []
        if self._system.parts != ("",):
            messages.append(Message("system", self._system.render(cells)))
        question = self.render_question(cells)
        if self._messages_column:
            chat = _read_chat(cells.get(self._messages_column, ""))
            if chat is None or (messages and chat[0].role == "system"):
                return None
            if self._question.parts == ("",):
                # If the definition has no question, the last message in the row is the question.
                if chat[-1].role != "user":
                    return None
                question = chat.pop().content
            messages += chat
        blocks = [self._head.render(cells).strip(), *self._examples]
        lead = "".join(f"{block}\n\n" for block in blocks if block)
        shortenable = self._find_shortenable(cells, message=len(messages), offset=len(lead))
        messages.append(Message("user", lead + question))
        return tuple(messages), shortenable

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
