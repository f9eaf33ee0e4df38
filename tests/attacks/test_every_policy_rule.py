"""Every number of a disclosure policy stops an attack that succeeds without it; a number that stops none is not there.

Each attack is tried under `strict`, and again with the one number loosened.
"""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path

import pytest
import yaml

from agent.disclosure.ledger import Ledger
from agent.disclosure.verdicts import GateRule
from agent.errors import DisclosureError
from aggregator.merge.board_model import State
from aggregator.merge.pool import pool
from aggregator.merge.site_cell import SiteCell
from protocol.cell_codes import SUPPRESSED
from protocol.disclosure import CellSums, release, release_cell
from protocol.policy import DisclosurePolicy, bucket_of, parse_policy, stricter
from protocol.scorecard import Cell
from tests.agent.disclosure.ward import CARD, after, finding, gate_says, right
from tests.protocol import world

WARD, ROUGE = "ward/exact_match", "ward/rouge_l"
BINARY = Cell("ward", "exact_match", None, "private", True, 0, 1)
POLICY_FILES = sorted((Path(__file__).parents[2] / "policies" / "disclosure").glob("*.yaml"))


def quiet(policy: DisclosurePolicy) -> DisclosurePolicy:
    """So that what an attacker sees can be foretold; other rules stay as they are."""
    return replace(policy, perturbation_units=0)


def sees_a_mean_of_few_patients(policy: DisclosurePolicy) -> bool:
    policy = replace(quiet(policy), min_events=1, grid_units=1, max_share_percent=100)
    return gate_says([finding("ward", "exact_match", right(5, 10))], policy=policy).cells[WARD] >= 0


def sees_that_few_failed(policy: DisclosurePolicy) -> bool:
    policy = replace(quiet(policy), grid_units=1)
    return (
        gate_says([finding("ward", "exact_match", right(197, 200))], policy=policy).cells[WARD] >= 0
    )


def reads_the_exact_count(policy: DisclosurePolicy) -> bool:
    """Neighbouring counts are printed differently, to whoever knows the number of patients."""
    shown = [
        gate_says([finding("ward", "exact_match", right(k, 200))], policy=quiet(policy))
        for k in range(96, 104)
    ]
    return len({release.cells[WARD] for release in shown}) == len(shown)


def sees_a_known_sum_again(policy: DisclosurePolicy) -> bool:
    """What is printed follows from the exact sum, so an edge of the rounding betrays one outcome."""
    shown = {
        gate_says(
            [finding("ward", "exact_match", right(100, 200), people=str(i))], policy=policy
        ).cells[WARD]
        for i in range(20)
    }
    return len(shown) == 1


def sees_two_figures_of_one_group(policy: DisclosurePolicy) -> bool:
    answers = [
        finding("ward", "exact_match", right(100, 200)),
        finding("ward", "rouge_l", [0.3, 0.7] * 100),
    ]
    shown = gate_says(answers, policy=quiet(policy)).cells
    return shown[WARD] >= 0 and shown[ROUGE] >= 0


def looks_at_a_patient_through_many_groups(policy: DisclosurePolicy) -> bool:
    """Every patient is in one group of each variable, and each figure has noise of its own."""
    variables = ("sex", "age", "ward")
    groups = [f"{variable}.{value}" for variable in variables for value in ("a", "b")]
    whole = CARD.cells[1]
    cells = (whole, *(replace(whole, subgroup=group) for group in groups))
    card = replace(CARD, benchmarks=CARD.benchmarks[1:], cells=cells)
    units = {cell.group: 400 if cell.subgroup is None else 200 for cell in cells}
    sums = {
        cell.key: CellSums(units[cell.group], units[cell.group] / 2, units[cell.group] / 2)
        for cell in cells
    }
    shown = release(card, units, sums, quiet(policy)).cells
    return all(shown[f"{WARD}/{variable}.a"] >= 0 for variable in variables)


def subtracts_one_hidden_group(policy: DisclosurePolicy) -> bool:
    """Of two groups one is too small to be shown; the other and the whole would give it away."""
    units = {"exam": 40, "ward": 216, "ward/sex.female": 200, "ward/sex.male": 16}
    sums = {cell.key: None for cell in CARD.cells} | {
        WARD: CellSums(216, 108, 108),
        f"{WARD}/sex.female": CellSums(200, 100, 100),
        f"{WARD}/sex.male": CellSums(16, 8, 8),
    }
    shown = release(CARD, units, sums, policy).cells
    return shown[f"{WARD}/sex.male"] < 0 <= shown[f"{WARD}/sex.female"]


def sees_a_sum_that_two_patients_make(policy: DisclosurePolicy) -> bool:
    loose = replace(policy, min_events=1, grid_units=1, perturbation_units=0, p_percent=0)
    return release_cell(BINARY, CellSums(60, 2.1, 2.1), bucket_of(60), loose) >= 0


