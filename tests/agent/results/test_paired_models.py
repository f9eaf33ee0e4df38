"""Two models are compared only if both were measured alike, and the reader is told what differs."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from agent.cli.compare import compare
from agent.results.comparability import list_metric_traits
from agent.results.paired_models import _MEASURED, pair_models
from agent.store import KeptMetric
from tests.agent.results.run_summaries import of
from tests.agent.service.filled_site import filled_site, graded


def test_every_trait_that_two_metrics_must_share_has_words_for_its_difference():
    traits = list_metric_traits(of("a", 0.9, {}).run, KeptMetric(name="m"))
    assert set(traits) == set(_MEASURED)


@pytest.mark.parametrize(
    ("ways", "compared", "left_out"),
    [
        (("generate", "constrained"), "generate", ("constrained",)),
        (("logprob", "constrained"), "constrained", ("logprob",)),
        (("logprob",), "logprob", ()),
    ],
)
def test_models_that_were_asked_in_several_ways_are_compared_in_one_and_no_question_counts_twice(
    tmp_path: Path, ways: tuple[str, ...], compared: str, left_out: tuple[str, ...]
):
    filled = filled_site(tmp_path)
    for model, right in (("a/b", 4), ("c/d", 2)):
        for way in ways:
            entry = f"pubmed_qa:model={model},answer_mode={way}"
            filled.add(graded(right if way == compared else 0, 5), entry=entry)
    with filled.site.store() as store:
        (paired,) = pair_models(store, ["november"], "a/b", "c/d").benchmarks
    assert (paired.scored, paired.other_ways, paired.passed_over) == (5, left_out, 0)
    assert sum(pair.a or 0.0 for pair in paired.pairs) == 4
    words = ["a/b", "c/d", "--suites", "november"]
    shown = " ".join(CliRunner().invoke(compare, words, obj=filled.site).stdout.split())
    assert all(f"the runs with answer_mode={way};" in shown for way in left_out)
