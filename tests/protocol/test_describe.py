"""What a steward reads: true words about each statement, made from its bytes, with every rule that was combined."""

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.describe import describe_request, describe_statement
from protocol.description import (
    BY_AGGREGATOR,
    BY_GATE,
    KEPT,
    Description,
    FigureRow,
    Knowledge,
    format_day,
)
from protocol.errors import Code
from protocol.identity import NONE
from protocol.policy import DisclosurePolicy, bucket_of
from protocol.predicates import (
    AbandonPredicate,
    EnrollPredicate,
    Header,
    PlanPredicate,
    ResetPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.registry import RegisteredScorecard
from protocol.scorecard import Jury
from protocol.statements import build_statement
from tests.protocol import world

HEADER = Header(world.ORIGIN, world.SITE, epoch=1, seq=4, prev="aa" * 32, registry=9)


def describe(
    statement: Statement,
    earlier: Mapping[str, Statement] = world.DATASETS,
    own: DisclosurePolicy = world.STRICT,
    notes: Mapping[str, int] | None = None,
) -> Description:
    return describe_statement(
        build_statement(statement), Knowledge(world.REGISTRY, own, earlier, notes or {})
    )


def figure(description: Description, cell: str) -> FigureRow:
    return next(row for row in description.figures if row.cell == cell)


def fact(description: Description, name: str) -> str:
    return next(fact.text for fact in description.facts if fact.name == name)


def test_the_page_is_about_the_exact_bytes() -> None:
    payload = build_statement(world.RESULT)
    description = describe(world.RESULT)
    assert description.payload.encode() == payload
    assert description.digest == world.digest_of(world.RESULT)
    assert description.faults == ()


def test_a_figure_is_shown_in_the_metrics_own_range_with_how_coarse_it_is() -> None:
    row = figure(describe(world.RESULT), "ward/exact_match/sex.female")
    assert (row.value, row.scale, row.units) == ("0.700", "0 to 1", "81 to 90")
    assert "rounded to a grid of 0.1" in row.meaning
    assert figure(describe(world.RESULT), "notes/rouge_l").deviation == "0.240"
    assert "public" in figure(describe(world.RESULT), "exam/exact_match").meaning


def test_the_judges_behind_a_graded_figure_are_named() -> None:
    jury = Jury("notes", ("maker/one", "maker/two", "maker/two"), "ab" * 32, 2)
    cells = tuple(
        replace(cell, jury="notes") if cell.benchmark == "notes" else cell
        for cell in world.SCORECARD.cells
    )
    card = replace(world.SCORECARD, cells=cells, juries=(jury,))
    registry = world.registry(scorecards={card.digest: RegisteredScorecard(card)})
    knowledge = Knowledge(registry, world.STRICT, world.DATASETS, {})
    graded = world.result(scorecard=card.digest)
    description = describe_statement(build_statement(graded), knowledge)
    assert (
        fact(description, "judges of notes")
        == "maker/one, maker/two, maker/two (2 valid verdicts needed)"
    )
    unrun = {
        "groups": {"notes": 0},
        "cells": {"notes/rouge_l": NOT_RUN},
        "spreads": {"notes/rouge_l": -1},
    }
    silent = world.result(scorecard=card.digest, outcome="partial", data={"notes": NONE}, **unrun)
    names = {fact.name for fact in describe_statement(build_statement(silent), knowledge).facts}
    assert not any(name.startswith("judges") for name in names)


@pytest.mark.parametrize(
    ("cell", "code", "words"),
    [
        (
            "ward/exact_match",
            LOW_CODED,
            "low-coded: fewer than 11 successes, according to the perturbed count",
        ),
        (
            "ward/exact_match",
            HIGH_CODED,
            "high-coded: fewer than 11 failures, according to the perturbed count",
        ),
        ("notes/rouge_l", LOW_CODED, "the scores add up to fewer than 11 full scores"),
        (
            "notes/rouge_l",
            HIGH_CODED,
            "the scores fall short of the maximum by fewer than 11 full scores",
        ),
        ("notes/rouge_l", NOT_RUN, "not run"),
        ("notes/rouge_l", SUPPRESSED, "rounding would not hide a few units"),
    ],
)
def test_a_code_is_explained_by_what_it_stands_for(cell: str, code: int, words: str) -> None:
    spreads = {} if cell.endswith("exact_match") else {cell: -1}
    assert (
        words in figure(describe(world.result(cells={cell: code}, spreads=spreads)), cell).meaning
    )


def test_a_suppressed_figure_is_never_said_to_be_low_or_high() -> None:
    """13 of 26 right, once called "too few failures", is suppressed; no word about either end goes with it."""
    row = figure(describe(world.result(cells={"ward/exact_match": SUPPRESSED})), "ward/exact_match")
    assert row.value == "suppressed"
    assert not {"low", "high", "successes", "failures"} & set(row.meaning.replace(":", " ").split())


def test_a_second_figure_of_a_group_is_said_to_be_kept_in() -> None:
    assert (
        "only the first one of this group's figures may leave"
        in figure(describe(world.RESULT), "ward/rouge_l").meaning
    )


def test_the_stricter_number_is_shown_rule_by_rule() -> None:
    own = replace(
        world.STRICT, name="ours", min_units=20, metrics_per_group=3, monthly_submissions=2
    )
    rules = {row.name: row for row in describe(world.RESULT, own=own).rules}
    row = rules["min_units"]
    assert (row.site, row.federation, row.effective, row.source) == (20, 11, 20, "site")
    row = rules["metrics_per_group"]
    assert (row.site, row.federation, row.effective, row.source) == (3, 1, 1, "federation")
    row = rules["monthly_submissions"]
    assert (row.site, row.federation, row.effective, row.source) == (2, 4, 2, "site")
    assert rules["min_events"].source == "both"


def test_every_rule_of_the_policy_is_on_the_page_with_who_applies_it() -> None:
    rules = {row.name: row.verdict for row in describe(world.RESULT).rules}
    assert set(rules) == set(world.STRICT.to_json()) - {"name", "version"}
    assert rules["grid_units"] == KEPT
    assert rules["perturbation_units"] == BY_GATE
    assert rules["pooled_sites"] == BY_AGGREGATOR


@pytest.mark.parametrize(
    ("changes", "rule"),
    [
        ({"cells": {"ward/exact_match": 733}}, "grid_units"),
        ({"cells": {"ward/exact_match": 40}}, "min_events"),
        ({"cells": {"ward/rouge_l": 640}, "spreads": {"ward/rouge_l": 12}}, "metrics_per_group"),
        ({"cells": {"ward/exact_match/sex.male": SUPPRESSED}}, "margin_hidden"),
        ({"groups": {"notes": bucket_of(8)}}, "min_units"),
    ],
)
def test_a_broken_rule_is_named_and_the_statement_faulted(
    changes: dict[str, dict[str, int]], rule: str
) -> None:
    description = describe(world.result(**changes))
    assert [row.name for row in description.rules if row.is_broken] == [rule]
    assert len(description.faults) == 1


def test_a_stricter_policy_of_the_site_is_obeyed() -> None:
    own = replace(world.STRICT, name="ours", grid_units=20)
    assert any("off_grid" in fault for fault in describe(world.RESULT, own=own).faults)


def test_an_exception_is_a_fault() -> None:
    assert any(
        "exception" in fault for fault in describe(world.result(approval="exception")).faults
    )


def test_a_result_about_data_that_was_never_registered_is_a_fault() -> None:
    description = describe(world.result(data={"ward": NONE}))
    assert description.faults == ("ward has protected figures from data that was never registered",)


def test_a_result_with_more_units_than_its_dataset_is_a_fault() -> None:
    small = replace(world.WARD, units=bucket_of(50))
    digest = world.digest_of(small)
    description = describe(world.result(data={"ward": digest}), {**world.DATASETS, digest: small})
    assert "more units than its registered dataset has" in description.faults[0]


def test_a_dataset_that_the_reader_never_saw_is_said_to_be_unknown() -> None:
    description = describe(world.RESULT, earlier={})
    assert any("ward, notes" in caution for caution in description.cautions)
    assert "not among the statements known here" in fact(description, "data of ward")


def test_the_difference_is_taken_to_the_newest_release_of_the_same_model_and_scorecard() -> None:
    first = world.result(header={"seq": 3})
    second = world.result(header={"seq": 4}, cells={"ward/exact_match": 760})
    other = world.result(header={"seq": 5}, scorecard=world.RETIRED.digest)
    asked = world.result(header={"seq": 6}, cells={"ward/exact_match": 680})
    earlier: dict[str, Statement] = {world.digest_of(each): each for each in (first, second, other)}
    description = describe(asked, {**world.DATASETS, **earlier})
    assert description.previous == world.digest_of(second)
    row = figure(description, "ward/exact_match")
    assert (row.before, row.change) == ("0.760", "-0.080")
    assert describe(first, {**world.DATASETS, **earlier}).previous == ""


def test_what_becomes_public_is_said_for_named_and_for_pooled_sites() -> None:
    named = " ".join(describe(world.RESULT).sentences)
    assert "under the name General Hospital (s-aaaaaaa1)" in named
    pooled = " ".join(describe(world.result(header={"site": world.OTHER_SITE})).sentences)
    assert "only merged with those of other sites (at least 3 sites in all" in pooled
    assert "readers of the aggregator's log" in pooled


def test_the_capacity_counts_figures_fingerprints_and_signatures() -> None:
    (sentence,) = (each for each in describe(world.RESULT).sentences if "bits" in each)
    assert "two signatures" in sentence
    assert "In total" in sentence


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"model": "99" * 32}, Code.UNKNOWN_MODEL),
        ({"scorecard": "99" * 32}, Code.UNKNOWN_SCORECARD),
        ({"scorecard": world.RETIRED.digest}, Code.RETIRED_SCORECARD),
        ({"agent": "99" * 32}, Code.UNKNOWN_AGENT),
        ({"policy": "99" * 32}, Code.UNKNOWN_POLICY),
        ({"header": {"deployment": "evil.example"}}, Code.WRONG_DEPLOYMENT),
        ({"header": {"site": "s-zzzzzzzz"}}, Code.WRONG_SITE),
        ({"cells": {"ward/other": 1}}, Code.WRONG_CELLS),
    ],
)
def test_a_statement_that_cannot_be_shown_faithfully_is_not_shown(
    changes: dict[str, object], code: Code
) -> None:
    with world.refused(code):
        describe(world.result(**changes))  # type: ignore[arg-type]


