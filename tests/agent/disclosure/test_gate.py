"""What the gate lets out, and what it does when somebody tries to get more out of it."""

import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.disclosure.findings import Finding
from agent.disclosure.ledger import Ledger, ResetEntry
from agent.disclosure.verdicts import GateRule
from agent.errors import DisclosureError
from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.policy import bucket_of, bucket_range
from protocol.scorecard import Scorecard
from tests.agent.disclosure.gated_cards import EXAM, ROUGE, ROUGE_CARD, WARD
from tests.agent.disclosure.ward import (
    CARD,
    MODEL,
    OTHER_MODEL,
    after,
    finding,
    gate_says,
    right,
    whole_ward,
    with_datasets,
)
from tests.protocol import world


def test_a_public_figure_is_published_as_it_is() -> None:
    release = gate_says([finding("exam", "exact_match", right(8, 8))])
    assert release.cells[EXAM] == 1000
    assert release.verdicts[EXAM] is GateRule.PUBLIC
    assert release.groups["exam"] == bucket_of(8)
    assert release.footprint == {}


def test_a_public_mean_counts_instances_and_a_private_one_units() -> None:
    values = [1.0] * 60 + [0.0] * 20 + [1.0] * 20  # five to a unit: 12 right, 4 wrong, 4 right
    unequal = [*values, *([0.0] * 1)]
    release = gate_says(
        [
            finding("exam", "exact_match", unequal, per_unit=5),
            finding("ward", "exact_match", right(300, 400), per_unit=2),
        ]
    )
    assert release.cells[EXAM] == round(1000 * 80 / 101)
    low, high = bucket_range(release.groups["ward"])
    assert low <= 200 <= high


@pytest.mark.parametrize(
    ("count", "of", "value", "rule"),
    [
        (197, 200, HIGH_CODED, GateRule.FEW_FAILURES),  # the small complement: 3 wrong
        (200, 200, HIGH_CODED, GateRule.FEW_FAILURES),  # everyone
        (3, 200, LOW_CODED, GateRule.FEW_SUCCESSES),
        (0, 200, LOW_CODED, GateRule.FEW_SUCCESSES),
        (5, 10, SUPPRESSED, GateRule.FEW_UNITS),
    ],
)
def test_small_counts_are_coded_or_suppressed_and_it_is_said_why(
    count: int, of: int, value: int, rule: GateRule
) -> None:
    release = gate_says([finding("ward", "exact_match", right(count, of))])
    assert (release.cells[WARD], release.verdicts[WARD]) == (value, rule)


def test_two_patients_who_carry_a_mean_are_not_published_as_a_mean() -> None:
    release = gate_says([finding("ward", "rouge_l", [1.0, 0.9] + [0.0] * 198)], card=ROUGE_CARD)
    assert (release.cells[ROUGE], release.verdicts[ROUGE]) == (LOW_CODED, GateRule.FEW_SUCCESSES)
    assert release.spreads[ROUGE] == -1
    release = gate_says([finding("ward", "rouge_l", [0.0, 0.1] + [1.0] * 198)], card=ROUGE_CARD)
    assert (release.cells[ROUGE], release.verdicts[ROUGE]) == (HIGH_CODED, GateRule.FEW_FAILURES)


def test_unscored_is_neither_wrong_nor_a_unit() -> None:
    release = gate_says([finding("ward", "exact_match", [*right(50, 80), *([None] * 120)])])
    low, high = bucket_range(release.groups["ward"])
    assert low <= 80 <= high
    assert abs(release.cells[WARD] - 625) <= 63 / 2


def test_a_dead_server_makes_the_submission_partial_and_a_bad_answer_does_not() -> None:
    exam, ward = (
        finding("exam", "exact_match", right(30, 40)),
        finding("ward", "rouge_l", [0.1, 0.5, 0.9] * 40 + [0.5]),
    )
    card = replace(
        CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {EXAM, WARD, ROUGE})
    )

    def complete(reason: str) -> bool:
        half = finding("ward", "exact_match", [*right(60, 120), None], reason=reason)
        return gate_says([exam, ward, half], card=card).complete

    assert complete("unparsed")
    assert complete("length")
    assert not complete("timeout")
    assert not complete("not_asked")
    assert not gate_says([exam, ward], card=card).complete


def test_a_model_that_answers_few_questions_is_marked_as_partial() -> None:
    card = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {EXAM, WARD}))
    ward = finding("ward", "exact_match", right(60, 120))
    for unscored, complete in ((5, True), (6, False), (60, False)):
        exam = finding("exam", "exact_match", [*right(50, 100 - unscored), *([None] * unscored)])
        assert gate_says([exam, ward], card=card).complete is complete


