"""What the gate lets out, and what it does when somebody tries to get more out of it."""

import math
import random
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.disclosure.findings import Finding
from agent.disclosure.ledger import Ledger, ResetEntry
from agent.disclosure.perturbation import draw_noise, perturb_distance, perturb_sums
from agent.disclosure.verdicts import EXPLAINED, GateRule
from agent.errors import DisclosureError
from protocol.codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.policy import bucket_of, bucket_range, grid_step
from protocol.scorecard import Scorecard
from tests.agent.disclosure.ward import (
    CARD,
    DATASETS,
    MODEL,
    OTHER_MODEL,
    QUIET,
    SECRETS,
    after,
    finding,
    gate_says,
    right,
    unit,
    whole_ward,
    with_datasets,
)
from tests.protocol import world

EXAM, WARD, ROUGE = "exam/exact_match", "ward/exact_match", "ward/rouge_l"
ROUGE_CARD = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {EXAM, ROUGE}))


def test_every_rule_has_its_sentence() -> None:
    assert set(EXPLAINED) == set(GateRule)


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


def test_repeating_a_patient_does_not_help_over_the_threshold() -> None:
    release = gate_says([finding("ward", "exact_match", right(50, 100), per_unit=10)])  # ten patients
    assert release.cells[WARD] == SUPPRESSED
    assert release.groups["ward"] == 0
    assert release.verdicts[WARD] is GateRule.FEW_UNITS


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
    exam, ward = finding("exam", "exact_match", right(30, 40)), finding("ward", "rouge_l", [0.1, 0.5, 0.9] * 40 + [0.5])
    card = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {EXAM, WARD, ROUGE}))

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
        stopped = finding("ward", "exact_match", [*right(40, asked), *([None] * (200 - asked))], reason="not_asked")
        release = gate_says([replace(stopped, plan=plan)])
        assert (release.cells[WARD], release.groups["ward"], release.verdicts[WARD]) == (SUPPRESSED, 0, GateRule.PART)


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


def test_a_patient_with_two_names_in_two_groups_is_in_neither() -> None:
    """Counted in both, the groups would have more patients than there are, which no margin can be audited with."""
    values = [float(number % 2) for number in range(110)]  # of 100 patients: the last ten names are the first ten's
    everyone = finding("ward", "exact_match", values)
    dataset = DATASETS[everyone.dataset]
    units = dict(dataset.units)
    for number in range(10):
        first, second = (SECRETS.fingerprints.of_unit(unit(f"unit {name}")) for name in (number, 100 + number))
        units[second] = replace(units[second], person=units[first].person)
    ledger = Ledger().followed_by(replace(dataset, units=units), world.TODAY)
    release = gate_says(
        [
            everyone,
            finding("ward", "exact_match", values[:55], subgroup="sex.female"),
            finding("ward", "exact_match", values[55:], first=55, subgroup="sex.male"),
        ],
        ledger=ledger,
    )
    assert [len(cell.scores) for cell in release.footprint.values()] == [100, 45, 45]
    women, men = release.footprint[f"{WARD}/sex.female"], release.footprint[f"{WARD}/sex.male"]
    assert not women.scores.keys() & men.scores.keys()


def test_a_scorecard_that_calls_a_private_benchmark_public_gets_nothing() -> None:
    """Whoever writes the scorecard must not be able to switch the rules off."""
    with pytest.raises(DisclosureError, match="access level is private here, but public in the scorecard"):
        gate_says([finding("exam", "exact_match", right(3, 4), access="private")])
    with pytest.raises(DisclosureError, match="access level is gated here"):
        gate_says([finding("exam", "exact_match", right(3, 4), access="gated")])


def test_a_scorecard_that_calls_a_binary_metric_continuous_gets_nothing() -> None:
    lying = replace(CARD, cells=tuple(replace(cell, binary=False) for cell in CARD.cells))
    with pytest.raises(DisclosureError, match="range or kind"):
        gate_says([finding("ward", "exact_match", right(3, 200))], card=lying)


def test_a_scorecard_of_another_definition_gets_nothing() -> None:
    other = replace(finding("exam", "exact_match", right(3, 4)), definition="00" * 32)
    with pytest.raises(DisclosureError, match="another definition than the scorecard names"):
        gate_says([other])


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan, math.inf])
def test_a_score_outside_its_range_stops_everything(value: float) -> None:
    with pytest.raises(DisclosureError, match="ward/rouge_l: a score lies outside"):
        gate_says([finding("ward", "rouge_l", [0.5] * 20 + [value])])


