"""Makes vectors.json: cells of small magnitude tables, and what ACRO's threshold, NK and p% rules say of each.

    python -m venv acro && acro/bin/pip install acro==1.0.2 && acro/bin/python tests/data/acro/make_fixtures.py

ACRO (https://github.com/AI-SDC/ACRO, MIT licence) stands for the rules as research environments of the United Kingdom
apply them. It brings pandas, statsmodels and matplotlib, half a gigabyte, so the project's own tests read the vectors.
"""

import json
import logging
import random
from importlib.metadata import version
from pathlib import Path

import pandas
from acro import ACRO

SEED = 20_261_122
TABLES = 6  # of each setting
ROWS = 8
COLUMNS = 3
SETTINGS = (
    {"threshold": 10, "n": 2, "nk_percent": 90, "p_percent": 10},  # ACRO's defaults
    {"threshold": 11, "n": 2, "nk_percent": 90, "p_percent": 10},  # the profile `strict`
    {"threshold": 5, "n": 1, "nk_percent": 75, "p_percent": 25},
    {"threshold": 3, "n": 3, "nk_percent": 50, "p_percent": 50},
)


def draw_contributions(draw: random.Random, setting: dict[str, int]) -> list[float]:
    """Draw what the units of one cell contribute: quarters, so that sums are exact in floating point too."""
    units = draw.randint(1, 16)
    kind = draw.choice(["even", "skewed", "zeros", "one", "nk limit", "p limit"])
    if kind == "even":
        return [draw.randint(1, 40) / 4 for _ in range(units)]
    if kind == "skewed":
        return [draw.choice([1, 1, 2, 5, 200, 2000]) / 4 for _ in range(units)]
    if kind == "zeros":
        return [0.0] * units
    if kind == "one":
        return [float(draw.randint(1, 9))] + [0.0] * (units - 1)
    nudge = draw.choice([-0.25, 0.0, 0.25])
    if kind == "nk limit":
        # The n largest are alike and make up nk_percent of the sum, but for the nudge.
        rest = [1.0 * setting["n"]] * (units + 3)
        large = sum(rest) * setting["nk_percent"] / (100 - setting["nk_percent"]) / setting["n"]
        return [*([large] * (setting["n"] - 1)), large + nudge, *rest]
    # All but the two largest make up p_percent of the largest, but for the nudge.
    rest = [0.5] * (units + 1)
    return [
        sum(rest) * 100 / setting["p_percent"],
        sum(rest) * 100 / setting["p_percent"],
        rest[0] + nudge,
        *rest[1:],
    ]


def ask_acro(
    cells: list[list[list[float]]], setting: dict[str, int]
) -> dict[str, set[tuple[int, int]]]:
    """Return the positions (row, column) of the cells of a table that each of ACRO's rules objects to."""
    records = []
    for row, columns in enumerate(cells):
        for column, contributions in enumerate(columns):
            records += [(f"r{row}", f"c{column}", value) for value in contributions]
    frame = pandas.DataFrame(records, columns=["row", "column", "value"])
    session = ACRO(suppress=False)
    logging.disable(logging.CRITICAL)
    session.config["safe_threshold"] = setting["threshold"]
    session.config["safe_nk_n"] = setting["n"]
    session.config["safe_nk_k"] = setting["nk_percent"] / 100
    session.config["safe_pratio_p"] = setting["p_percent"] / 100
    session.crosstab(frame["row"], frame["column"], values=frame["value"], aggfunc="sum")
    flagged = session.results.get_index(-1).sdc["cells"]
    return {
        rule: {(row, column) for row, column in positions} for rule, positions in flagged.items()
    }


def main() -> None:
    """Write vectors.json beside this file."""
    draw = random.Random(SEED)
    vectors = []
    for setting in SETTINGS:
        for _ in range(TABLES):
            cells = [
                [draw_contributions(draw, setting) for _ in range(COLUMNS)] for _ in range(ROWS)
            ]
            flagged = ask_acro(cells, setting)
            for row, columns in enumerate(cells):
                for column, contributions in enumerate(columns):
                    vectors.append(
                        {
                            "setting": setting,
                            "contributions": contributions,
                            "below_threshold": (row, column) in flagged["MinimumThresholdCheck"],
                            "dominated": (row, column) in flagged["NKCheck"],
                            "violates_p_percent": (row, column) in flagged["PPercentCheck"],
                        }
                    )
    lines = ",\n".join(json.dumps(vector) for vector in vectors)
    text = f'{{"acro": "{version("acro")}", "seed": {SEED}, "cells": [\n{lines}\n]}}\n'
    Path(__file__).with_name("vectors.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