@pytest.mark.parametrize("plan", ["", "9a" * 32])
def test_a_run_that_was_stopped_gives_no_protected_figure(plan: str) -> None:
    """Otherwise whoever stops it chooses whom it asks: best of n, or everybody but one patient."""
    for asked in (60, 199):
        stopped = finding(
            "ward",
            "exact_match",
            [*right(40, asked), *([None] * (200 - asked))],
            reason="not_asked",
        )
        release = gate_says([replace(stopped, plan=plan)])
        assert (release.cells[WARD], release.groups["ward"], release.verdicts[WARD]) == (
            SUPPRESSED,
            0,
            GateRule.PART,
        )


def test_a_cell_nobody_asked_is_not_run_rather_than_zero() -> None:
    release = gate_says([finding("ward", "exact_match", [None] * 50, reason="not_asked")])
    assert release.cells[WARD] == NOT_RUN
    assert release.groups["ward"] == 0


def test_one_small_subgroup_takes_a_second_one_with_it() -> None:
    """197 women and 8 men: publishing the women and everyone would publish the 8."""
    everyone = right(100, 205)
    release = gate_says(
        [
            finding("ward", "exact_match", everyone),
            finding("ward", "exact_match", everyone[:197], subgroup="sex.female"),
            finding("ward", "exact_match", everyone[197:], first=197, subgroup="sex.male"),
        ]
    )
    assert release.cells[f"{WARD}/sex.male"] == SUPPRESSED
    assert release.verdicts[f"{WARD}/sex.male"] is GateRule.FEW_UNITS
    assert release.cells[f"{WARD}/sex.female"] == SUPPRESSED
    assert release.verdicts[f"{WARD}/sex.female"] is GateRule.MARGIN


def test_a_server_that_dies_on_many_is_no_way_to_choose_a_part() -> None:
    for dead, leaves in ((5, True), (60, False)):
        scores = [*right(100, 200 - dead), *([None] * dead)]
        release = gate_says([finding("ward", "exact_match", scores, reason="timeout")])
        assert (release.verdicts[WARD] is GateRule.PART) is not leaves


def test_whether_a_result_is_complete_does_not_tell_of_one_answer() -> None:
    card = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key == WARD))
    outcomes = {
        gate_says(
            [finding("ward", "exact_match", [*right(60, 120 - n), *([None] * n)])], card=card
        ).complete
        for n in (5, 6, 7, 30)
    }
    assert outcomes == {True}


def test_of_a_part_no_subgroup_is_a_figure_either() -> None:
    """The groups of those who were asked are groups of a part."""
    whole = finding("ward", "exact_match", right(100, 200))
    part = replace(
        finding("ward", "exact_match", right(100, 180)), dataset=whole.dataset, available=200
    )
    women = finding("ward", "exact_match", right(90, 90), subgroup="sex.female")
    men = finding("ward", "exact_match", right(10, 90), first=90, subgroup="sex.male")
    release = gate_says([part, women, men])
    assert {release.cells[key] for key in release.cells if key.startswith(WARD)} == {SUPPRESSED}
    assert {release.verdicts[key] for key in release.cells if key.startswith(WARD)} == {
        GateRule.PART
    }


NO_ICU = "ward_no_icu/exact_match"


def twins(*order: str) -> Scorecard:
    """Two benchmarks, `ward` and `ward_no_icu`, in the order given."""
    return Scorecard(
        "twins",
        1,
        tuple(replace(CARD.benchmarks[1], id=name) for name in order),
        tuple(replace(CARD.cells[1], benchmark=name) for name in order),
    )


def cohorts(others: str = "") -> dict[str, Finding]:
    """200 patients, and the same without four of them (or as many `others`)."""
    everyone = finding("ward", "exact_match", right(100, 200))
    but_four = finding(
        "ward", "exact_match", right(98, 196), first=2, named="ward_no_icu", people=others
    )
    return {"ward": everyone, "ward_no_icu": but_four}


@pytest.mark.parametrize("order", [("ward", "ward_no_icu"), ("ward_no_icu", "ward")])
def test_everyone_and_everyone_but_the_icu_cannot_be_subtracted_within_one_submission(
    order: tuple[str, str],
) -> None:
    """Two benchmarks about nearly the same patients: the second is withheld, whichever it is."""
    first, second = order
    release = gate_says(list(cohorts().values()), card=twins(*order))
    assert release.verdicts == {
        f"{first}/exact_match": GateRule.ROUNDED,
        f"{second}/exact_match": GateRule.NEAR_VERSION,
    }
    assert release.cells[f"{second}/exact_match"] == SUPPRESSED
    assert release.groups[second] == 0
    # Of other patients, both are published.
    apart = gate_says(list(cohorts("other ").values()), card=twins(*order))
    assert set(apart.verdicts.values()) == {GateRule.ROUNDED}