def test_two_runs_of_one_benchmark_are_not_silently_added_up() -> None:
    one = finding("exam", "exact_match", right(3, 4))
    with pytest.raises(DisclosureError, match="run more than once"):
        gate_says([one, one])


def test_one_new_patient_gives_no_figure_at_all() -> None:
    """147/200, then 148/201: the difference would be the new patient's outcome."""
    before = gate_says([finding("ward", "exact_match", right(147, 200))])
    now = gate_says([finding("ward", "exact_match", [1.0, *right(147, 200)], first=-1)], ledger=after(Ledger(), before))
    assert (now.cells[WARD], now.groups["ward"], now.verdicts[WARD]) == (SUPPRESSED, 0, GateRule.NEAR_VERSION)


def test_a_few_changed_outcomes_do_not_move_the_figure_over_a_rounding_boundary() -> None:
    for count in range(140, 160):
        before = gate_says([finding("ward", "exact_match", right(count, 200))])
        now = gate_says([finding("ward", "exact_match", right(count + 10, 200))], ledger=after(Ledger(), before))
        assert now.cells == before.cells
        assert now.verdicts[WARD] is GateRule.REPEATED


def test_enough_changed_units_make_a_new_figure() -> None:
    before = gate_says([finding("ward", "exact_match", right(100, 200))])
    now = gate_says([finding("ward", "exact_match", right(150, 200))], ledger=after(Ledger(), before))
    assert now.verdicts[WARD] is GateRule.ROUNDED
    assert now.cells[WARD] > before.cells[WARD]


def test_small_steps_do_not_add_up_to_a_difference() -> None:
    """Each release is compared with the units behind what was printed, not with those of a repeated figure."""
    ledger, count, printed = Ledger(), 100, None
    for _ in range(4):
        release = gate_says([finding("ward", "exact_match", right(count, 200))], ledger=ledger)
        printed = printed or release.cells[WARD]
        assert release.cells[WARD] == printed or count - 100 >= 11
        ledger, count = after(ledger, release), count + 5


def test_a_return_to_the_neighbourhood_of_an_old_release_is_seen() -> None:
    """A, then something far away, then A with one score changed: the last must not be subtracted from the first."""
    first = gate_says([finding("ward", "exact_match", right(100, 200))])
    ledger = after(Ledger(), first)
    second = gate_says([finding("ward", "exact_match", right(150, 200))], ledger=ledger)
    ledger = after(ledger, second)
    third = gate_says([finding("ward", "exact_match", right(101, 200))], ledger=ledger)
    assert third.cells[WARD] == first.cells[WARD] != second.cells[WARD]
    assert third.verdicts[WARD] is GateRule.REPEATED


def test_a_figure_that_was_never_let_out_is_withheld_beside_those_that_are_repeated() -> None:
    policy = replace(QUIET, metrics_per_group=2)
    before = gate_says([finding("ward", "exact_match", right(147, 200))], policy=policy)
    now = gate_says(
        [
            finding("ward", "exact_match", right(148, 200)),
            finding("ward", "rouge_l", [0.2, 0.4, 0.9] * 66 + [0.5] * 2),
        ],
        ledger=after(Ledger(), before),
        policy=policy,
    )
    assert (now.cells[WARD], now.verdicts[WARD]) == (before.cells[WARD], GateRule.REPEATED)
    assert (now.cells[ROUGE], now.verdicts[ROUGE]) == (SUPPRESSED, GateRule.NO_PRECEDENT)
    assert now.groups == before.groups


def test_another_metric_of_the_same_answers_does_not_leave_by_another_scorecard() -> None:
    exact = finding("ward", "exact_match", right(147, 200))
    ledger = after(Ledger(), gate_says([exact]))
    rouge = finding("ward", "rouge_l", [0.2, 0.4, 0.9] * 66 + [0.5] * 2)
    now = gate_says([rouge], card=ROUGE_CARD, ledger=ledger)
    assert (now.cells[ROUGE], now.verdicts[ROUGE]) == (SUPPRESSED, GateRule.OTHER_METRIC)
    assert gate_says([rouge], card=ROUGE_CARD).cells[ROUGE] >= 0


