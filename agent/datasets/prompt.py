"""From a row's cells to the messages that ask it. Pure."""

import json
from collections.abc import Collection, Mapping
from typing import Literal, cast

from agent.catalog.benchmark import Benchmark
from agent.catalog.template import Template, compile_template, placeholders
from agent.vocabulary import Message, Shortenable

OPTIONS = "options"
Instructions = Literal["none", "expert"]
_Role = Literal["system", "user", "assistant"]

# What HELM's `instructions=expert` does, in our own words.
_EXPERT = "You are an expert in the field of the following task. "


class PromptTemplate:
    """How the rows of one table become messages.

    The last turn is the instructions, the solved examples and the question, with blank lines between: HELM's layout.

    Attributes:
        columns: those the prompt uses.
        problems: what is wrong with the prompt for this table.
    """

    def __init__(
        self, benchmark: Benchmark, columns: Collection[str], instructions: str, examples: tuple[str, ...]
    ) -> None:
        self._messages_column = benchmark.messages_column
        self._shorten = benchmark.shorten
        self._examples = examples
        problems: list[str] = []
        self._head = _compiled(instructions, columns, problems)
        self._question = _compiled(benchmark.template, columns, problems)
        self._system = _compiled(benchmark.system_template, columns, problems)
        used = (*self._head.columns, *self._question.columns, *self._system.columns)
        if benchmark.choices and benchmark.template and OPTIONS not in used:
            problems.append("shows no {options}")
        if self._shorten and self._question.parts[1::2].count(self._shorten.column) != 1:
            problems.append(f"shows the column {self._shorten.column!r}, which may be shortened, not exactly once")
            self._shorten = None
        messages = (self._messages_column,) if self._messages_column else ()
        self.columns = tuple(dict.fromkeys((*used, *messages)))
        self.problems = tuple(dict.fromkeys(problems))

    def question(self, cells: Mapping[str, str]) -> str:
        """Return the question alone."""
        return self._question.render(cells)

    def ask(self, cells: Mapping[str, str]) -> tuple[tuple[Message, ...], Shortenable | None] | None:
        """Return the messages and what may be cut of them, or None if the row's own messages cannot be read."""
        before: list[Message] = []
        if self._system.parts != ("",):
            before.append(Message("system", self._system.render(cells)))
        question = self.question(cells)
        if self._messages_column:
            chat = _chat(cells.get(self._messages_column, ""))
            if chat is None or (before and chat[0].role == "system"):
                return None
            if self._question.parts == ("",):
                if chat[-1].role != "user":
                    return None
                chat, question = chat[:-1], chat[-1].content
            before += chat
        blocks = [block for block in (self._head.render(cells).strip(), *self._examples) if block]
        lead = "".join(f"{block}\n\n" for block in blocks)
        return (*before, Message("user", lead + question)), self._part(cells, len(before), len(lead))

    def _part(self, cells: Mapping[str, str], message: int, lead: int) -> Shortenable | None:
        if self._shorten is None:
            return None
        start, end = self._question.span(cells, self._shorten.column)
        return Shortenable(message, lead + start, lead + end, self._shorten.keep) if start < end else None


def instructions_of(benchmark: Benchmark, change: Instructions | None) -> str:
    """Return the benchmark's instructions as HELM's expander leaves them."""
    match change:
        case "none":
            return ""
        case "expert":
            return (_EXPERT + benchmark.instructions).strip()
    return benchmark.instructions.strip()


def fields_of(benchmark: Benchmark, instructions: str) -> tuple[str, ...]:
    """Return what the prompt's texts name in braces, whether a table has it or not."""
    texts = (instructions, benchmark.template, benchmark.system_template)
    messages = (benchmark.messages_column,) if benchmark.messages_column else ()
    return (*(name for text in texts for name in placeholders(text)), *messages)


def _compiled(text: str, columns: Collection[str], problems: list[str]) -> Template:
    template, wrong = compile_template(text, columns)
    problems += wrong
    return template


def _chat(cell: str) -> list[Message] | None:
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
