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
        """Fill in the cells; a column that the row lacks is empty text. A cell's own braces stay as they are."""
        parts = list(self.parts)
        parts[1::2] = [cells.get(column, "") for column in self.parts[1::2]]
        return "".join(parts)

    def locate(self, cells: Mapping[str, str], column: str) -> tuple[int, int]:
        """Return where the cell of `column` first stands in the rendered text: its start, and its end."""
        start = 0
        for number, part in enumerate(self.parts):
            is_column = number % 2 == 1
            end = start + len(cells.get(part, "") if is_column else part)
            if is_column and part == column:
                return start, end
            start = end
        raise ValueError(f"the template has no column {column!r}")


def compile_template(text: str, columns: Collection[str]) -> tuple[Template, tuple[str, ...]]:
    """Cut `text` at the fields that name one of `columns`; return it with the problems.

    A template that `str.format` would accept with these columns is read by its rules (a doubled brace stands
    for one), so that MedHELM's prompts mean the same here. In any other, a brace that does not enclose a column
    is literal: {"answer": "A"} needs no escape. Only a {word} that looks like a column
    name and matches no column is a problem.
    """
    formatted = _parse_format_string(text, columns)
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
            problems.append(
                f"line {line}: {{{name}}} names no column{suggest_column(name, columns)}"
            )
    return Template((*parts, text[end:])), tuple(dict.fromkeys(problems))


def find_placeholders(text: str) -> tuple[str, ...]:
    """Return the texts in braces that look like a column, in order, each once."""
    names: dict[str, None] = {}
    for match in _BRACED.finditer(text):
        name = match[1]
        if _LIKE_A_NAME.fullmatch(name):
            names[name] = None
    return tuple(names)


def suggest_column(name: str, columns: Iterable[str]) -> str:
    """Return " (did you mean ...?)" for the most similar column that is an identifier, or nothing.

    Other names are never suggested: in a file without a header line they are cells, perhaps of a patient.
    """
    return nearest(name, [column for column in columns if _LIKE_AN_IDENTIFIER.fullmatch(column)])


def _parse_format_string(text: str, columns: Collection[str]) -> tuple[str, ...] | None:
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
