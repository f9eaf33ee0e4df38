"""Samples of texts whose redaction a person reviews: sealed in their places, and deleted whole."""

import sqlite3
from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Store

TEXTS = [(0, {"text": "Mr. Quackenbush"}), (1, {"text": "aspirin"})]


def test_marks_take_the_place_of_earlier_ones_and_are_counted(store: Store):
    store.reviews.keep("may", {"policy": "strict"}, TEXTS)
    for missed in (2, 1):
        store.reviews.keep_text(
            "may", 1, {"text": "Mr. Quackenbush", "marks": missed}, {"NAME": (1, missed, 0)}
        )
    first, second = store.reviews.read_texts("may")
    assert (first.content, first.figures) == (
        {"text": "Mr. Quackenbush", "marks": 1},
        {"NAME": (1, 1, 0)},
    )
    assert (second.item, second.record, second.content, second.figures) == (
        2,
        1,
        {"text": "aspirin"},
        None,
    )
    found = store.reviews.find("may")
    assert found is not None
    assert (found.plan, found.texts, found.reviewed) == ({"policy": "strict"}, 2, 1)


def test_a_text_moved_to_another_sample_does_not_open(store: Store, path: Path):
    for name in ("may", "june"):
        store.reviews.keep(name, {}, TEXTS)
    with sqlite3.connect(path) as other:
        other.execute(
            "UPDATE reviewed_texts SET sealed = (SELECT sealed FROM reviewed_texts WHERE review = 'may' AND item = 1)"
            " WHERE review = 'june' AND item = 1"
        )
    other.close()
    assert len(store.reviews.read_texts("may")) == 2
    with pytest.raises(StoreError, match="cannot be decrypted"):
        store.reviews.read_texts("june")


def test_a_deleted_sample_leaves_the_others(store: Store):
    for name in ("may", "june"):
        store.reviews.keep(name, {}, TEXTS)
    store.reviews.delete("may")
    assert [review.name for review in store.reviews.read_all()] == ["june"]
    assert store.reviews.read_texts("may") == []
