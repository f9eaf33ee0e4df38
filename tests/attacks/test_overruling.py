"""One site that claims the largest size and a perfect score, against ten honest ones."""

import numpy

from aggregator.merge.board_model import MergedCell
from aggregator.merge.table import build_board
from aggregator.merge.weights import limit_share
from protocol.policy import MAX_UNITS, bucket_of
from tests.aggregator.merge.results import WARD, Sites

HONEST, HONEST_UNITS = 600, 500
OLD_LARGEST_BUCKET = (126_316, 999_999_999)  # before the scale ended at a million


def board_with(attackers: int, *, publication: str) -> MergedCell:
    sites = Sites()
    for site in sites.add(publication, count=10):  # type: ignore[arg-type]
        sites.send(site, HONEST, units=HONEST_UNITS)
    for site in sites.add(publication, count=attackers):  # type: ignore[arg-type]
        sites.send(site, 1000, units=MAX_UNITS)
    return build_board(sites.results, sites.registry()).tables[0].rows[0].cells[WARD.key]


def test_weighed_by_claimed_units_one_site_overruled_ten() -> None:
    """The attack as it succeeded: the middle of the last bucket was 500 million units."""
    claimed = sum(OLD_LARGEST_BUCKET) // 2
    mean = (10 * HONEST_UNITS * HONEST + claimed * 1000) / (10 * HONEST_UNITS + claimed)
    assert round(mean) == 1000


def test_weighed_by_the_share_alone_one_site_still_overruled_ten() -> None:
    """Why weights are held against the median: 85 % of the weight is 94 % of the figure."""
    assert (
        limit_share(numpy.array([100_000, *[HONEST_UNITS] * 10]), 85).tolist()[0] == 85 * 5000 // 15
    )
    assert round(0.85 * 1000 + 0.15 * HONEST) == 940


def test_one_site_counts_like_four_and_everything_beside_the_figure_shows_it() -> None:
    shown = board_with(1, publication="named")
    assert shown.value == round((10 * HONEST + 4 * 1000) / 14)
    assert shown.low is not None
    assert shown.low < HONEST  # honest sites' figure is within the interval
    assert shown.leave_one_out_low == HONEST
    assert shown.tau is not None
    assert shown.tau > 100
    assert shown.i2_percent is not None
    assert shown.i2_percent > 90
    assert shown.average is not None
    assert shown.average < 640  # the mean over sites counts each about alike


def test_a_pooled_site_that_claims_the_most_waits_until_others_hide_it() -> None:
    """Its claim is above the share that one site may have, so the figure of the honest ones stands."""
    shown = board_with(1, publication="pooled")
    assert (shown.value, shown.waiting) == (HONEST, 2)


def test_the_largest_claim_is_a_million_units() -> None:
    assert bucket_of(10**9) == bucket_of(MAX_UNITS)
