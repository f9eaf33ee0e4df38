"""A missing number says what it waits for, or why it cannot exist."""

from dataclasses import replace

import pytest

from agent.results.summarize import MetricSummary
from agent.service.gaps import explain_no_interval, explain_no_mean
from agent.statistics.intervals import Mean
from agent.vocabulary import Reason

EMPTY = Mean(0, 0, None, None, None, "none")


def metric(mean: Mean = EMPTY, **unscored: int) -> MetricSummary:
    return MetricSummary("m", "Metric", 0, 1, mean, unscored)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        (Reason.NOT_ASKED, "not asked yet"),
        (Reason.NOT_JUDGED, "not judged yet"),
        (Reason.SERVER_ERROR, "no score: server error"),
    ],
)
def test_the_most_frequent_reason_is_named(reason: Reason, words: str):
    assert explain_no_mean(metric(timeout=1, **{reason.value: 2})) == words


def test_an_imported_mean_has_no_interval_because_it_has_no_units():
    imported = metric(Mean(10, 0, 0.5, None, None, "none"))
    assert explain_no_interval(imported, imported=True) == "no units: imported"


def test_a_mean_over_equal_units_has_no_interval():
    equal = metric(Mean(10, 5, 1.0, None, None, "none"))
    assert explain_no_interval(equal, imported=False) == "no interval: all units score the same"
    one = replace(equal, mean=Mean(10, 1, 0.5, None, None, "none"))
    assert explain_no_interval(one, imported=False) == "no interval: one unit"