def test_a_second_metric_of_other_patients_stays_in() -> None:
    """Its group's size and margins would be another's."""
    policy = replace(QUIET, metrics_per_group=2)
    exact = finding("ward", "exact_match", right(100, 200))
    for unscored in (0, 10):
        scores = [None] * unscored + [0.3, 0.7] * ((200 - unscored) // 2)
        now = gate_says([exact, finding("ward", "rouge_l", scores)], policy=policy)
        assert now.cells[WARD] >= 0
        assert (now.cells[ROUGE] >= 0) is (unscored == 0)


def test_data_that_nobody_registered_goes_nowhere() -> None:
    unregistered = replace(finding("ward", "exact_match", right(147, 200)), dataset="")
    with pytest.raises(DisclosureError, match="not registered"):
        gate_says([unregistered])


def test_a_frozen_copy_that_was_edited_with_its_record_gives_no_figure() -> None:
    """The copy and the record beside it can be written by whoever runs benchmarks; the ledger cannot."""
    edited = replace(finding("ward", "exact_match", right(147, 200)), frozen_digest="ed" * 32)
    with pytest.raises(DisclosureError, match="frozen copy was changed"):
        gate_says([edited])


def test_units_that_the_registered_dataset_does_not_have_stop_everything() -> None:
    registered = finding("ward", "exact_match", right(100, 200))
    swapped = replace(finding("ward", "exact_match", right(100, 200), people="other "), dataset=registered.dataset)
    with pytest.raises(DisclosureError, match="units that its registered dataset does not have"):
        gate_says([swapped])


def test_the_best_of_several_parts_of_the_data_is_no_figure() -> None:
    """Whoever may choose 150 of 200 patients may choose again until the figure pleases."""
    whole = finding("ward", "exact_match", right(100, 200))
    part = replace(finding("ward", "exact_match", right(100, 150)), dataset=whole.dataset, available=200)
    release = gate_says([part])
    assert (release.cells[WARD], release.verdicts[WARD]) == (SUPPRESSED, GateRule.PART)
    assert release.groups["ward"] == 0
    planned = gate_says([replace(part, plan="ab" * 32)])  # a plan does not say how many
    assert (planned.cells[WARD], planned.verdicts[WARD]) == (SUPPRESSED, GateRule.PART)


def test_a_server_that_dies_on_many_is_no_way_to_choose_a_part() -> None:
    for dead, leaves in ((5, True), (60, False)):
        scores = [*right(100, 200 - dead), *([None] * dead)]
        release = gate_says([finding("ward", "exact_match", scores, reason="timeout")])
        assert (release.verdicts[WARD] is GateRule.PART) is not leaves


def test_the_same_scores_under_another_policy_are_no_second_draw() -> None:
    """Tightening the noise step by step, and preparing each time, would average it away."""
    ward = finding("ward", "exact_match", right(100, 200))
    ledger, printed = Ledger(), set()
    for scale in range(2, 9):
        policy = replace(world.STRICT, perturbation_units=scale)
        release = gate_says([ward], ledger=ledger, policy=policy)
        printed.add(release.cells[WARD])
        ledger = after(ledger, release, scores_root="5c" * 32, policy=policy)
    assert len(printed) == 1


def test_one_set_of_scores_under_many_names_of_a_model_is_not_averaged() -> None:
    ward = finding("ward", "exact_match", right(100, 200))
    ledger, verdicts = Ledger(), []
    for number in range(8):
        release = gate_says([ward], ledger=ledger, policy=world.STRICT, model=f"name/{number}")
        verdicts.append(release.verdicts[WARD])
        ledger = after(ledger, release, model=f"name/{number}", policy=world.STRICT)
    assert verdicts == [GateRule.ROUNDED] * 4 + [GateRule.MANY_NAMES] * 4


def test_whether_a_result_is_complete_does_not_tell_of_one_answer() -> None:
    card = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key == WARD))
    outcomes = {
        gate_says([finding("ward", "exact_match", [*right(60, 120 - n), *([None] * n)])], card=card).complete
        for n in (5, 6, 7, 30)
    }
    assert outcomes == {True}


def test_of_a_part_no_subgroup_is_a_figure_either() -> None:
    """The groups of those who were asked are groups of a part."""
    whole = finding("ward", "exact_match", right(100, 200))
    part = replace(finding("ward", "exact_match", right(100, 180)), dataset=whole.dataset, available=200)
    women = finding("ward", "exact_match", right(90, 90), subgroup="sex.female")
    men = finding("ward", "exact_match", right(10, 90), first=90, subgroup="sex.male")
    release = gate_says([part, women, men])
    assert {release.cells[key] for key in release.cells if key.startswith(WARD)} == {SUPPRESSED}
    assert {release.verdicts[key] for key in release.cells if key.startswith(WARD)} == {GateRule.PART}


