"""Subtracting published groups from the whole leaves every hidden group enough counts, and the board sees to it too."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.errors import Code, ProtocolError
from protocol.margins import (
    AuditCell,
    Figure,
    MarginTable,
    admit_counts,
    build_table,
    check_margins,
    close_margins,
    combine_tables,
    count_feasible,
)
from protocol.policy import DisclosurePolicy, bucket_of
from tests.attacks.margins import (
    Attacker,
    Published,
    admitted_bits,
    attack,
    close_by_counting,
    draw_release,
)
from tests.protocol.world import STRICT, refused

UK_TRE = replace(STRICT, min_units=10, min_events=10, changed_units=10)
CMS = replace(STRICT, grid_units=1, perturbation_units=1)
UNPERTURBED = replace(STRICT, perturbation_units=0)
POLICIES = pytest.mark.parametrize(
    "policy", [STRICT, UK_TRE, CMS, UNPERTURBED], ids=["strict", "uk-tre", "cms", "no-noise"]
)


def as_set(bits: int) -> set[int]:
    return {count for count in range(bits.bit_length()) if bits >> count & 1}


def whole_and_sexes(
    whole: tuple[int, int], female: tuple[int, int], male: tuple[int, int]
) -> Published:
    """Return a release of sizes and values."""
    units = {"whole": whole[0], "ward/sex.female": female[0], "ward/sex.male": male[0]}
    return Published(
        units, whole[1], {"sex": {"ward/sex.female": female[1], "ward/sex.male": male[1]}}
    )


@st.composite
def audit_cells(draw: st.DrawFn) -> AuditCell:
    units = draw(st.integers(0, 40))
    low = draw(st.integers(0, units))
    return AuditCell(
        units, low, draw(st.integers(low, units)), draw(st.sampled_from(["shown", "coded"]))
    )


@st.composite
def margin_tables(draw: st.DrawFn) -> MarginTable:
    margins = {}
    for variable in draw(st.sampled_from([["sex"], ["sex", "age"], ["sex", "age", "ward"]])):
        cells = draw(st.lists(audit_cells(), min_size=1, max_size=4))
        margins[variable] = {f"{variable}.{number}": cell for number, cell in enumerate(cells)}
    units = max(sum(cell.units for cell in groups.values()) for groups in margins.values()) + draw(
        st.integers(0, 5)
    )
    low = draw(st.integers(0, units))
    return build_table(AuditCell(units, low, draw(st.integers(low, units)), "shown"), margins)


def optimize_counts(table: MarginTable) -> dict[str, tuple[int, int] | None]:
    """Return the least and the largest count of every cell by integer programming; None where nothing is feasible."""
    cells = {"whole": table.whole}
    equations = []
    for variable, groups in table.margins.items():
        cells.update(groups)
        cells[f"{variable} unlisted"] = table.unlisted[variable]
        equations.append({*groups, f"{variable} unlisted"})
    keys = list(cells)
    matrix = [
        [-1 if key == "whole" else int(key in equation) for key in keys] for equation in equations
    ]
    bounds = Bounds([cell.low for cell in cells.values()], [cell.high for cell in cells.values()])
    ranges: dict[str, tuple[int, int] | None] = {}
    for position, key in enumerate(keys):
        ends = []
        for sign in (1, -1):
            objective = np.zeros(len(keys))
            objective[position] = sign
            found = milp(
                objective,
                constraints=LinearConstraint(matrix, 0, 0),
                integrality=np.ones(len(keys)),
                bounds=bounds,
            )
            if found.success:
                ends.append(round(found.x[position]))
        ranges[key] = (ends[0], ends[1]) if ends else None
    return ranges


@pytest.mark.full
@given(margin_tables())
@settings(max_examples=150, deadline=None)
def test_feasible_counts_are_those_of_integer_programming(table: MarginTable):
    feasible = count_feasible(table)
    found: dict[str, range] = {"whole": feasible.whole, **feasible.groups}
    found.update({f"{variable} unlisted": counts for variable, counts in feasible.unlisted.items()})
    assert {
        key: (counts[0], counts[-1]) if counts else None for key, counts in found.items()
    } == optimize_counts(table)


@pytest.mark.full
@pytest.mark.sample(1)
@POLICIES
def test_feasible_counts_are_those_that_enumeration_finds(policy: DisclosurePolicy):
    """Endpoints could agree and a count between them be impossible: count every one."""
    compared = 0
    for seed in range(300):
        release = draw_release(seed, policy)
        feasible = count_feasible(release.table(policy))
        attacker = Attacker(policy)
        attacker.learn(release)
        for key, _, counts in attacker.enumerate_hidden():
            assert counts == len(feasible.groups.get(key, feasible.unlisted.get(key, range(0)))), (
                seed,
                key,
            )
            compared += 1
    assert compared > 300


@given(st.integers(22, 3000), st.integers(1, 999), st.sampled_from([STRICT, CMS, UNPERTURBED]))
def test_a_figure_admits_every_count_that_bounded_noise_and_rounding_lead_to_it(
    units: int, value: int, policy: DisclosurePolicy
):
    cell = admit_counts(value, units, policy)
    assert set(range(cell.low, cell.high + 1)) == as_set(admitted_bits(value, units, policy))


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [(SUPPRESSED, 0, 60), (NOT_RUN, 0, 60), (LOW_CODED, 0, 11), (HIGH_CODED, 49, 60)],
)
def test_a_code_admits_what_it_says_and_no_more(value: int, low: int, high: int):
    cell = admit_counts(value, 60, STRICT)
    assert (cell.low, cell.high, cell.hidden) == (low, high, True)


@pytest.mark.full
def test_without_the_audit_some_hidden_groups_have_fewer_than_11_counts():
    outcome = attack(
        range(2000), UNPERTURBED, close_by_counting
    )  # commit 56f8cdc: no noise, two groups withheld
    assert outcome.narrow > 0.03 * outcome.hidden
    assert outcome.narrowest is not None
    assert outcome.narrowest <= 3
    assert (
        attack(range(2000), STRICT, close_by_counting).narrow > 0
    )  # noise alone does not close margins


@pytest.mark.full
@pytest.mark.sample(1)
@POLICIES
def test_with_the_audit_no_hidden_group_is_narrow(policy: DisclosurePolicy):
    outcome = attack(range(2000), policy)
    assert outcome.narrow == 0
    assert outcome.hidden > 5000
    assert outcome.shown > 500


@pytest.mark.full
@pytest.mark.parametrize("policy", [STRICT, UK_TRE], ids=["strict", "uk-tre"])
def test_no_hidden_group_has_fewer_counts_than_events_are_wanted(policy: DisclosurePolicy):
    outcome = attack(range(2000), policy)
    assert outcome.narrow_by_whole == 0
    assert outcome.narrowest is not None
    assert outcome.narrowest >= policy.min_events


@pytest.mark.full
def test_the_audit_costs_few_figures():
    without, with_audit = (
        attack(range(2000), STRICT, close_by_counting),
        attack(range(2000), STRICT),
    )
    assert with_audit.shown >= 0.9 * without.shown


@pytest.mark.full
@POLICIES
def test_the_board_accepts_whatever_the_site_closed(policy: DisclosurePolicy):
    for seed in range(1500):
        release = draw_release(seed, policy)
        earlier = release.leave_out(next(iter(release.margins)))
        earlier = earlier.suppress(close_margins(earlier.table(policy), policy))
        for history in ([], [earlier.table(policy)]):
            closed = release.suppress(close_margins(release.table(policy), policy, history))
            check_margins(*closed.figures(), policy)
            check_margins(*closed.figures(sizes_of_suppressed=False), policy)


@pytest.mark.full
def test_the_board_accepts_what_a_stricter_site_closed():
    """The site applies its own limits; its figures are read with the noise of the policy that the result names."""
    own = replace(STRICT, min_units=25, min_events=20, margin_hidden=3)
    for seed in range(500):
        release = draw_release(seed, own)
        closed = release.suppress(close_margins(release.table(STRICT), own))
        check_margins(*closed.figures(), STRICT)


@pytest.mark.full
def test_the_board_refuses_some_open_margins_of_a_site_without_the_audit():
    """Some: it knows sizes by bucket only, and refuses what is open for all of them."""
    refusals = 0
    for seed in range(2000):
        release = draw_release(seed, UNPERTURBED)
        opened = release.suppress(close_by_counting(release.table(UNPERTURBED), UNPERTURBED, []))
        closed = release.suppress(close_margins(release.table(UNPERTURBED), UNPERTURBED))
        if opened != closed and is_refused(opened):
            refusals += 1
    assert refusals > 15


def is_refused(release: Published) -> bool:
    try:
        check_margins(*release.figures(), UNPERTURBED)
    except ProtocolError as error:
        return error.code == Code.OPEN_MARGIN
    return False


@pytest.mark.full
@pytest.mark.sample(1)
@POLICIES
def test_a_repeat_suppresses_the_same_groups(policy: DisclosurePolicy):
    for seed in range(500):
        release = draw_release(seed, policy)
        suppressed = close_margins(release.table(policy), policy)
        before = release.suppress(suppressed)
        again = close_margins(release.table(policy), policy, [before.table(policy)])
        assert again == suppressed, seed


@pytest.mark.full
@pytest.mark.sample(1)
@POLICIES
def test_closing_a_closed_margin_changes_nothing(policy: DisclosurePolicy):
    for seed in range(500):
        release = draw_release(seed, policy)
        closed = release.suppress(close_margins(release.table(policy), policy))
        assert close_margins(closed.table(policy), policy) == frozenset()


def test_one_withheld_sex_withholds_the_other():
    release = whole_and_sexes((300, 500), (20, SUPPRESSED), (280, 500))
    assert close_margins(release.table(STRICT), STRICT) == {"ward/sex.male"}
    with refused(Code.OPEN_MARGIN):
        check_margins(*release.figures(), STRICT)


def test_both_sexes_stay_where_nothing_is_hidden():
    release = whole_and_sexes((300, 500), (150, 480), (150, 520))
    assert close_margins(release.table(STRICT), STRICT) == frozenset()
    check_margins(*release.figures(), STRICT)


def test_groups_leave_with_a_withheld_whole():
    release = whole_and_sexes((300, SUPPRESSED), (150, 480), (150, 520))
    assert close_margins(release.table(STRICT), STRICT) == {"ward/sex.female", "ward/sex.male"}
    with refused(Code.OPEN_MARGIN):
        check_margins(*release.figures(), STRICT)


def test_three_patients_without_a_sex_do_not_follow_from_the_rest():
    release = whole_and_sexes((303, 500), (150, 480), (150, 520))
    assert close_margins(release.table(STRICT), STRICT) == {"ward/sex.female", "ward/sex.male"}


def test_four_patients_are_hidden_among_enough_others():
    units = {"whole": 400, "a": 4, "b": 36, "c": 160, "d": 200}
    release = Published(units, 500, {"ward": {"a": SUPPRESSED, "b": 400, "c": 500, "d": 500}})
    suppressed = close_margins(release.table(STRICT), STRICT)
    assert suppressed == {"b"}
    feasible = count_feasible(release.suppress(suppressed).table(STRICT))
    assert feasible.groups["a"] == range(5)  # any of them
    assert len(feasible.hidden["ward"]) >= 11


def test_coded_groups_that_the_whole_pins_are_suppressed():
    """At most 11 of 60 in each of two wards, and about 20 in the whole: each has nearly 11."""
    units = {"whole": 120, "a": 60, "b": 60}
    release = Published(units, 200, {"ward": {"a": LOW_CODED, "b": LOW_CODED}})
    before = count_feasible(release.table(UNPERTURBED))
    assert len(before.groups["a"]) < 11
    suppressed = close_margins(release.table(UNPERTURBED), UNPERTURBED)
    assert suppressed
    after = count_feasible(release.suppress(suppressed).table(UNPERTURBED))
    assert all(len(counts) >= 11 for counts in after.groups.values())


def test_groups_of_another_variable_go_where_they_pin_the_whole():
    """Every ward is hidden; the published sexes tell more of the whole than its own figure does."""
    tight = AuditCell(100, 50, 50, "shown")
    hidden = {"a": AuditCell(198, 0, 198, "suppressed"), "b": AuditCell(2, 0, 2, "suppressed")}
    table = build_table(
        AuditCell(200, 80, 120, "shown"), {"sex": {"female": tight, "male": tight}, "ward": hidden}
    )
    assert len(count_feasible(table).groups["a"]) == 3
    assert close_margins(table, STRICT) == {"female", "male"}


def test_a_second_release_with_another_variable_cannot_be_subtracted_from_the_first():
    """Each release alone leaves 11 counts; joined they would not."""
    whole = AuditCell(200, 90, 110, "shown")
    small, large = AuditCell(60, 0, 60, "suppressed"), AuditCell(100, 0, 100, "suppressed")
    shown_a, shown_b = AuditCell(40, 18, 22, "shown"), AuditCell(100, 49, 51, "shown")
    groups = {"x": AuditCell(40, 0, 40, "suppressed"), "y": small, "z": large}
    first = build_table(whole, {"ward": {**groups, "x": shown_a}})
    second = build_table(whole, {"ward": {**groups, "z": shown_b}})
    assert close_margins(first, STRICT) == frozenset()
    assert close_margins(second, STRICT) == frozenset()
    exact = build_table(AuditCell(200, 100, 102, "shown"), {})
    assert len(count_feasible(combine_tables([first, second, exact])).groups["y"]) < 11
    assert close_margins(second, STRICT, [first, exact]) == {"z"}


def test_a_group_listed_for_the_first_time_cannot_be_subtracted_from_the_unlisted_units_of_before():
    whole = AuditCell(200, 90, 110, "shown")
    first = build_table(whole, {"ward": {"a": AuditCell(140, 68, 72, "shown")}})
    later = {"a": AuditCell(140, 0, 140, "suppressed"), "b": AuditCell(50, 24, 26, "shown")}
    second = build_table(whole, {"ward": {**later, "c": AuditCell(10, 0, 10, "suppressed")}})
    joined = count_feasible(combine_tables([first, second]))
    assert joined.groups["c"] == range(11)  # 18 to 42 beside the first, of which b has about 25
    assert close_margins(second, STRICT, [first]) == frozenset()
    exact = build_table(AuditCell(200, 95, 96, "shown"), {})
    assert len(count_feasible(combine_tables([first, second, exact])).groups["c"]) < 11
    assert close_margins(second, STRICT, [first, exact]) == {"b"}


def test_figures_that_contradict_each_other_are_suppressed():
    """Noise beyond what an attacker reckons with shows as a contradiction, and tells that it was large."""
    units = {"whole": 340, "a": 150, "b": 150, "c": 20, "d": 20}
    release = Published(
        units, 500, {"ward": {"a": 200, "b": 200, "c": SUPPRESSED, "d": SUPPRESSED}}
    )
    assert count_feasible(release.table(STRICT)).whole == range(0)
    suppressed = close_margins(release.table(STRICT), STRICT)
    assert suppressed == {"a"}
    assert count_feasible(release.suppress(suppressed).table(STRICT)).whole


def test_groups_larger_than_the_whole_are_an_error():
    with pytest.raises(ValueError, match="sex have 10 more units"):
        whole_and_sexes((300, 500), (150, 480), (160, 520)).table(STRICT)


def test_releases_of_different_sizes_are_not_joined():
    one, other = (build_table(AuditCell(units, 0, units, "suppressed"), {}) for units in (200, 201))
    with pytest.raises(ValueError, match="200 units in one release and 201"):
        combine_tables([one, other])


def test_the_order_of_groups_changes_nothing():
    for seed in range(200):
        release = draw_release(seed, STRICT)
        reverse: Mapping[str, Mapping[str, int]] = {
            variable: dict(reversed(groups.items())) for variable, groups in release.margins.items()
        }
        turned = Published(release.units, release.whole, reverse)
        assert close_margins(release.table(STRICT), STRICT) == close_margins(
            turned.table(STRICT), STRICT
        )


def test_the_board_does_not_know_unlisted_units():
    whole = Figure(bucket_of(303), 500)
    sexes = {"female": Figure(bucket_of(150), 480), "male": Figure(bucket_of(150), 520)}
    check_margins(whole, {"sex": sexes}, STRICT)