def test_a_first_version_of_a_dataset_says_so() -> None:
    description = describe(world.WARD, notes={"units": 10_000, "never_seen": 10_000})
    assert fact(description, "previous version").startswith("none")
    assert fact(description, "units") == "8766 to 10255 (only this range leaves the site)"
    assert [(note.name, note.text) for note in description.notes] == [
        ("units in this version", "10000"),
        ("units that are in no earlier version of any dataset of the site", "10000"),
    ]
    assert description.faults == ()


def second_version(**changes: int) -> Statement:
    return replace(
        world.WARD,
        header=replace(world.WARD.header, seq=4),
        commitment="dd" * 32,
        previous=world.digest_of(world.WARD),
        **{"added": bucket_of(30), **changes},  # type: ignore[arg-type]
    )


def test_a_later_version_says_what_differs() -> None:
    description = describe(second_version(removed=0))
    assert fact(description, "added") == "26 to 30 units"
    assert fact(description, "removed") == "no units"
    assert description.faults == ()
    assert any(
        "previous version" in caution for caution in describe(second_version(), earlier={}).cautions
    )


def test_a_version_that_differs_by_one_patient_is_a_fault() -> None:
    description = describe(second_version(added=bucket_of(1)))
    assert description.faults == (
        "a version may not differ from the previous one by fewer than 11 units (added)",
    )
    assert [row.name for row in description.rules if row.is_broken] == ["changed_units"]