def test_one_patient_under_sixty_numbers_is_one_person() -> None:
    """Sixty numbers, one person's records: their dataset says so, whatever the run counts."""
    many = finding("ward", "exact_match", right(30, 60))
    same = {key: replace(record, person="p" * 24) for key, record in DATASETS[many.dataset].units.items()}
    DATASETS[many.dataset] = replace(DATASETS[many.dataset], units=same)
    release = gate_says([many])
    assert (release.cells[WARD], release.verdicts[WARD]) == (SUPPRESSED, GateRule.FEW_UNITS)


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
    but_four = finding("ward", "exact_match", right(98, 196), first=2, named="ward_no_icu", people=others)
    return {"ward": everyone, "ward_no_icu": but_four}


@pytest.mark.parametrize("order", [("ward", "ward_no_icu"), ("ward_no_icu", "ward")])
def test_everyone_and_everyone_but_the_icu_cannot_be_subtracted_within_one_submission(order: tuple[str, str]) -> None:
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


def test_another_model_on_the_same_patients_is_another_figure() -> None:
    ledger = after(Ledger(), gate_says([finding("ward", "exact_match", right(147, 200))]))
    now = gate_says([finding("ward", "exact_match", right(90, 200))], ledger=ledger, model=OTHER_MODEL)
    assert now.verdicts[WARD] is GateRule.ROUNDED


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
        release = gate_says([finding("ward", "exact_match", right(50 + 20 * number, 200))], ledger=ledger, day=day)
        ledger = after(ledger, release, day=day)
    fifth = [finding("ward", "exact_match", right(150, 200))]
    with pytest.raises(DisclosureError, match="4 submissions of the last 30 days about these patients are spent"):
        gate_says(fifth, ledger=ledger, day=day + 29)
    with pytest.raises(DisclosureError, match="are spent"):
        gate_says(fifth, ledger=ledger, day=day - 300)  # a clock set back buys nothing
    gate_says(fifth, ledger=ledger, day=day + 30)
    gate_says([finding("exam", "exact_match", right(30, 40))], ledger=ledger, day=day)  # public data has no budget
    gate_says(fifth, ledger=ledger, day=day, model=OTHER_MODEL)


def test_the_same_scores_again_are_no_further_submission_of_the_month() -> None:
    """A release that became void and has to be sent anew tells nothing new, so it costs nothing more."""
    ledger, day = Ledger(), world.TODAY
    for number, root in enumerate(["a1" * 32, "a2" * 32, "a3" * 32, "a4" * 32, "a4" * 32, "a4" * 32]):
        ward = [finding("ward", "exact_match", right(50 + 20 * min(number, 3), 200))]
        release = gate_says(ward, ledger=ledger, day=day + number, scores_root=root)
        ledger = after(ledger, release, day=day + number, scores_root=root)
    with pytest.raises(DisclosureError, match="are spent"):
        gate_says([finding("ward", "exact_match", right(150, 200))], ledger=ledger, day=day + 6)


def test_the_order_of_instances_and_findings_changes_nothing() -> None:
    findings = whole_ward()
    shuffled = [replace(f, scores=random.Random(3).sample(list(f.scores), len(f.scores))) for f in reversed(findings)]
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


def test_the_same_scores_get_the_same_noise_whoever_asks() -> None:
    """Asking again, by another scorecard, averages nothing away; what differs in any way has a draw of its own."""
    shares = {f"person {i}": float(i % 3 == 0) for i in range(100)}
    key, figure = SECRETS.perturbation, ("model", "dataset", "exact_match")
    draw = draw_noise(shares, 2, key, figure)
    assert draw == draw_noise(dict(reversed(shares.items())), 2, key, figure)
    assert draw != draw_noise({**shares, "person 1": 1.0}, 2, key, figure)
    assert draw != draw_noise(shares, 2, bytes(32), figure)
    assert draw != draw_noise(shares, 2, key, ("other model", "dataset", "exact_match"))
    sums = perturb_sums(shares, world.STRICT, key, figure)
    assert sums.total == pytest.approx(34 + 2 * draw)


