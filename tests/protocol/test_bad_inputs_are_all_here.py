"""The list of bad inputs is numbered A 1 to H 118: every number is a test here, or is accounted for."""

import re
from pathlib import Path

RANGES = {"A": (1, 22), "B": (23, 38), "C": (39, 53), "D": (54, 71), "E": (72, 87), "F": (88, 102), "G": (103, 113)}

ELSEWHERE = {
    "C52": "rotation of a site's keys comes with rotate/v1",
    "E85": "result/v1 carries no scores_count",
    "F101": "parallel and interrupted submissions need the aggregator's store",
    "G110": "no witnesses in this version",
    "G111": "no witnesses in this version",
}


def test_every_bad_input_is_tested_or_accounted_for():
    text = "\n".join(
        path.read_text("utf-8") for path in Path(__file__).parent.glob("test_*.py") if path != Path(__file__)
    )
    tested = {f"{letter}{int(number)}" for letter, number in re.findall(r"\b(?:test_)?([A-G])(\d{2,3})[-_]", text)}
    expected = {f"{letter}{number}" for letter, (first, last) in RANGES.items() for number in range(first, last + 1)}
    assert expected - tested == set(ELSEWHERE)