def test_a_dataset_below_the_threshold_is_a_fault() -> None:
    assert "fewer than 11 units" in describe(replace(world.WARD, units=bucket_of(8))).faults[0]


def test_figures_of_the_site_that_contradict_the_statement_are_a_fault() -> None:
    """The site tells its steward that nobody was added, while the statement says thirty."""
    description = describe(second_version(), notes={"units": 10_000, "added": 0})
    assert len(description.faults) == 1
    assert "units added" in description.faults[0]


PLAN = PlanPredicate(
    header=HEADER,
    scorecard=world.SCORECARD.digest,
    model=world.RESULT.model,
    data=world.RESULT.data,
    agent=world.RESULT.agent,
    policy=world.RESULT.policy,
    model_assurance="served_claimed",
    expires_day=world.TODAY + 30,
)


def test_a_plan_and_what_ends_it_are_described() -> None:
    description = describe(PLAN)
    assert fact(description, "result until") == format_day(world.TODAY + 30)
    assert "Qwen 2.5 7B" in description.title
    digest = world.digest_of(PLAN)
    known = describe(AbandonPredicate(HEADER, digest, "failed"), {digest: PLAN})
    assert fact(known, "plan") == f"{digest} (Qwen 2.5 7B, small)"
    assert fact(known, "reason") == "its run failed"
    assert describe(AbandonPredicate(HEADER, digest, "failed"), {}).cautions


