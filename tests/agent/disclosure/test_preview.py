"""The page that a person reads before signing: made from the bytes, in the steward's own words."""

from dataclasses import replace
from typing import Any

import pytest

from agent.cli.submission_page import print_page
from agent.disclosure.prepare import Gate
from agent.disclosure.preview import make_page
from agent.errors import DisclosureError
from protocol.describe import describe_statement
from protocol.description import Knowledge
from tests.agent.disclosure.pages import build_page, draft_of
from tests.agent.disclosure.ward import MODEL, REGISTRY, register, sign, whole_ward
from tests.protocol import world


@pytest.mark.full
def test_the_site_reads_the_words_that_the_stewards_tool_makes(gate: Gate) -> None:
    draft = draft_of(gate, whole_ward())
    earlier = {
        s.digest: s.statement for s in gate.outbox.list_submissions() if s.digest != draft.digest
    }
    assert build_page(gate, draft).description == describe_statement(
        draft.payload, Knowledge(REGISTRY, gate.policy, earlier)
    )


def test_the_page_shows_figures_rules_change_and_the_exact_bytes(
    gate: Gate, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    first = sign(gate, draft_of(gate, whole_ward(100)))
    second = draft_of(gate, whole_ward(150))
    page = build_page(gate, second)
    figure = next(
        figure for figure in page.description.figures if figure.cell == "ward/exact_match"
    )
    values = [f"{s.result.cells['ward/exact_match'] / 1000:.3f}" for s in (second, first)]
    assert [figure.value, figure.before] == values
    assert figure.change == f"{float(figure.value) - float(figure.before):+.3f}"
    word = next(word.word for word in page.gate_words if word.cell == "ward/exact_match")
    assert "rounded to the grid" in word
    assert page.description.payload.encode() == second.payload
    assert page.capacity is not None
    print_page(page)
    shown = capsys.readouterr().out
    for text in (
        second.digest,
        page.description.payload,
        "General Hospital",
        world.AGENT.public.keyid,
        "min_events",
    ):
        assert text in shown
    for text in (
        "Units (range)",
        "The number of units leaves the site only as a range",
        "Before",
        "The gate's reasons",
    ):
        assert text in shown


def test_the_page_of_a_dataset_has_no_figures(
    gate: Gate, capsys: pytest.CaptureFixture[str]
) -> None:
    (registered,) = register(gate, {MODEL: whole_ward()})
    page = build_page(gate, registered)
    assert (page.description.kind, page.gate_words, page.capacity) == ("dataset", (), None)
    print_page(page)
    shown = capsys.readouterr().out
    assert "The site registers a version of its dataset for A ward's letters (ward)." in shown
    assert "The gate's reasons" not in shown


def test_the_gates_word_says_which_figures_come_from_a_sample(gate: Gate) -> None:
    exam, ward, rouge = whole_ward()
    draft = draft_of(gate, [replace(exam, available=1000), ward, rouge])
    said = {
        word.cell: word.word.endswith("; 40 of 1000 instances")
        for word in build_page(gate, draft).gate_words
    }
    assert said == {key: key == "exam/exact_match" for key in draft.result.cells}


@pytest.mark.parametrize(
    "lies",
    [
        {
            "cells": {"ward/exact_match": "\x1b[2J"},
            "data": {"ward": {"known": "x", "asked": "\x1b", "available": 1}},
        },
        {"cells": [], "data": 7, "notes": 3},
        {"cells": {"ward/exact_match": ["rounded"]}, "data": {"ward": [1, 2, 3]}},
        {
            "cells": {"ward/exact_match": "rounded"},
            "data": {"ward": {"known": {}, "asked": "\x1b", "available": None}},
        },
        {"notes": {"units": "\x1b", "added": True, "other": 1}},
        {},
    ],
)
def test_a_changed_verdict_file_changes_no_figure_and_puts_no_text_on_the_page(
    gate: Gate, lies: dict[str, Any]
) -> None:
    draft = draft_of(gate, whole_ward())
    page, honest = build_page(gate, draft, lies), build_page(gate, draft)
    assert page.description == honest.description
    assert all("\x1b" not in word.word for word in page.gate_words)


def test_a_statement_that_names_an_unregistered_model_is_not_shown(gate: Gate) -> None:
    draft = draft_of(gate, whole_ward())
    stripped = replace(REGISTRY, models={})
    with pytest.raises(DisclosureError, match="cannot be shown faithfully"):
        make_page(draft, stripped, gate.policy, {}, gate.outbox.list_submissions())
