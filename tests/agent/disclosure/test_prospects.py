"""What is said before the gate decides: nothing that depends on a protected score."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from agent.disclosure.prospects import (
    DECIDED_LATER,
    NOT_RUN,
    PARTIAL,
    PUBLIC,
    UNREGISTERED,
    foretell,
)
from tests.agent.disclosure.ward import CARD, finding, whole_ward


def test_every_cell_has_one_entry_in_the_order_of_the_scorecard():
    prospects = foretell(CARD, whole_ward())
    cells = [(cell.benchmark, cell.metric, cell.subgroup or "") for cell in CARD.cells]
    assert [(item.benchmark, item.metric, item.subgroup) for item in prospects] == cells
    assert {item.words for item in foretell(CARD, [])} == {NOT_RUN}


@given(rights=st.lists(st.booleans(), min_size=60, max_size=60))
def test_the_scores_of_protected_data_change_no_word(rights: list[bool]):
    findings = whole_ward()
    changed = []
    for item in findings:
        if item.access == "public":
            changed.append(item)
            continue
        scores = [
            score if score.value is None else replace(score, value=float(right))
            for score, right in zip(item.scores, rights * 20, strict=False)
        ]
        changed.append(replace(item, scores=scores))
    assert foretell(CARD, changed) == foretell(CARD, findings)


def test_unregistered_data_and_a_part_of_public_data_are_named():
    findings = [replace(item, dataset="") for item in whole_ward()]
    words = {(item.benchmark, item.words) for item in foretell(CARD, findings)}
    assert ("exam", PUBLIC) in words
    assert UNREGISTERED in {word for benchmark, word in words if benchmark != "exam"}
    assert DECIDED_LATER not in {word for _, word in words}
    part = replace(finding("exam", "exact_match", [1.0] * 20), available=5_000)
    assert foretell(CARD, [part])[0].words == PARTIAL
