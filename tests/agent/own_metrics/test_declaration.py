"""A file whose constants are missing or wrong is refused with all of its faults; no metric takes another's name."""

from pathlib import Path

import pytest

from agent.errors import BenchmarkError
from agent.metrics import METRICS
from agent.own_metrics.declaration import is_own, name_in_scorecard
from agent.own_metrics.process import declare
from agent.own_metrics.source import read_approved_code
from protocol import schema
from tests.agent.own_metrics.metrics import HEADER, approve, write_metric


def declare_file(folder: Path, header: str, *, name: str = "test"):
    return declare(
        read_approved_code(approve(write_metric(folder, "return 1", name=name, header=header)))
    )


def test_the_name_in_tables_says_unit_and_that_it_is_own(tmp_path: Path):
    declared = declare_file(tmp_path, f'{HEADER}UNIT = "share"\n')
    assert (declared.display_name, declared.low, declared.high, declared.binary) == (
        "Test, share (own)",
        0,
        1,
        False,
    )


def test_all_faults_of_a_file_are_listed_together(tmp_path: Path):
    header = (
        'API = 2\nNAME = "exact_match"\nLOW, HIGH = 1, 0\nHIGHER_IS_BETTER = False\nBINARY = "no"\n'
    )
    with pytest.raises(BenchmarkError) as refused:
        declare_file(tmp_path, header)
    for words in (
        "API must be 1",
        "NAME must be 'test'",
        "LOW and HIGH",
        "TITLE",
        "BINARY",
        "return LOW + HIGH",
    ):
        assert words in str(refused.value)


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("def broken(:\n", "raised SyntaxError in line 1"),
        ("import numpy_of_nowhere\n", "raised ModuleNotFoundError in line 1"),
        ("import os\nos._exit(3)\n", "ended its own process"),
        ("score = 5\ndel score\n", "API must be 1"),
    ],
)
def test_a_file_that_cannot_be_loaded_is_refused_before_anything_is_asked(
    tmp_path: Path, header: str, words: str
):
    with pytest.raises(BenchmarkError, match=words) as refused:
        declare_file(tmp_path, header)
    assert "own/test" in str(refused.value)


def test_a_metric_that_calls_itself_exact_match_is_still_marked_as_own(tmp_path: Path):
    header = 'API = 1\nNAME = "exact_match"\nTITLE = "Exact match"\nLOW, HIGH = 0, 1\n'
    assert declare_file(tmp_path, header, name="exact_match").display_name == "Exact match (own)"


def test_the_id_in_scorecards_is_valid_and_that_of_no_other_metric():
    identity = name_in_scorecard("own/exact_match", "ab" * 32)
    assert identity == "own-exact_match-abababababababab"
    assert schema.text(name_in_scorecard("own/" + "a" * 27, "ab" * 32), "id", schema.IDENTIFIER)
    assert identity != name_in_scorecard("own/exact_match", "ac" * 32)
    assert not any(is_own(name) or name.startswith("own-") for name in METRICS)