@pytest.mark.parametrize("order", [("ward", "ward_no_icu"), ("ward_no_icu", "ward")])
@pytest.mark.parametrize("model", [MODEL, OTHER_MODEL])
def test_nor_in_two_submissions_one_after_the_other(order: tuple[str, str], model: str) -> None:
    """Also not under a second registered name: weights may have two."""
    first, second = order
    found, card = cohorts(), twins("ward", "ward_no_icu")
    ledger = after(Ledger(), gate_says([found[first]], card=card))
    release = gate_says([found[second]], card=card, ledger=ledger, model=model)
    assert release.cells[f"{second}/exact_match"] == SUPPRESSED
    assert release.groups[second] == 0
    both = gate_says(list(found.values()), card=card, ledger=ledger, model=model)
    assert both.cells[f"{first}/exact_match"] >= 0
    assert both.cells[f"{second}/exact_match"] == SUPPRESSED


def test_a_lost_ledger_entry_closes_the_datasets_registered_before_it() -> None:
    ward = finding("ward", "exact_match", right(147, 200))
    ledger = with_datasets(Ledger(), [ward.dataset])
    ledger = ledger.followed_by(ResetEntry(2, ledger.head.length + 1), world.TODAY, number=9)
    now = gate_says([ward], ledger=ledger)
    assert (now.cells[WARD], now.verdicts[WARD]) == (SUPPRESSED, GateRule.LOST_ENTRIES)
    newer = finding("ward", "exact_match", right(147, 200), first=1000)
    assert gate_says([newer], ledger=ledger).cells[WARD] >= 0


def test_the_fifth_submission_of_a_month_is_refused() -> None:
    ledger, day = Ledger(), world.TODAY
    for number in range(4):
        release = gate_says(
            [finding("ward", "exact_match", right(50 + 20 * number, 200))], ledger=ledger, day=day
        )
        ledger = after(ledger, release, day=day)
    fifth = [finding("ward", "exact_match", right(150, 200))]
    with pytest.raises(
        DisclosureError, match="4 submissions within 30 days about these patients are used up"
    ):
        gate_says(fifth, ledger=ledger, day=day + 29)
    with pytest.raises(DisclosureError, match="are used up"):
        gate_says(fifth, ledger=ledger, day=day - 300)  # a clock set back buys nothing
    gate_says(fifth, ledger=ledger, day=day + 30)
    gate_says(
        [finding("exam", "exact_match", right(30, 40))], ledger=ledger, day=day
    )  # public data has no budget
    gate_says(fifth, ledger=ledger, day=day, model=OTHER_MODEL)


def test_the_same_scores_again_are_no_further_submission_of_the_month() -> None:
    """A release that became void and has to be sent anew tells nothing new, so it costs nothing more."""
    ledger, day = Ledger(), world.TODAY
    for number, root in enumerate(
        ["a1" * 32, "a2" * 32, "a3" * 32, "a4" * 32, "a4" * 32, "a4" * 32]
    ):
        ward = [finding("ward", "exact_match", right(50 + 20 * min(number, 3), 200))]
        release = gate_says(ward, ledger=ledger, day=day + number, scores_root=root)
        ledger = after(ledger, release, day=day + number, scores_root=root)
    with pytest.raises(DisclosureError, match="are used up"):
        gate_says([finding("ward", "exact_match", right(150, 200))], ledger=ledger, day=day + 6)


def test_the_order_of_instances_and_findings_changes_nothing() -> None:
    findings = whole_ward()
    shuffled = [
        replace(f, scores=random.Random(3).sample(list(f.scores), len(f.scores)))
        for f in reversed(findings)
    ]
    assert gate_says(findings) == gate_says(shuffled)


@settings(max_examples=100, deadline=None)
@given(n=st.integers(11, 600), count=st.integers(0, 600), flips=st.integers(1, 10))
def test_the_published_figure_never_follows_a_few_patients(n: int, count: int, flips: int) -> None:
    count = min(count, n)
    before = gate_says([finding("ward", "exact_match", right(count, n))], policy=world.STRICT)
    value, (low, high) = before.cells[WARD], bucket_range(before.groups["ward"])
    if value >= 0:
        assert high - low >= 4
    ledger = after(Ledger(), before)
    few_flips = right(min(n, count + flips), n)
    now = gate_says([finding("ward", "exact_match", few_flips)], ledger=ledger, policy=world.STRICT)
    assert now.cells[WARD] == value
