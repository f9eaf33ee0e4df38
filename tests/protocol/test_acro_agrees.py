"""ACRO, which research environments of the United Kingdom use, judges every cell of 24 small tables alike.

`tests/data/acro/make_fixtures.py` made the vectors. Differences that they do not show: with negative contributions ACRO
asks a person to review, and this project raises; ACRO's threshold counts rows, and this project's counts units.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from protocol.dominance import is_below_threshold, is_dominated, violates_p_percent

VECTORS = json.loads(
    (Path(__file__).parents[1] / "data" / "acro" / "vectors.json").read_text("utf-8")
)
CELLS: list[dict[str, Any]] = VECTORS["cells"]


def judge(cell: dict[str, Any], rule: str) -> bool:
    contributions, setting = cell["contributions"], cell["setting"]
    if rule == "below_threshold":
        return is_below_threshold(len(contributions), setting["threshold"])
    if rule == "dominated":
        return is_dominated(contributions, setting["n"], setting["nk_percent"])
    return violates_p_percent(contributions, setting["p_percent"])


@pytest.mark.parametrize("rule", ["below_threshold", "dominated", "violates_p_percent"])
def test_every_cell_is_judged_as_by_acro(rule: str):
    assert [cell for cell in CELLS if judge(cell, rule) != cell[rule]] == []
    flagged = sum(cell[rule] for cell in CELLS)
    assert 50 < flagged < len(CELLS) - 50  # both answers occur often


def test_the_vectors_hold_cells_exactly_at_each_limit():
    at_nk_limit = at_p_limit = 0
    for cell in CELLS:
        largest = sorted(cell["contributions"], reverse=True)
        setting = cell["setting"]
        if any(largest):
            at_nk_limit += 100 * sum(largest[: setting["n"]]) == setting["nk_percent"] * sum(
                largest
            )
            at_p_limit += 100 * sum(largest[2:]) == setting["p_percent"] * largest[0]
    assert at_nk_limit > 20
    assert at_p_limit > 20
