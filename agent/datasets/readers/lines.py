"""Lines of a text file that cannot fill the memory."""

from collections.abc import Iterator
from typing import TextIO

MAX_LENGTH = 16 * 2**20
"""Characters a line, or a cell over several lines, may have: far more than the longest record."""


class LongLineError(ValueError):
    """A line, or a text read whole, has more than `MAX_LENGTH` characters; it was not read further."""


def read_whole(file: TextIO) -> str:
    """Return all of a text that is short as a whole.

    Raises:
        LongLineError: it has more than `MAX_LENGTH` characters.
    """
    text = file.read(MAX_LENGTH + 1)
    if len(text) > MAX_LENGTH:
        raise LongLineError
    return text


def read_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines with their ends.

    Raises:
        LongLineError: a line is too long.
    """
    while line := file.readline(MAX_LENGTH + 1):
        if len(line) > MAX_LENGTH:
            raise LongLineError
        yield line
