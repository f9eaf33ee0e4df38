"""From findings to scores by person: what does not agree with the registered data stops everything."""

import math
from dataclasses import replace

import pytest

from agent.disclosure.ledger import Ledger
from agent.disclosure.verdicts import GateRule
from agent.errors import DisclosureError
from protocol.cell_codes import SUPPRESSED
from tests.agent.disclosure.gated_cards import WARD
from tests.agent.disclosure.ward import (
    CARD,
    DATASETS,
    SECRETS,
    finding,
    gate_says,
    right,
    unit,
)
from tests.protocol import world


def test_repeating_a_patient_does_not_help_over_the_threshold() -> None:
    release = gate_says(
        [finding("ward", "exact_match", right(50, 100), per_unit=10)]
    )  # ten patients
    assert release.cells[WARD] == SUPPRESSED
    assert release.groups["ward"] == 0
    assert release.verdicts[WARD] is GateRule.FEW_UNITS


def test_a_patient_with_two_names_in_two_groups_is_in_neither() -> None:
    """Counted in both, the groups would have more patients than there are, which no margin can be audited with."""
    values = [
        float(number % 2) for number in range(110)
    ]  # of 100 patients: the last ten names are the first ten's
    everyone = finding("ward", "exact_match", values)
    dataset = DATASETS[everyone.dataset]
    units = dict(dataset.units)
    for number in range(10):
        first, second = (
            SECRETS.fingerprints.of_unit(unit(f"unit {name}")) for name in (number, 100 + number)
        )
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
    with pytest.raises(
        DisclosureError, match="access level is private here, but public in the scorecard"
    ):
        gate_says([finding("exam", "exact_match", right(3, 4), access="private")])
    with pytest.raises(DisclosureError, match="access level is gated here"):
        gate_says([finding("exam", "exact_match", right(3, 4), access="gated")])


def test_a_scorecard_that_calls_a_binary_metric_continuous_gets_nothing() -> None:
    lying = replace(CARD, cells=tuple(replace(cell, binary=False) for cell in CARD.cells))
    with pytest.raises(DisclosureError, match="its range, or whether it is binary"):
        gate_says([finding("ward", "exact_match", right(3, 200))], card=lying)


def test_a_scorecard_of_another_definition_gets_nothing() -> None:
    other = replace(finding("exam", "exact_match", right(3, 4)), definition="00" * 32)
    with pytest.raises(
        DisclosureError, match="a different definition from the one in the scorecard"
    ):
        gate_says([other])


@pytest.mark.parametrize("value", [1.5, -0.1, math.nan, math.inf])
def test_a_score_outside_its_range_stops_everything(value: float) -> None:
    with pytest.raises(DisclosureError, match="ward/rouge_l: a score is outside"):
        gate_says([finding("ward", "rouge_l", [0.5] * 20 + [value])])


def test_two_runs_of_one_benchmark_are_not_silently_added_up() -> None:
    one = finding("exam", "exact_match", right(3, 4))
    with pytest.raises(DisclosureError, match="run more than once"):
        gate_says([one, one])


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
    swapped = replace(
        finding("ward", "exact_match", right(100, 200), people="other "), dataset=registered.dataset
    )
    with pytest.raises(DisclosureError, match="units that its registered dataset does not contain"):
        gate_says([swapped])


def test_the_best_of_several_parts_of_the_data_is_no_figure() -> None:
    """Whoever may choose 150 of 200 patients may choose again until the figure pleases."""
    whole = finding("ward", "exact_match", right(100, 200))
    part = replace(
        finding("ward", "exact_match", right(100, 150)), dataset=whole.dataset, available=200
    )
    release = gate_says([part])
    assert (release.cells[WARD], release.verdicts[WARD]) == (SUPPRESSED, GateRule.PART)
    assert release.groups["ward"] == 0
    planned = gate_says([replace(part, plan="ab" * 32)])  # a plan does not say how many
    assert (planned.cells[WARD], planned.verdicts[WARD]) == (SUPPRESSED, GateRule.PART)


def test_one_patient_under_sixty_numbers_is_one_person() -> None:
    """Sixty numbers, one person's records: their dataset says so, whatever the run counts."""
    many = finding("ward", "exact_match", right(30, 60))
    same = {
        key: replace(record, person="p" * 24)
        for key, record in DATASETS[many.dataset].units.items()
    }
    DATASETS[many.dataset] = replace(DATASETS[many.dataset], units=same)
    release = gate_says([many])
    assert (release.cells[WARD], release.verdicts[WARD]) == (SUPPRESSED, GateRule.FEW_UNITS)
