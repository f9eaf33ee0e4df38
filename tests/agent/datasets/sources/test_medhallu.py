"""MedHallu: two questions a row, and the judgement in an answer."""

import json

import pytest

from agent.metrics import AnswerParser, extract
from agent.vocabulary import Reason, Unscored
from tests.agent.datasets.sources.public import BENCHMARKS, PUBLIC, gold, load, problem


def test_every_row_of_medhallu_is_asked_twice_from_any_of_its_copies(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    sample = BENCHMARKS / "medhallu/sample/pqa_labeled.jsonl"
    made = load("medhallu", sample)
    assert [instance.id for instance in made[:4]] == ["1-0", "1-1", "2-0", "2-1"]
    assert [gold(instance) for instance in made[:4]] == ["0", "1", "0", "1"]
    assert [instance.unit for instance in made[:4]] == ["1", "1", "2", "2"]
    table = pyarrow.Table.from_pylist(
        [json.loads(line) for line in sample.read_text("utf-8").splitlines()]
    )
    parquet.write_table(table, tmp_path / "train-00000-of-00001.parquet")
    with pyarrow.ipc.new_stream(tmp_path / "data-00000-of-00001.arrow", table.schema) as stream:
        stream.write_table(table)
    assert load("medhallu", tmp_path / "train-00000-of-00001.parquet") == made
    assert load("medhallu", tmp_path / "data-00000-of-00001.arrow") == made
    (tmp_path / "bad.arrow").write_bytes(b"no arrow")
    assert "is not an Arrow stream" in problem("medhallu", tmp_path / "bad.arrow")
    (tmp_path / "bad.jsonl").write_text('{"Question": "q"}')
    assert "missing: 'Knowledge', 'Ground Truth', 'Hallucinated Answer'" in problem(
        "medhallu", tmp_path / "bad.jsonl"
    )


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("1", "1"),
        ("0.", "0"),
        ("**1**", "1"),
        ("Your judgement: 0", "0"),
        ("'1'", "1"),
        ("The trial had 10 patients and a p of 0.05, so 1", "1"),
        ("1 (hallucinated)", "1"),
        ("Yes", None),
        ("10", None),
        ("0.5", None),
        ("100%", None),
    ],
)
def test_a_judgement_is_the_last_zero_or_one(answer, read):
    benchmark = PUBLIC["medhallu"]
    parser = AnswerParser(benchmark.parser, benchmark.answer_field, benchmark.answer_pattern)
    assert extract(parser, answer) == (read or Unscored(Reason.UNPARSED))
