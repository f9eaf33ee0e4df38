"""Lines of a text file that cannot fill the memory."""

from collections.abc import Iterator
from typing import TextIO

LONGEST = 16 * 2**20
"""Characters a line, or a cell over several lines, may have: far more than the longest record."""


class LongLineError(ValueError):
    """A line, or a text read whole, has more than `LONGEST` characters; it was not read further."""


def read_whole(file: TextIO) -> str:
    """Return all of a text that is short as a whole.

    Raises:
        LongLineError: it has more than `LONGEST` characters.
    """
    text = file.read(LONGEST + 1)
    if len(text) > LONGEST:
        raise LongLineError
    return text


def read_lines(file: TextIO) -> Iterator[str]:
    """Yield the lines with their ends.

    Raises:
        LongLineError: a line is too long.
    """
    while line := file.readline(LONGEST + 1):
        if len(line) > LONGEST:
            raise LongLineError
        yield line
