"""A jury among the metrics of a definition."""

import pytest

from agent.catalog.benchmark import load_benchmark
from agent.datasets.load import load_instances, locate_dataset
from agent.errors import BenchmarkError
from agent.metrics import check_available
from tests.agent.catalog.definitions import GOOD, JUDGE_PROMPT, definition


def test_a_jury_is_read_and_refused_before_anything_is_asked(tmp_path):
    (tmp_path / "judge.txt").write_text(JUDGE_PROMPT)
    benchmark = load_benchmark(
        definition(
            tmp_path,
            GOOD + "  - name: jury_score\n    prompt_file: judge.txt\n    judges:\n"
            "      - name: local/judge\n        model_name: judge/one\n  - name: BERTScore-F\n",
        )
    )
    jury = benchmark.metrics[1]
    assert jury.prompt == (tmp_path / "judge.txt").read_text("utf-8")
    assert [(j.model_deployment, j.model_name) for j in jury.judges] == [
        ("local/judge", "judge/one")
    ]
    with pytest.raises(BenchmarkError, match="BERTScore needs"):
        check_available(benchmark.id, benchmark.metrics)


def test_a_jury_alone_needs_no_right_answer(tmp_path):
    (tmp_path / "judge.txt").write_text(JUDGE_PROMPT)
    (tmp_path / "data.csv").write_text("note\nx\n")
    text = GOOD.replace(
        "exact_match",
        "jury_score\n    prompt_file: judge.txt\n    judges: [{name: a/b, model_name: a/b}]",
    )
    benchmark = load_benchmark(definition(tmp_path, text))
    (instance,) = load_instances(benchmark, locate_dataset(benchmark))
    assert instance.references == ()