def test_a_spread_does_not_betray_that_one_score_lies_between_0_and_1() -> None:
    """All others are 0 or 1. With one draw for both sums, a spread that does not fit the value would say: not she."""
    policy = world.STRICT
    did_not_fit = {0.0: 0, 0.5: 0}
    for target in did_not_fit:
        for count in range(70, 110):
            release = gate_says(
                [finding("ward", "rouge_l", [*right(count, 199), target])], card=ROUGE_CARD, policy=policy
            )
            value, spread = release.cells[ROUGE], release.spreads[ROUGE]
            step = grid_step(bucket_range(release.groups["ward"])[0], policy)
            rates = [(value + step * (place / 200 - 0.5)) / 1000 for place in range(201)]
            did_not_fit[target] += spread not in {round(50 * math.sqrt(rate * (1 - rate))) for rate in rates}
    assert min(did_not_fit.values()) > 5  # whatever the target's score is, the spread often does not fit


def test_a_repeat_does_not_betray_whether_the_score_of_one_more_person_changed() -> None:
    """At an exact threshold, 10 known changes and one unknown would be a repeat or a new figure by that one alone."""
    key = SECRETS.perturbation

    def share_of_repeats(distance: int) -> float:
        perturbed = [perturb_distance(distance, world.STRICT, key, [str(i)]) for i in range(4000)]
        return sum(number < world.STRICT.changed_units for number in perturbed) / len(perturbed)

    assert share_of_repeats(1) == 1.0  # up to one in ten million
    assert 0.99 < share_of_repeats(10) < 1
    assert 0 < share_of_repeats(17) < 0.5 < share_of_repeats(15) < 1
    for distance in range(12, 20):
        repeated, next_repeated = share_of_repeats(distance), share_of_repeats(distance + 1)
        assert next_repeated < repeated < 3.3 * next_repeated  # no more than e times as likely


def test_a_further_scorecard_does_not_betray_that_no_score_changed() -> None:
    """Were figures that it adds new only if all scores are the same, their absence would tell of a single change."""
    plain = replace(CARD, cells=tuple(cell for cell in CARD.cells if cell.key in {EXAM, WARD}))
    answers = right(100, 200)
    ledger = after(Ledger(), gate_says([finding("ward", "exact_match", answers)], card=plain))

    def later(changed: list[float]) -> dict[str, int]:
        findings = [
            finding("ward", "exact_match", changed),
            finding("ward", "exact_match", changed[:90], subgroup="sex.female"),
            finding("ward", "exact_match", changed[90:], first=90, subgroup="sex.male"),
        ]
        return dict(gate_says(findings, ledger=ledger).cells)

    same, one_changed = later(answers), later([0.0, *answers[1:]])
    assert same == one_changed


def test_subgroups_that_are_near_earlier_ones_do_not_cost_the_figure_of_everybody() -> None:
    def ward(men: int) -> list[Finding]:
        women = right(50, 100) if men == 50 else right(80, 100)
        return [
            finding("ward", "exact_match", [*women, *right(men, 100)]),
            finding("ward", "exact_match", women, subgroup="sex.female"),
            finding("ward", "exact_match", right(men, 100), first=100, subgroup="sex.male"),
        ]

    before = gate_says(ward(50))
    assert before.cells[f"{WARD}/sex.male"] >= 0
    now = gate_says(ward(51), ledger=after(Ledger(), before))
    assert now.verdicts[WARD] is GateRule.ROUNDED
    assert now.verdicts[f"{WARD}/sex.female"] is now.verdicts[f"{WARD}/sex.male"] is GateRule.NO_PRECEDENT
    assert (now.groups["ward/sex.female"], now.groups["ward/sex.male"]) == (0, 0)


def test_a_second_metric_is_not_repeated_beside_the_first() -> None:
    """Released alone once, by a scorecard that leads with it, it does not come along where it is the second."""
    rouge = finding("ward", "rouge_l", [0.2, 0.4, 0.9] * 66 + [0.5] * 2)
    ledger = after(Ledger(), gate_says([rouge], card=ROUGE_CARD))
    now = gate_says([finding("ward", "exact_match", right(100, 200)), rouge], ledger=ledger)
    assert now.cells[ROUGE] == now.cells[WARD] == SUPPRESSED


def test_noise_has_the_distribution_that_is_promised() -> None:
    draws = [draw_noise({"p": i / 7}, 2, SECRETS.perturbation, ()) for i in range(4000)]
    assert abs(sum(draws) / len(draws)) < 0.1
    assert sum(abs(draw) for draw in draws) / len(draws) == pytest.approx(1, abs=0.06)
    assert sum(abs(draw) < 3 for draw in draws) / len(draws) == pytest.approx(0.95, abs=0.015)
