"""Prompt templates: plain text with {column} placeholders, in which other braces and dollar signs are literal."""

import re
import string
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from agent.io.wording import format_count, nearest

_BRACED = re.compile(r"\{([^{}\n]{1,100})\}")
_LONGEST_SHOWN = 40  # characters of a column's name in a message
_MOST_SHOWN = 30  # names of columns in a message
_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_LIKE_A_HEADING = re.compile(r"[^\W\d]\w*|[^\W\d][\w. ]{0,39}")  # no cell with a sentence or a date
_LIKE_AN_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")
_LIKE_A_NAME = re.compile(r"[^\W\d][\w .-]*")


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt split into literal text and columns, which alternate in `parts`: text, column, text, ..., text."""

    parts: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the template uses, in order and without duplicates."""
        return tuple(dict.fromkeys(self.parts[1::2]))

    def render(self, cells: Mapping[str, str]) -> str:
        """Fill in the cells; a missing column is an empty text. Braces within a cell are kept."""
        parts = list(self.parts)
        parts[1::2] = [cells.get(column, "") for column in self.parts[1::2]]
        return "".join(parts)

    def locate_cells(self, cells: Mapping[str, str]) -> Iterator[tuple[str, int, int]]:
        """Yield the column of each cell with its start and end in the rendered text."""
        start = 0
        for number, part in enumerate(self.parts):
            is_column = number % 2 == 1
            end = start + len(cells.get(part, "") if is_column else part)
            if is_column:
                yield part, start, end
            start = end

    def locate(self, cells: Mapping[str, str], column: str) -> tuple[int, int]:
        """Return the start and end of the first cell of `column` in the rendered text."""
        for cell_column, start, end in self.locate_cells(cells):
            if cell_column == column:
                return start, end
        raise ValueError(f"the template has no column {column!r}")


def compile_template(text: str, columns: Collection[str]) -> tuple[Template, tuple[str, ...]]:
    """Split `text` at the placeholders that name one of `columns`, and return the template with its problems.

    If `str.format` would accept the template with these columns, its rules apply (a doubled brace is a literal brace),
    so that MedHELM's prompts have the same meaning. Otherwise, braces that do not enclose a column are literal, so that
    {"answer": "A"} needs no escaping. A {word} that looks like a column name but is not a column is a problem.
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
                f"line {line}: {{{name}}} is not a column{suggest_column(name, columns)}"
            )
    return Template((*parts, text[end:])), tuple(dict.fromkeys(problems))


def find_placeholders(text: str) -> tuple[str, ...]:
    """Return the texts in braces that look like column names, in order and without duplicates."""
    names: dict[str, None] = {}
    for match in _BRACED.finditer(text):
        name = match[1]
        if _LIKE_A_NAME.fullmatch(name):
            names[name] = None
    return tuple(names)


def suggest_column(name: str, columns: Iterable[str]) -> str:
    """Return " (did you mean ...?)" with the most similar column whose name is an identifier, or an empty string.

    Other names are never suggested, because in a file without a header line they could be cells with patient data.
    """
    return nearest(name, [column for column in columns if _LIKE_AN_IDENTIFIER.fullmatch(column)])


def describe_found_columns(columns: Sequence[str], needed: Collection[str]) -> str:
    """Return the names of a file's columns, for the message that needed ones are missing.

    If a needed column is there, the first line is a header, and names of a few words are shown. Otherwise the header
    line may be missing, and names are shown only if all of them look like identifiers and none occurs twice.
    """
    has_header = not set(needed).isdisjoint(columns)
    are_names = len(set(columns)) == len(columns) and all(map(_IDENTIFIER.fullmatch, columns))
    names: list[str] = []
    for column in columns:
        if are_names or (has_header and _LIKE_A_HEADING.fullmatch(column)):
            names.append(_quote(column))
    shown = ", ".join(names[:_MOST_SHOWN])
    hidden = len(columns) - len(names[:_MOST_SHOWN])
    if not hidden:
        return f"found {shown}"
    unnamed = f"{format_count(hidden, 'column')} whose name is not shown here"
    return f"found {shown} and {unnamed}" if shown else f"found {unnamed}"


def _quote(column: str) -> str:
    return repr(column if len(column) <= _LONGEST_SHOWN else f"{column[:_LONGEST_SHOWN]}…")


def _parse_format_string(text: str, columns: Collection[str]) -> tuple[str, ...] | None:
    parts = [""]
    try:
        for literal, name, spec, conversion in string.Formatter().parse(text):
            parts[-1] += literal
            if name is not None:
                if name not in columns or spec or conversion:
                    return None
                parts += [name, ""]
    except ValueError:  # an unbalanced brace
        return None
    return tuple(parts)