def test_a_withdrawal_names_the_result_that_leaves_the_board() -> None:
    digest = world.digest_of(world.RESULT)
    description = describe(WithdrawPredicate(HEADER, digest, "consent"), {digest: world.RESULT})
    assert "Qwen 2.5 7B" in fact(description, "result")
    assert fact(description, "reason") == "consent was withdrawn"


def test_requests_about_keys_show_fingerprints_to_read_aloud() -> None:
    start = replace(HEADER, seq=0)
    enrolment = EnrollPredicate(
        replace(start, prev=NONE),
        world.AGENT.public.der,
        world.STEWARD.public.der,
        token_signature="00" * 64,
    )
    description = describe_request(build_statement(enrolment))
    assert fact(description, "agent's key") == world.AGENT.public.fingerprint
    assert fact(description, "steward's key") == world.STEWARD.public.fingerprint
    reset = ResetPredicate(
        replace(start, epoch=2),
        world.AGENT.public.der,
        world.STEWARD.public.der,
        reason="stolen_key",
    )
    assert fact(describe_request(build_statement(reset)), "reason") == "a key was stolen"
    rotation = RotatePredicate(HEADER, "agent", world.SECOND_AGENT.public.der)
    assert (
        fact(describe_request(build_statement(rotation)), "new agent's key")
        == world.SECOND_AGENT.public.fingerprint
    )
    with world.refused(Code.WRONG_TYPE):
        describe_request(build_statement(world.RESULT))
    with world.refused(Code.WRONG_TYPE):
        describe(rotation)


@given(st.integers(0, 2_900_000))
def test_days_are_those_of_the_calendar(day: int) -> None:
    assert format_day(day) == date.fromordinal(date(1970, 1, 1).toordinal() + day).isoformat()


def test_the_same_bytes_give_the_same_page() -> None:
    pages = {hashlib.sha256(repr(describe(world.RESULT)).encode()).hexdigest() for _ in range(2)}
    assert len(pages) == 1
