"""Every row is in one piece, whatever the sizes, the limits and the lines between them."""

import io

from hypothesis import given
from hypothesis import strategies as st

from agent.redaction.files.division import PieceLimits, divide_positions, group_rows
from agent.redaction.files.streaming import locate_lines

LIMITS = st.builds(PieceLimits, st.integers(1, 9), st.integers(1, 60))
LINE = st.binary(max_size=40).map(lambda line: line.replace(b"\n", b""))


@given(st.lists(st.integers(0, 50), max_size=80), LIMITS)
def test_groups_hold_every_row_once_in_order_and_are_full_but_for_the_last(
    sizes: list[int], limits: PieceLimits
):
    groups = list(group_rows(sizes, lambda size: size, limits))
    assert [size for group in groups for size in group] == sizes
    for group in groups:
        assert 1 <= len(group) <= limits.rows
        assert sum(group[:-1]) < limits.size
    for group in groups[:-1]:
        assert len(group) == limits.rows or sum(group) >= limits.size


@given(st.lists(LINE, max_size=60), st.booleans(), LIMITS)
def test_pieces_read_alone_give_the_lines_of_the_file_with_their_numbers(
    lines: list[bytes], ends_with_newline: bool, limits: PieceLimits
):
    content = b"\n".join(lines) + (b"\n" if ends_with_newline else b"")
    rows = ((start, end) for start, end, line in locate_lines(io.BytesIO(content)) if line.strip())
    found: list[bytes] = []
    for piece in divide_positions(rows, 0, limits):
        assert piece.first == len(found) + 1
        part = io.BytesIO(content[piece.start : piece.end])
        here = [line for _, _, line in locate_lines(part) if line.strip()]
        assert len(here) == piece.rows
        found += here
    assert found == [line.removesuffix(b"\r") for line in lines if line.strip()]
