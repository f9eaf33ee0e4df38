"""Pooling of sites and the ranking, against hand-made cases, published tables and any order of arrival."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.merge.accepted import Result, Withdrawal
from aggregator.merge.board_model import State, Why, WithdrawnResult
from aggregator.merge.pool import pool
from aggregator.merge.site_cell import SiteCell
from aggregator.merge.table import build_board
from aggregator.registry.policies import shipped_policies
from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.checkpoint import LogKey
from protocol.disclosure import CellSums, release_cell, release_spread
from protocol.figures import mean_win_rates, wilson
from protocol.keys import PublicKey
from protocol.policy import BUCKETS, bucket_of, bucket_range, grid_step
from protocol.registry import Registry, Site, SiteKey
from protocol.scorecard import Cell
from tests.aggregator.federation import (
    AGENT_VERSION,
    CARD,
    MODELS,
    ORIGIN,
    TestSite,
    digest_of,
    new_key,
    scores,
)

STRICT = shipped_policies()["strict"]
PRIVATE = Cell("notes", "exact_match", None, "private", True, 0, 1)
GATED = replace(PRIVATE, access="gated")
PUBLIC = replace(PRIVATE, access="public")
RATING = Cell("notes", "jury", None, "private", False, 1, 5)
PAPER = json.loads((Path(__file__).parent / "paper_scores.json").read_text())


def named(value: int, units: int = 200, spread: int | None = None) -> SiteCell:
    return SiteCell(True, value, bucket_of(units), spread)


def hidden(value: int, units: int = 200) -> SiteCell:
    return replace(named(value, units), named=False)


@pytest.mark.parametrize("columns", ["37", "35", "34"])
def test_mean_win_rates_are_those_of_the_published_table(columns: str) -> None:
    left_out = {
        "37": set(),
        "35": {"med_qa", "med_mcqa"},
        "34": {"ehrshot", "medcalc_bench", "medec"},
    }[columns]
    table: dict[str, dict[str, float]] = {}
    for benchmark, found in PAPER["scores"].items():
        for model, score in found.items():
            if benchmark not in left_out:
                table.setdefault(model, {})[benchmark] = score
    rates = mean_win_rates(table)
    assert {model: round(rate, 3) for model, rate in rates.items() if rate is not None} == PAPER[
        "mean_win_rates"
    ][columns]


def test_one_site_is_shown_as_it_published() -> None:
    shown = pool([named(700)], PRIVATE, STRICT)
    least, most = bucket_range(bucket_of(200))
    slack = grid_step(least, STRICT) / 2000 + 3 * STRICT.perturbation_units / least
    assert (shown.state, shown.value, shown.units, shown.sites) == (
        State.VALUE,
        700,
        (least + most) // 2,
        1,
    )
    assert shown.low == math.floor(1000 * wilson((0.7 - slack) * least, least)[0])
    assert shown.high == math.ceil(1000 * wilson((0.7 + slack) * least, least)[1])


def test_sites_are_weighted_by_units() -> None:
    large, small = named(800, 1000), named(200, 400)
    shown = pool([large, small], PRIVATE, STRICT)
    expected = (800 * large.units + 200 * small.units) / (large.units + small.units)
    assert shown.value == round(expected)
    assert shown.units == large.units + small.units


@pytest.mark.parametrize("cell", [PUBLIC, GATED])
def test_the_same_data_asked_twice_is_no_more_data(cell: Cell) -> None:
    alone = pool([named(700, 500)], cell, STRICT)
    twice = pool([named(700, 500), named(700, 500)], cell, STRICT)
    assert (twice.low, twice.high, twice.units) == (alone.low, alone.high, alone.units)
    assert pool([named(700, 500), named(700, 500)], PRIVATE, STRICT).units == 2 * alone.units


def test_the_interval_of_a_rating_comes_from_its_spread() -> None:
    shown = pool([named(500, 200, spread=10)], RATING, STRICT)
    least = bucket_range(bucket_of(200))[0]
    slack = grid_step(least, STRICT) / 2000 + 3 * STRICT.perturbation_units / least
    half = 1.959964 * (10.5 * 0.02) / math.sqrt(least) + slack
    assert shown.low == math.floor(1000 * (0.5 - half))
    assert shown.high == math.ceil(1000 * (0.5 + half))


def test_a_rating_without_a_spread_has_the_interval_of_a_share_which_is_wider() -> None:
    """Nothing between 0 and 1 with mean p varies more than a share of p."""
    without, as_share = (
        pool([named(500, 200, spread=-1)], RATING, STRICT),
        pool([named(500, 200)], PRIVATE, STRICT),
    )
    assert (without.low, without.high) == (as_share.low, as_share.high)
    usual = pool([named(500, 200, spread=10)], RATING, STRICT)
    assert without.low is not None
    assert usual.low is not None
    assert without.low < usual.low
    mixed = pool([named(500, 200, spread=-1), named(500, 200, spread=1)], RATING, STRICT)
    assert mixed == pool([named(500, 200), named(500, 200)], PRIVATE, STRICT)


def test_noise_and_rounding_of_every_site_widen_the_interval() -> None:
    """Ten small sites have each a grid and noise of their own; the pooled figure is no more exact than they are."""
    sites = [named(500, 60) for _ in range(10)]
    shown, one_large = pool(sites, PRIVATE, STRICT), pool([named(500, 600)], PRIVATE, STRICT)
    least, _ = bucket_range(sites[0].bucket)
    slack = grid_step(least, STRICT) / 2000 + 3 * STRICT.perturbation_units / least
    assert shown.low == math.floor(1000 * wilson((0.5 - slack) * 10 * least, 10 * least)[0])
    assert one_large.low is not None
    assert shown.low < one_large.low


def test_a_site_with_a_policy_of_its_own_is_as_inexact_as_that_policy() -> None:
    noisier = replace(STRICT, perturbation_units=5)
    shown = pool([replace(named(500), policy=noisier)], PRIVATE, STRICT)
    assert shown == pool([named(500)], PRIVATE, noisier)
    assert shown != pool([named(500)], PRIVATE, STRICT)


@pytest.mark.full
@pytest.mark.sample(4)
@pytest.mark.parametrize("units", [100, 200, 1000])
@pytest.mark.parametrize("right", [0.3, 0.5, 0.8])
@pytest.mark.parametrize("cell", [PRIVATE, RATING], ids=["share", "rating"])
def test_intervals_of_perturbed_figures_hold_the_true_mean(
    cell: Cell, right: float, units: int
) -> None:
    """What the site does, noise included, and what the board makes of it: at least 95 of 100 intervals hold."""
    draw = numpy.random.default_rng([units, int(10 * right), cell.binary])
    bucket = bucket_of(units)
    scale = STRICT.perturbation_units
    held = shown = 0
    for _ in range(600):
        scores = (
            draw.random(units) < right
            if cell.binary
            else draw.beta(4 * right, 4 * (1 - right), units)
        )
        noise = draw.laplace(0, scale, 2)
        sums = CellSums(
            units, float(scores.sum()) + noise[0], float((scores * 1.0) @ scores) + noise[1]
        )
        value = release_cell(cell, sums, bucket, STRICT)
        if value < 0:
            continue
        spread = None if cell.binary else release_spread(cell, sums, value)
        pooled = pool([SiteCell(True, value, bucket, spread)], cell, STRICT)
        assert pooled.low is not None
        assert pooled.high is not None
        shown += 1
        held += pooled.low <= 1000 * right <= pooled.high
    assert shown > 300
    assert held >= 0.95 * shown


@pytest.mark.parametrize(
    ("figures", "why"),
    [
        ([replace(named(SUPPRESSED), bucket=0)], Why.SMALL_GROUP),
        ([named(SUPPRESSED)], Why.FEW_EVENTS),
        ([replace(named(SUPPRESSED), is_surplus=True)], Why.ANOTHER_METRIC),
        ([named(SUPPRESSED), replace(named(SUPPRESSED), bucket=0)], Why.SEVERAL),
        ([named(LOW_CODED), named(HIGH_CODED)], Why.SEVERAL),
        ([named(700)], None),
        ([named(LOW_CODED)], None),
    ],
)
def test_a_suppressed_figure_says_why(figures: list[SiteCell], why: Why | None) -> None:
    assert pool(figures, PRIVATE, STRICT).why is why


def test_too_few_pooled_sites_are_withheld() -> None:
    two = [hidden(700), hidden(600)]
    for few in (two[:1], two):
        shown = pool(few, PRIVATE, STRICT)
        assert (shown.state, shown.value, shown.waiting) == (State.WITHHELD, None, len(few))
    three = pool([*two, hidden(500)], PRIVATE, STRICT)
    assert (three.value, three.sites) == (600, 3)


def test_a_pooled_site_that_dominates_is_withheld() -> None:
    sites = [hidden(700, 5000), hidden(600, 50), hidden(500, 50)]
    assert pool(sites, PRIVATE, STRICT).state is State.WITHHELD


def test_named_sites_do_not_help_pooled_ones_to_hide() -> None:
    """Else everyone could subtract the named sites' published figures."""
    sites = [named(700), named(700), hidden(100)]
    shown = pool(sites, PRIVATE, STRICT)
    assert (shown.value, shown.sites, shown.waiting) == (700, 2, 1)


