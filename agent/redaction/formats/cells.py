"""Cells of structured texts, and decoded text that knows the position of each character in its source."""

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

# Writes a replacement so that it may stand in the place of a value.
Quoting = Callable[[str], str]

KEEP = "KEEP"
"""The meaning of cells that state nothing about a person's identity: laboratory values, units, codes, status words."""
FREE = ""
"""The meaning of cells of which nothing is known in advance."""
REFERENCE = "REFERENCE"
"""The meaning of cells that name another entry by its kind and id: `Patient/1234`."""


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text, and the position of each of its characters in the source.

    Attributes:
        starts: for each character of `text`, the start of its source.
        ends: for each character of `text`, the end of its source, exclusive.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    @classmethod
    def whole(cls, source: str) -> "DecodedText":
        """Return the source itself, in which nothing is encoded."""
        return cls(source, range(len(source)), range(1, len(source) + 1))

    def cut(self, start: int, end: int) -> "DecodedText":
        """Return the part from `start` to `end`, exclusive."""
        return DecodedText(self.text[start:end], self.starts[start:end], self.ends[start:end])

    def locate(self, start: int, end: int) -> tuple[int, int]:
        """Return the position in the source of `text[start:end]`, which must not be empty."""
        return self.starts[start], self.ends[end - 1]

    def decode(self, escape: re.Pattern[str], read: Callable[[str], str]) -> "DecodedText":
        """Return the text in which each match of `escape` is replaced by its reading; an unreadable one is dropped."""
        matches = list(escape.finditer(self.text))
        if not matches:
            return self
        pieces: list[str] = []
        starts, ends = array("I"), array("I")
        written = 0
        for match in matches:
            start, end = match.span()
            pieces.append(self.text[written:start])
            starts.extend(self.starts[written:start])
            ends.extend(self.ends[written:start])
            plain = keep_printable(read(match.group()))
            pieces.append(plain)
            starts.extend([self.starts[start]] * len(plain))
            ends.extend([self.ends[end - 1]] * len(plain))
            written = end
        pieces.append(self.text[written:])
        starts.extend(self.starts[written:])
        ends.extend(self.ends[written:])
        return DecodedText("".join(pieces), starts, ends)


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a structured text.

    Attributes:
        value: the value, decoded.
        cue: the column, key or field, in words; "" if there is none.
        meaning: the entity of the value; or `KEEP`, `FREE` or `REFERENCE`.
        quoting: writes a replacement in the cell's syntax.
        is_number: whether the value is a bare number, which can only be replaced as a whole.
    """

    value: DecodedText
    cue: str
    meaning: str
    quoting: Quoting
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Cells:
    """All cells of a text.

    Attributes:
        items: the cells, in order and without overlaps.
        is_form: whether the text is searched as it stands, because its labels are written as on a form.
    """

    items: tuple[Cell, ...]
    is_form: bool = False


def keep_printable(text: str) -> str:
    """Return `text` without controls, halves of surrogate pairs and replacement characters."""
    return "".join(filter(_is_printable, text))


def _is_printable(character: str) -> bool:
    if character in "\n\t\r":
        return True
    return not (
        character < " "
        or "\x7f" <= character <= "\x9f"
        or "\ud800" <= character <= "\udfff"
        or character in "\ufffd\ufffe\uffff"
    )


def write_plainly(replacement: str) -> str:
    """Return a replacement that needs no quoting."""
    return replacement


def chain_quoting(inner: Quoting, outer: Quoting) -> Quoting:
    """Return the quoting of a value that is nested in another value."""
    return outer if inner is write_plainly else lambda replacement: outer(inner(replacement))


def trim(value: DecodedText, characters: str = " \t\r\n") -> DecodedText:
    """Return a value without the given characters at its ends."""
    left = len(value.text) - len(value.text.lstrip(characters))
    right = len(value.text.rstrip(characters))
    return value.cut(left, max(left, right))


def split_lines(text: DecodedText) -> Iterator[DecodedText]:
    """Yield the lines of a text without their line breaks."""
    start = 0
    while start < len(text.text):
        end = text.text.find("\n", start)
        end = len(text.text) if end < 0 else end
        yield text.cut(start, end)
        start = end + 1
