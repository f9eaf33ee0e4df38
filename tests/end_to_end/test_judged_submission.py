"""Grades of a jury on their whole way: asked for, approved, sent, merged, and published beside the jury's name."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.site.directory import Site
from tests.agent.fault_server import Action, Asked, FaultServer, Message
from tests.agent.judging.juries import deploy, write_jury
from tests.end_to_end.life import Life

BENCHMARK = "medication_qa"
GRADES = {"accuracy": 4, "completeness": 5, "clarity": 3}


def grade(asked: Asked) -> Action | None:
    """Give every answer the same grades; what a probe asks is answered as usual."""
    if "completeness" not in asked.prompt:
        return None
    verdict = {name: {"explanation": "invented", "score": score} for name, score in GRADES.items()}
    return Message({"role": "assistant", "content": json.dumps(verdict)})


@pytest.fixture
def life(tmp_path: Path) -> Iterator[Life]:
    """A site that reaches judges a, b and c, and an aggregator whose scorecard registers these three."""
    jury = write_jury(tmp_path / "judges.yaml", "abc")
    life = Life(tmp_path / "life", benchmarks=(BENCHMARK,), scorecard_options=("--judges", jury))
    life.found("https://unreachable.example")
    with FaultServer(models=["judge"], fault=grade) as judges:
        deploy(Site(life.site), dict.fromkeys("abc", judges.url))
        yield life


def join_by_files(life: Life) -> None:
    life.ask_to_enrol(life.folder / "request.json")
    life.aggregator("enroll", life.folder / "request.json", "--fingerprint-checked")
    newest = max(
        (life.central / "registry").glob("*.dsse.json"),
        key=lambda path: int(path.name.split(".")[0]),
    )
    life.agent("registry", "update", "--import", newest)


def test_grades_of_the_registered_jury_reach_the_board_with_its_name(life: Life) -> None:
    write_jury(life.site / "judges.yaml", "abc")
    life.evaluate(8)
    join_by_files(life)
    life.agent("submission", "prepare", "--suite", life.suite)
    assert "test/a, test/b, test/c (2 valid verdicts needed)" in life.agent("submission", "show")
    life.approve()
    carried, back, board = life.folder / "out", life.folder / "back", life.folder / "board"
    carried.mkdir()
    back.mkdir()
    life.agent("submission", "send", "--export", carried)
    life.aggregator("accept", *carried.iterdir(), "--receipts", back)
    life.agent("submission", "send", "--import-receipt", *back.iterdir())
    assert life.states() == ["receipted"]
    life.aggregator("publish", "--out", board)
    with (board / "board.csv").open(newline="") as file:
        graded = next(row for row in csv.DictReader(file) if row["metric"] == "jury_score")
    assert (graded["benchmark"], graded["value"]) == (BENCHMARK, "4.00")
    (page,) = (board / "cards").rglob(f"benchmarks/{BENCHMARK}.html")
    assert (
        "test/a, test/b, test/c; a score needs valid verdicts from 2 of 3 judges"
        in page.read_text()
    )
    assert life.aggregator("verify", "--board", board).startswith("Identical")


@pytest.mark.full
def test_grades_of_another_jury_do_not_leave(life: Life) -> None:
    write_jury(life.site / "judges.yaml", "ab")
    life.evaluate(8)
    join_by_files(life)
    said = life.agent("submission", "prepare", "--suite", life.suite, code=6)
    assert "was not graded by the jury that scorecard" in said
    assert "its judges were test/a, test/b instead of test/a, test/b, test/c" in said
    assert life.states() == []
