"""What a result adds to the last one: each figure is in exactly one of the kinds, and nothing differs from itself."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.delivery.outbox import State, Submission, open_submission
from agent.disclosure.prepare import Gate, prepare
from agent.disclosure.release_difference import (
    Change,
    FigureChange,
    ReleaseDifference,
    compare_with_last,
    judge_change,
)
from protocol import envelope
from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.description import CODE_WORDS, FigureRow
from protocol.statements import build_statement
from tests.agent.disclosure.ward import CARD, MODEL, OTHER_MODEL, register, site_gate, whole_ward

values = st.sampled_from([*CODE_WORDS.values(), "", "0.51", "0.52", "1", "0"])
units = st.sampled_from(["", "11 to 15", "96 to 127"])


def figure(value: str, units_now: str, before: str, units_before: str) -> FigureRow:
    return FigureRow(
        "cell", "subject", units_now, value, "0 to 1", "", "", before, units_before, ""
    )


@given(value=values, size=units)
def test_nothing_differs_from_itself(value: str, size: str):
    change = judge_change(figure(value, size, value, size))
    is_withheld = value in ("", CODE_WORDS[SUPPRESSED], CODE_WORDS[NOT_RUN])
    assert change is (Change.WITHHELD if is_withheld else Change.SAME)


@given(value=values, size=units, before=values, size_before=units)
def test_the_way_back_is_the_same_way(value: str, size: str, before: str, size_before: str):
    there = judge_change(figure(value, size, before, size_before))
    back = judge_change(figure(before, size_before, value, size))
    reverse = {Change.NEW: Change.GONE, Change.GONE: Change.NEW}
    assert back is reverse.get(there, there)


@pytest.mark.parametrize("code", [LOW_CODED, HIGH_CODED])
def test_a_coded_figure_tells_something_and_counts_as_one_that_leaves(code: int):
    word = CODE_WORDS[code]
    assert judge_change(figure(word, "11 to 15", "", "")) is Change.NEW
    assert judge_change(figure("0.5", "11 to 15", word, "11 to 15")) is Change.CHANGED


def test_the_summary_counts_in_words():
    def build(*changes: Change) -> ReleaseDifference:
        row = figure("", "", "", "")
        return ReleaseDifference("d", "day", [FigureChange(row, change) for change in changes])

    assert build().summary == ""
    assert build(Change.CHANGED).summary == "1 figure has changed"
    summary = build(Change.NEW, Change.SAME, Change.SAME, Change.GONE, Change.NEW).summary
    assert summary == "2 figures are new, 1 figure is gone, 2 figures stay the same"


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return site_gate(tmp_path)


def follow(gate: Gate, first: Submission) -> Submission:
    """Return a draft with the same figures, later in the chain."""
    header = replace(first.header, seq=first.header.seq + 9)
    payload = build_statement(replace(first.result, header=header))
    return open_submission(envelope.sign(payload, [gate.signer]), State.PREPARED)


def test_the_difference_of_a_result_with_itself_is_all_the_same(gate: Gate):
    """Of the newest accepted result of the same model, and of no other."""
    findings = {MODEL: whole_ward(), OTHER_MODEL: whole_ward(60)}
    register(gate, findings)
    prepare(gate, CARD, findings)
    drafts = [item for item in gate.outbox.list_submissions() if item.is_result]
    for first, other in (drafts, drafts[::-1]):
        later = follow(gate, first)
        for state in State:
            others = [replace(first, state=state), replace(other, state=State.RECEIPTED)]
            found = compare_with_last(later, gate.registry, gate.policy, others)
            assert found is not None
            if state is not State.RECEIPTED:
                assert found == ReleaseDifference()
                continue
            assert found.previous == first.digest
            assert {entry.change for entry in found.changes} == {Change.SAME}
            leaving = [
                code for code in first.result.cells.values() if code not in (SUPPRESSED, NOT_RUN)
            ]
            assert len(found.changes) == len(leaving) > 0


def test_other_statements_have_no_difference(gate: Gate):
    for registered in register(gate, {MODEL: whole_ward()}):
        assert compare_with_last(registered, gate.registry, gate.policy, []) is None
