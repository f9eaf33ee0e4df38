"""Prompt templates: {column} fields in plain text, in which other braces and dollar signs mean nothing."""

import re
import string
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from agent.io.wording import nearest

_BRACED = re.compile(r"\{([^{}\n]{1,100})\}")
_LIKE_AN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_LIKE_A_NAME = re.compile(r"[^\W\d][\w .-]*")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt cut into literal text and columns: `parts` alternates text, column, text, ..., text."""

    parts: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it uses, in order, each once."""
        return tuple(dict.fromkeys(self.parts[1::2]))

    def render(self, cells: Mapping[str, str]) -> str:
        """Put the cells in; a column the row lacks is empty. A cell's own braces stay as they are."""
        parts = list(self.parts)
        parts[1::2] = [cells.get(column, "") for column in self.parts[1::2]]
        return "".join(parts)

    def span(self, cells: Mapping[str, str], column: str) -> tuple[int, int]:
        """Return where the cell of `column` stands in the rendered text, first time: its start, and its end."""
        at = 2 * self.parts[1::2].index(column) + 1
        texts = [cells.get(part, "") if i % 2 else part for i, part in enumerate(self.parts[: at + 1])]
        return sum(map(len, texts[:-1])), sum(map(len, texts))


def compile_template(text: str, columns: Collection[str]) -> tuple[Template, tuple[str, ...]]:
    """Cut `text` at the fields that name one of `columns`; return it with what is wrong.

    A template that `str.format` would accept with these columns is read by its rules (a doubled brace stands
    for one), so that MedHELM's prompts mean the same here. In any other, a brace that does not enclose a column
    is literal: {"answer": "A"} needs no escape. Only a {word} that looks like a column and is none is wrong.
    """
    formatted = _as_format_string(text, columns)
    if formatted is not None:
        return Template(formatted), ()
    parts: list[str] = []
    problems: list[str] = []
    end = 0
    for match in _BRACED.finditer(text):
        name = match[1]
        if name in columns:
            parts += [text[end : match.start()], name]
            end = match.end()
        elif _LIKE_A_NAME.fullmatch(name):
            line = text.count("\n", 0, match.start()) + 1
            problems.append(f"line {line}: {{{name}}} names no column{nearest_column(name, columns)}")
    return Template((*parts, text[end:])), tuple(dict.fromkeys(problems))


def placeholders(text: str) -> tuple[str, ...]:
    """Return what stands in braces and looks like a column, in order, each once."""
    names = (match[1] for match in _BRACED.finditer(text))
    return tuple(dict.fromkeys(name for name in names if _LIKE_A_NAME.fullmatch(name)))


def nearest_column(name: str, columns: Iterable[str]) -> str:
    """Return " (did you mean ...?)" for the most similar column that is an identifier, or nothing.

    Anything else at the head of a column may be a cell of a file that lacks its header line.
    """
    return nearest(name, [column for column in columns if _LIKE_AN_IDENTIFIER.fullmatch(column)])


def _as_format_string(text: str, columns: Collection[str]) -> tuple[str, ...] | None:
    parts = [""]
    try:
        for literal, name, spec, conversion in string.Formatter().parse(text):
            parts[-1] += literal
            if name is not None:
                if name not in columns or spec or conversion:
                    return None
                parts += [name, ""]
    except ValueError:  # a single brace
        return None
    return tuple(parts)