def test_codes_of_pooled_sites_are_withheld_too() -> None:
    assert pool([hidden(LOW_CODED)], PRIVATE, STRICT).state is State.WITHHELD


def test_public_cells_are_pooled_freely() -> None:
    assert pool([hidden(700)], PUBLIC, STRICT).value == 700


@pytest.mark.parametrize(
    ("codes", "state"),
    [
        ([], State.NOT_RUN),
        ([NOT_RUN, NOT_RUN], State.NOT_RUN),
        ([SUPPRESSED, NOT_RUN], State.SUPPRESSED),
        ([LOW_CODED], State.LOW_CODED),
        ([HIGH_CODED, HIGH_CODED], State.HIGH_CODED),
        ([LOW_CODED, HIGH_CODED], State.SUPPRESSED),
    ],
)
def test_a_cell_without_a_figure_says_why(codes: list[int], state: State) -> None:
    sites = [replace(named(code), bucket=0) for code in codes]
    assert pool(sites, PRIVATE, STRICT).state is state


def test_a_coded_site_enters_as_the_interval_in_which_it_lies() -> None:
    coded = named(HIGH_CODED)
    shown = pool([named(700), coded], PRIVATE, STRICT)
    least, _ = bucket_range(coded.bucket)
    few = -(-1000 * STRICT.min_events // least)
    ends = [pool([named(700), named(end)], PRIVATE, STRICT) for end in (1000 - few, 1000)]
    assert (shown.value, shown.sites, shown.coded_sites, shown.left_out) == (
        round((1700 - few / 2) / 2),
        2,
        1,
        0,
    )
    assert (shown.low, shown.high) == (ends[0].low, ends[1].high)


def test_a_site_that_ran_nothing_is_not_counted_as_left_out() -> None:
    shown = pool([named(700), named(NOT_RUN), hidden(NOT_RUN)], PRIVATE, STRICT)
    assert (shown.value, shown.sites, shown.left_out) == (700, 1, 0)


site_cells = st.builds(
    SiteCell,
    named=st.booleans(),
    value=st.sampled_from([SUPPRESSED, NOT_RUN, LOW_CODED, HIGH_CODED, *range(0, 1001, 25)]),
    bucket=st.integers(1, len(BUCKETS) - 1),
    spread=st.integers(-1, 25),
)


@given(
    st.lists(site_cells, max_size=8),
    st.randoms(),
    st.sampled_from([PRIVATE, RATING, PUBLIC]),
)
def test_the_order_of_sites_changes_nothing(
    cells: list[SiteCell], random: object, cell: Cell
) -> None:
    shuffled = random.sample(cells, len(cells))  # type: ignore[attr-defined]
    shown = pool(cells, cell, STRICT)
    assert pool(shuffled, cell, STRICT) == shown
    if shown.low is not None:
        assert shown.value is not None
        assert shown.high is not None
        assert 0 <= shown.low <= shown.value <= shown.high <= 1000


@given(st.lists(site_cells, min_size=1, max_size=6))
def test_a_withheld_site_changes_no_published_figure(cells: list[SiteCell]) -> None:
    """Where the pooled sites do not hide each other, the figure is that of the named ones alone."""
    hidden_values = [cell for cell in cells if not cell.named and cell.state is State.VALUE]
    if 0 < len(hidden_values) < STRICT.pooled_sites:
        shown, without = (
            pool(cells, PRIVATE, STRICT),
            pool([cell for cell in cells if cell.named], PRIVATE, STRICT),
        )
        assert (shown.value, shown.low, shown.high, shown.units) == (
            without.value,
            without.low,
            without.high,
            without.units,
        )


def small_registry(sites: list[TestSite]) -> Registry:
    from protocol.identity import agent_digest, model_digest
    from protocol.registry import RegisteredScorecard

    return Registry(
        version=2,
        expires_day=30_000,
        deployment=ORIGIN,
        roots=(new_key().public,),
        threshold=1,
        log_name=ORIGIN,
        log_keys=(LogKey(new_key().public),),
        receipt_key=new_key().public,
        policy_floor=STRICT.digest,
        sites={
            site.id: Site(
                site.id,
                "named",
                "0" * 64,
                (_key(site.agent.public, "agent"), _key(site.steward.public, "steward")),
            )
            for site in sites
        },
        scorecards={CARD.digest: RegisteredScorecard(CARD)},
        policies={STRICT.digest: STRICT},
        agents={agent_digest(AGENT_VERSION): AGENT_VERSION},
        models={model_digest(model.name): model for model in MODELS},
    )


def _key(key: PublicKey, role: str) -> SiteKey:
    return SiteKey(key, role)  # type: ignore[arg-type]


SITES = [TestSite(f"s-0000000{number}") for number in range(3)]
REGISTRY = small_registry(SITES)


def result(site: TestSite, seed: int, *, model: str, seq: int, position: int) -> Result:
    said = site.at(seq - 1, "0" * 64).result(
        REGISTRY, scores(seed, right=0.4 + seed / 40), model=model
    )
    return Result(position, keyids_of(site), said, digest_of("result", site.id, position))


def keyids_of(site: TestSite) -> tuple[str, str]:
    return site.agent.public.keyid, site.steward.public.keyid


RESULTS = [
    result(site, 3 * i + j, model=model.name, seq=seq, position=10 * i + 2 * j + seq)
    for i, site in enumerate(SITES)
    for j, model in enumerate(MODELS)
    for seq in (1, 2)
]


@settings(max_examples=25)
@given(st.permutations(RESULTS))
def test_the_board_is_the_same_for_any_order_of_arrival(arrived: list[Result]) -> None:
    assert build_board(arrived, REGISTRY) == build_board(RESULTS, REGISTRY)


def test_a_later_result_replaces_an_earlier_one() -> None:
    first, second = (
        result(SITES[0], seed, model=MODELS[0].name, seq=seq, position=seq)
        for seed, seq in ((1, 1), (9, 2))
    )
    assert build_board([first, second], REGISTRY).tables == build_board([second], REGISTRY).tables


def test_a_result_whose_key_was_revoked_leaves_the_ranks_and_is_named() -> None:
    stands = result(SITES[0], 1, model=MODELS[0].name, seq=1, position=1)
    falls = result(SITES[1], 2, model=MODELS[1].name, seq=1, position=2)
    site = REGISTRY.sites[SITES[1].id]
    keys = tuple(replace(key, revoked_from=2) for key in site.keys)
    revoking = replace(REGISTRY, sites={**REGISTRY.sites, SITES[1].id: replace(site, keys=keys)})
    board = build_board([stands, falls], revoking)
    assert board.revoked == (2,)
    assert [row.model.name for row in board.tables[0].rows] == [MODELS[0].name]


@pytest.mark.parametrize("gone", ["site", "model", "scorecard"])
def test_a_result_that_names_what_the_registry_no_longer_knows_leaves_the_board(gone: str) -> None:
    stands = result(SITES[0], 1, model=MODELS[0].name, seq=1, position=1)
    falls = result(SITES[1], 2, model=MODELS[1].name, seq=1, position=2)
    said = falls.predicate
    without = {
        "site": replace(
            REGISTRY,
            sites={id_: site for id_, site in REGISTRY.sites.items() if id_ != SITES[1].id},
        ),
        "model": replace(
            REGISTRY,
            models={key: model for key, model in REGISTRY.models.items() if key != said.model},
        ),
        "scorecard": replace(REGISTRY, scorecards={}),
    }[gone]
    board = build_board([stands, falls], without)
    assert board.revoked == ((1, 2) if gone == "scorecard" else (2,))


def test_a_key_that_went_to_another_site_vouches_for_nothing_of_the_first() -> None:
    falls = result(SITES[0], 1, model=MODELS[0].name, seq=1, position=1)
    first, second = (REGISTRY.sites[site.id] for site in SITES[:2])
    swapped = {
        SITES[0].id: replace(first, keys=second.keys),
        SITES[1].id: replace(second, keys=first.keys),
    }
    assert build_board([falls], replace(REGISTRY, sites=swapped)).revoked == (1,)


def withdrawal(site: TestSite, taken_back: Result, *, position: int) -> Withdrawal:
    return Withdrawal(position, keyids_of(site), site.withdraw(REGISTRY, taken_back.digest))


def test_a_withdrawn_result_leaves_the_ranks_and_is_named_with_its_reason() -> None:
    stands = result(SITES[0], 1, model=MODELS[0].name, seq=1, position=1)
    falls = result(SITES[1], 2, model=MODELS[1].name, seq=1, position=2)
    board = build_board([stands, falls], REGISTRY, [withdrawal(SITES[1], falls, position=3)])
    assert [row.model.name for row in board.tables[0].rows] == [MODELS[0].name]
    assert [entry.log_position for entry in board.site_results] == [1]
    assert board.withdrawn == (WithdrawnResult(2, 3, "data_error"),)
    assert board.revoked == ()


def test_an_earlier_result_stands_again_when_the_later_one_is_withdrawn() -> None:
    first, second = (
        result(SITES[0], seed, model=MODELS[0].name, seq=seq, position=seq)
        for seed, seq in ((1, 1), (9, 2))
    )
    board = build_board([first, second], REGISTRY, [withdrawal(SITES[0], second, position=3)])
    (row,), (before,) = board.tables[0].rows, build_board([first], REGISTRY).tables[0].rows
    assert row == replace(before, counts=replace(before.counts, withdrawn=1))


def test_a_withdrawal_by_a_stolen_key_counts_no_more_once_the_key_is_revoked() -> None:
    stands = result(SITES[0], 1, model=MODELS[0].name, seq=1, position=1)
    taken_back = withdrawal(SITES[0], stands, position=3)
    site = REGISTRY.sites[SITES[0].id]
    keys = tuple(replace(key, revoked_from=3) for key in site.keys)
    revoking = replace(REGISTRY, sites={**REGISTRY.sites, SITES[0].id: replace(site, keys=keys)})
    assert build_board([stands], REGISTRY, [taken_back]).tables == ()
    board = build_board([stands], revoking, [taken_back])
    assert board.withdrawn == ()
    assert [row.sites for row in board.tables[0].rows] == [1]


def test_results_without_a_plan_are_counted_as_unplanned() -> None:
    planned = result(SITES[0], 1, model=MODELS[0].name, seq=1, position=1)
    planned = replace(
        planned, predicate=replace(planned.predicate, plan="a" * 64, challenge="b" * 64)
    )
    unplanned = result(SITES[1], 2, model=MODELS[0].name, seq=1, position=2)
    (row,) = build_board([planned, unplanned], REGISTRY).tables[0].rows
    assert (row.sites, row.unplanned) == (2, 1)


def test_rows_are_ranked_by_mean_win_rate() -> None:
    table = build_board(RESULTS, REGISTRY).tables[0]
    rates = [row.win_rate for row in table.rows if row.win_rate is not None]
    assert rates == sorted(rates, reverse=True)
    assert len(rates) == 3
    assert sum(rates) == pytest.approx(1500, abs=2)


def test_without_results_there_is_no_table() -> None:
    assert build_board([], REGISTRY).tables == ()
