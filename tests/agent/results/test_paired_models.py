"""Two models are compared only if both were measured alike, and the reader is told what differs."""

from agent.results.comparability import list_metric_traits
from agent.results.paired_models import _MEASURED
from agent.store import KeptMetric
from tests.agent.results.run_summaries import of


def test_every_trait_that_two_metrics_must_share_has_words_for_its_difference():
    traits = list_metric_traits(of("a", 0.9, {}).run, KeptMetric(name="m"))
    assert set(traits) == set(_MEASURED)
