"""Recall by a site's reviews, with records as units."""

from agent.review.estimate import estimate_recall
from agent.store import ReviewedText


def test_recall_is_of_identifiers_and_its_interval_of_records():
    texts = [
        ReviewedText(n, n // 10, {}, {"NAME": (9, 1, 2), "MRN": (1, 0, 0)}) for n in range(100)
    ]
    every, mrn, name = estimate_recall(texts)
    assert (every.entity, every.found, every.missed, every.wrong) == ("all", 1000, 100, 200)
    assert (name.found, name.missed, mrn.found, mrn.missed) == (900, 100, 100, 0)
    assert name.recall.value == 0.9
    assert name.recall.low is not None
    assert 0.85 < name.recall.low < 0.9
    assert mrn.recall.low is not None
    assert 0.6 < mrn.recall.low < 1  # 100 of 100, but of ten records
