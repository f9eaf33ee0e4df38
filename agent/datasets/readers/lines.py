"""Read lines of a text file with a limit on their length."""

from collections.abc import Iterator
from typing import TextIO

MAX_LENGTH = 16 * 2**20
"""The maximum number of characters in a line or in a cell over several lines, far above any real record."""


class LongLineError(ValueError):
    """A line or a whole text has more than `MAX_LENGTH` characters; the rest was not read."""


def read_whole(file: TextIO) -> str:
    """Return the whole text of a short file.

    Raises:
        LongLineError: the text has more than `MAX_LENGTH` characters.
    """
    text = file.read(MAX_LENGTH + 1)
    if len(text) > MAX_LENGTH:
        raise LongLineError
    return text


def read_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines with their line endings.

    Raises:
        LongLineError: a line is too long.
    """
    while line := file.readline(MAX_LENGTH + 1):
        if len(line) > MAX_LENGTH:
            raise LongLineError
        yield line
