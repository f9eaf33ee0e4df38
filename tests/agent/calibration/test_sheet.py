"""Sheets as bytes: whatever a file holds, it is read or refused by name; what was written is read back."""

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.calibration.sheet import ANSWER, ITEM, QUESTION, read_sheet, write_heading, write_sheet
from agent.errors import BenchmarkError
from agent.io.plain_text import FORMULA_START
from agent.metrics import Scale

SCALE = Scale(0, 5)
TEXT = st.text(max_size=40)


def read(content: bytes, items: list[str], criteria: list[str]) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.csv"
        path.write_bytes(content)
        return read_sheet(path, items, criteria, SCALE)


@given(st.binary(max_size=300))
def test_any_bytes_are_refused_by_name(content: bytes):
    with pytest.raises(BenchmarkError, match=r"sheet\.csv: "):
        read(content, ["BCDFGH"], ["accuracy"])


@given(
    st.lists(
        st.sampled_from(
            ["BCDFGH", "item", "accuracy", ",", ";", '"', "\n", "\r", "5", "٥", "1e9", " ", "\0"]
        )
    )
)
def test_whatever_stands_in_a_sheet_no_grade_is_outside_the_scale(parts: list[str]):
    try:
        found = read("".join(["item,accuracy\n", *parts]).encode(), ["BCDFGH"], ["accuracy"])
    except BenchmarkError as error:
        assert str(error).startswith("sheet.csv: ")  # noqa: PT017 (either is right)
    else:
        assert found.keys() == {"BCDFGH"}
        assert 0 <= found["BCDFGH"]["accuracy"] <= 5


@given(
    st.lists(st.tuples(TEXT, TEXT), min_size=1, max_size=5),
    st.lists(TEXT.filter(str.strip), min_size=1, unique_by=str.casefold),
)
def test_texts_and_criteria_of_any_kind_come_back_cell_by_cell(
    texts: list[tuple[str, str]], criteria: list[str]
):
    rows = [
        {ITEM: f"BCDFG{i}", QUESTION: question, ANSWER: answer}
        for i, (question, answer) in enumerate(texts)
    ]
    content = write_sheet(rows, criteria, SCALE, with_reference=False)
    cells = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True))
    assert len(cells) == 1 + len(rows)
    assert {len(row) for row in cells} == {3 + len(criteria)}
    assert not any(FORMULA_START.match(cell) for row in cells for cell in row)
    for row, (question, answer) in zip(cells[1:], texts, strict=True):
        shown = [text.encode("utf-8", "replace").decode() for text in (question, answer)]
        assert [cell.replace("'", "") for cell in row[1:3]] == [
            text.replace("'", "") for text in shown
        ]


@pytest.mark.parametrize(
    "criterion", ["item", "comment", "answer", "=cmd", "a,b;c", "Überblick", "clarity (1 to 5)"]
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_criterion_of_any_name_is_found_again(criterion: str, delimiter: str):
    rows = [{ITEM: f"BCDFG{i}", QUESTION: "q; q", ANSWER: "a, a\nb"} for i in "HJ"]
    cells = list(
        csv.reader(
            io.StringIO(
                write_sheet(rows, [criterion], SCALE, with_reference=False).decode("utf-8-sig")
            )
        )
    )
    for row in cells[1:]:
        row[3] = "4,5"
    out = io.StringIO()
    csv.writer(out, delimiter=delimiter).writerows(cells)
    found = read(out.getvalue().encode("cp1252"), ["BCDFGH", "BCDFGJ"], [criterion])
    assert found == {"BCDFGH": {criterion: 4.5}, "BCDFGJ": {criterion: 4.5}}


def test_lines_end_as_any_system_ends_them():
    for end in ("\n", "\r\n", "\r"):
        content = end.join(["item,accuracy", "BCDFGH,3", ""]).encode()
        assert read(content, ["BCDFGH"], ["accuracy"]) == {"BCDFGH": {"accuracy": 3.0}}


def test_a_heading_says_the_scale():
    assert write_heading("accuracy", Scale(0, 2.5)) == "accuracy (0 to 2.5)"


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(BenchmarkError, match=r"none\.csv: cannot be read"):
        read_sheet(tmp_path / "none.csv", [], [], SCALE)
