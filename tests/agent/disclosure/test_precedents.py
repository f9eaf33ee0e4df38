"""Beside earlier releases of nearly the same patients a figure is repeated or clearly new, and never between."""

from dataclasses import replace

from agent.disclosure.findings import Finding
from agent.disclosure.ledger import Ledger
from agent.disclosure.perturbation import perturb_distance
from agent.disclosure.verdicts import GateRule
from protocol.cell_codes import SUPPRESSED
from tests.agent.disclosure.gated_cards import EXAM, ROUGE, ROUGE_CARD, WARD
from tests.agent.disclosure.ward import (
    CARD,
    OTHER_MODEL,
    QUIET,
    SECRETS,
    after,
    finding,
    gate_says,
    right,
)
from tests.protocol import world


def test_one_new_patient_gives_no_figure_at_all() -> None:
    """147/200, then 148/201: the difference would be the new patient's outcome."""
    before = gate_says([finding("ward", "exact_match", right(147, 200))])
    now = gate_says(
        [finding("ward", "exact_match", [1.0, *right(147, 200)], first=-1)],
        ledger=after(Ledger(), before),
    )
    assert (now.cells[WARD], now.groups["ward"], now.verdicts[WARD]) == (
        SUPPRESSED,
        0,
        GateRule.NEAR_VERSION,
    )


def test_a_few_changed_outcomes_do_not_move_the_figure_over_a_rounding_boundary() -> None:
    for count in range(140, 160):
        before = gate_says([finding("ward", "exact_match", right(count, 200))])
        now = gate_says(
            [finding("ward", "exact_match", right(count + 10, 200))], ledger=after(Ledger(), before)
        )
        assert now.cells == before.cells
        assert now.verdicts[WARD] is GateRule.REPEATED


def test_enough_changed_units_make_a_new_figure() -> None:
    before = gate_says([finding("ward", "exact_match", right(100, 200))])
    now = gate_says(
        [finding("ward", "exact_match", right(150, 200))], ledger=after(Ledger(), before)
    )
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


def test_another_model_on_the_same_patients_is_another_figure() -> None:
    ledger = after(Ledger(), gate_says([finding("ward", "exact_match", right(147, 200))]))
    now = gate_says(
        [finding("ward", "exact_match", right(90, 200))], ledger=ledger, model=OTHER_MODEL
    )
    assert now.verdicts[WARD] is GateRule.ROUNDED


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
    assert (
        now.verdicts[f"{WARD}/sex.female"]
        is now.verdicts[f"{WARD}/sex.male"]
        is GateRule.NO_PRECEDENT
    )
    assert (now.groups["ward/sex.female"], now.groups["ward/sex.male"]) == (0, 0)


def test_a_second_metric_is_not_repeated_beside_the_first() -> None:
    """Released alone once, by a scorecard that leads with it, it does not come along where it is the second."""
    rouge = finding("ward", "rouge_l", [0.2, 0.4, 0.9] * 66 + [0.5] * 2)
    ledger = after(Ledger(), gate_says([rouge], card=ROUGE_CARD))
    now = gate_says([finding("ward", "exact_match", right(100, 200)), rouge], ledger=ledger)
    assert now.cells[ROUGE] == now.cells[WARD] == SUPPRESSED
