"""The commitment to scores: leaves in a fixed order, each openable alone, and none that anybody else can open."""

import hashlib
from collections.abc import Sequence
from dataclasses import replace

import pytest

from agent.disclosure.commitment import compute_scores_root, list_records, open_leaves
from agent.disclosure.findings import Finding
from agent.store import UnitScore
from protocol.merkle import inclusion_proof, salted_root

MODEL, SCORECARD, SECRET = "aa" * 32, "bb" * 32, b"s" * 32


def make_finding(metric: str, values: Sequence[float | None], benchmark: str = "ward") -> Finding:
    """Return a finding with one instance for each value; None is unscored."""
    scores = [
        UnitScore(
            unit_key=hashlib.sha256(f"unit {number // 2}".encode()).digest(),
            instance_key=hashlib.sha256(f"instance {number}".encode()).digest(),
            value=value,
            reason=None if value is not None else "unparsed",
        )
        for number, value in enumerate(values)
    ]
    return Finding(
        benchmark=benchmark,
        metric=metric,
        definition="cc" * 32,
        access="private",
        binary=True,
        low=0,
        high=1,
        scores=scores,
        dataset="",
        known="unknown",
        available=len(scores),
    )


FINDINGS = [
    make_finding("rouge_l", [0.25, None, 0.75]),
    make_finding("exact_match", [1.0, 0.0, None]),
    make_finding("exact_match", [1.0, 1.0], benchmark="exam"),
]


def test_leaves_are_in_the_order_of_benchmark_metric_and_instance() -> None:
    records = list_records(FINDINGS, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    assert [(record.benchmark, record.metric) for record in records] == [
        ("exam", "exact_match"),
        ("exam", "exact_match"),
        *[("ward", "exact_match")] * 3,
        *[("ward", "rouge_l")] * 3,
    ]
    for cell in (records[2:5], records[5:]):
        keys = [record.score.instance_key for record in cell]
        assert keys == sorted(keys)
    assert len({record.salt for record in records}) == len(records)


def test_the_root_is_that_of_the_listed_records() -> None:
    records = list_records(FINDINGS, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    expected = salted_root(
        [record.data for record in records], [record.salt for record in records]
    ).hex()
    assert (
        compute_scores_root(FINDINGS, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
        == expected
    )
    # As computed by the commit before leaves could be opened: the order and the bytes of records have not changed.
    assert expected == "2d81df87c17303ba46fa96ac62a0c9f76561f74fb7d99ed8d6e6cbbe7a45b4d0"


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 13, 64, 100])
def test_every_leaf_opens_with_the_proof_of_rfc_6962(size: int) -> None:
    findings = [make_finding("exact_match", [1.0] * size)]
    records = list_records(findings, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    root = compute_scores_root(findings, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    leaves = [record.leaf for record in records]
    for opened in open_leaves(records, range(size)):
        assert list(opened.proof) == inclusion_proof(leaves, opened.index)
        assert opened.leads_to(root)


def test_a_leaf_with_another_score_salt_or_place_does_not_lead_to_the_root() -> None:
    records = list_records(FINDINGS, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    root = compute_scores_root(FINDINGS, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    wrong_answer = next(index for index, record in enumerate(records) if record.score.value == 0.0)
    (opened,) = open_leaves(records, [wrong_answer])
    assert opened.leads_to(root)
    changed = replace(
        opened.record, data=opened.record.data.replace(b'"0x0.0p+0"', b'"0x1.0000000000000p+0"')
    )
    assert not replace(opened, record=changed).leads_to(root)
    assert not replace(opened, record=replace(opened.record, salt=bytes(32))).leads_to(root)
    assert not replace(opened, index=wrong_answer + 1).leads_to(root)
    assert not replace(opened, proof=opened.proof[:-1]).leads_to(root)
    assert not opened.leads_to("00" * 32)


def test_a_leaf_that_is_not_there_is_not_opened() -> None:
    records = list_records(FINDINGS, model=MODEL, scorecard=SCORECARD, site_secret=SECRET)
    with pytest.raises(IndexError):
        open_leaves(records, [len(records)])
