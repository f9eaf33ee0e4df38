"""Divide the rows of a file into consecutive pieces. Pure: every way of redacting in parallel divides here."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from agent.errors import RedactionError

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class PieceLimits:
    """The maximum rows of a piece, and the maximum of its size, unless a single row is larger."""

    rows: int
    size: int


PORTION: Final = PieceLimits(64, 256 * 1024)
"""What a process redacts at once: few enough rows to show progress, and to repeat little when a process dies."""

PIECE: Final = PieceLimits(1024, 1024 * 1024)
"""What is finished and kept as a whole, of several portions: some seconds of work, so that a lost node costs little."""


@dataclass(frozen=True, slots=True)
class RowPiece:
    """Consecutive rows of one file of a job.

    Attributes:
        shard: number of the file, starting at 0.
        first: number of the first row in the file, starting at 1.
        rows: number of rows.
        start: position of the first row: in bytes, or in Parquet, in rows.
        end: the position just after the last row.
    """

    shard: int
    first: int
    rows: int
    start: int
    end: int


def group_rows(
    rows: Iterable[Row], measure: Callable[[Row], int], limits: PieceLimits
) -> Iterator[list[Row]]:
    """Yield the rows in consecutive groups: each as long as the limits allow, and at least one row."""
    group: list[Row] = []
    size = 0
    for row in rows:
        group.append(row)
        size += measure(row)
        if len(group) == limits.rows or size >= limits.size:
            yield group
            group = []
            size = 0
    if group:
        yield group


def divide_positions(
    positions: Iterable[tuple[int, int]], shard: int, limits: PieceLimits, first: int = 1
) -> Iterator[RowPiece]:
    """Yield the pieces of a file, given the start and end of each of its rows.

    Args:
        positions: of consecutive rows.
        shard: number of the file.
        limits: of each piece.
        first: number of the first of these rows.
    """
    for group in group_rows(positions, _measure_extent, limits):
        yield RowPiece(shard, first, len(group), group[0][0], group[-1][1])
        first += len(group)


def _measure_extent(position: tuple[int, int]) -> int:
    start, end = position
    return end - start


def explain_changed_file(path: Path) -> RedactionError:
    """Return the error for a file that was changed while it was being redacted."""
    return RedactionError(
        f"{path.name} was changed while it was being redacted",
        "Run the command again when nothing writes to the file.",
    )