def bounds_the_largest_contribution(policy: DisclosurePolicy) -> bool:
    """The second largest contributor subtracts their own part."""
    loose = replace(policy, min_events=1, grid_units=1, perturbation_units=0, dominance_percent=100)
    return release_cell(BINARY, CellSums(60, 2.05, 2.05), bucket_of(60), loose) >= 0


def sees_a_mean_where_one_patient_weighs_much(policy: DisclosurePolicy) -> bool:
    loose = replace(policy, min_units=1, min_events=1, grid_units=1, perturbation_units=0)
    return release_cell(BINARY, CellSums(8, 4, 4), bucket_of(8), loose) >= 0


def subtracts_two_releases(policy: DisclosurePolicy) -> bool:
    before = gate_says([finding("ward", "exact_match", right(147, 200))], policy=quiet(policy))
    newer = finding("ward", "exact_match", [1.0, *right(147, 200)], first=-1)
    now = gate_says([newer], ledger=after(Ledger(), before), policy=quiet(policy))
    return now.verdicts[WARD] is GateRule.ROUNDED


def tries_until_a_figure_pleases(policy: DisclosurePolicy) -> bool:
    ledger = Ledger()
    for count in (40, 70, 100, 130, 160):
        try:
            shown = gate_says(
                [finding("ward", "exact_match", right(count, 200))],
                ledger=ledger,
                policy=quiet(policy),
            )
        except DisclosureError:
            return False
        ledger = after(ledger, shown)
    return True


def pooled_sites_of(*units: int) -> list[SiteCell]:
    return [SiteCell(named=False, value=700, bucket=bucket_of(number)) for number in units]


def sees_one_site_behind_a_pooled_figure(policy: DisclosurePolicy) -> bool:
    return pool(pooled_sites_of(200, 200), BINARY, policy).state is State.VALUE


def sees_the_one_large_site_behind_a_pooled_figure(policy: DisclosurePolicy) -> bool:
    return pool(pooled_sites_of(9000, 200, 200), BINARY, policy).state is State.VALUE


Attack = Callable[[DisclosurePolicy], bool]
ATTACKS: dict[str, tuple[Attack, int]] = {
    "min_units": (sees_a_mean_of_few_patients, 1),
    "min_events": (sees_that_few_failed, 1),
    "grid_units": (reads_the_exact_count, 0),
    "perturbation_units": (sees_a_known_sum_again, 0),
    "metrics_per_group": (sees_two_figures_of_one_group, 2),
    "variables_per_benchmark": (looks_at_a_patient_through_many_groups, 3),
    "margin_hidden": (subtracts_one_hidden_group, 0),
    "dominance_n": (sees_a_sum_that_two_patients_make, 1),
    "dominance_percent": (sees_a_sum_that_two_patients_make, 100),
    "p_percent": (bounds_the_largest_contribution, 0),
    "max_share_percent": (sees_a_mean_where_one_patient_weighs_much, 100),
    "changed_units": (subtracts_two_releases, 0),
    "monthly_submissions": (tries_until_a_figure_pleases, 5),
    "pooled_sites": (sees_one_site_behind_a_pooled_figure, 2),
    "pooled_share_percent": (sees_the_one_large_site_behind_a_pooled_figure, 100),
}
"""Of each rule: the attack that it stops, and a number with which it does not."""


def test_every_number_in_a_policy_is_attacked_here():
    assert set(ATTACKS) == {field.name for field in fields(DisclosurePolicy)} - {"name", "version"}


@pytest.mark.parametrize("rule", ATTACKS)
def test_a_rule_stops_its_attack_and_nothing_else_does(rule: str):
    attack, loosened = ATTACKS[rule]
    assert not attack(world.STRICT)
    assert attack(replace(world.STRICT, **{rule: loosened}))


@pytest.mark.parametrize("path", POLICY_FILES, ids=lambda path: path.stem)
def test_a_shipped_policy_file_holds_the_rules_and_no_other_words(path: Path):
    values = yaml.safe_load(path.read_text("utf-8"))
    assert set(values) == {field.name for field in fields(DisclosurePolicy)}
    assert parse_policy(values).perturbation_units >= 1


@pytest.mark.parametrize("rule", ATTACKS)
def test_of_two_policies_the_number_that_stops_the_attack_wins(rule: str):
    attack, loosened = ATTACKS[rule]
    loose = replace(world.STRICT, name="loose", **{rule: loosened})
    assert getattr(stricter(loose, world.STRICT), rule) == getattr(world.STRICT, rule)
    assert not attack(stricter(world.STRICT, loose))


def test_a_suppressed_figure_is_what_stays_of_a_stopped_attack():
    assert gate_says([finding("ward", "exact_match", right(5, 10))]).cells[WARD] == SUPPRESSED
