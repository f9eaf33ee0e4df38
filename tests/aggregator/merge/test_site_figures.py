"""A named site's figure: worked out alone, it is what merging that one site gives."""

import random

import numpy
import pytest

from aggregator.merge.cell_codes import decode_code, decode_codes
from aggregator.merge.pool import interval_of_site, pool
from aggregator.merge.site_cell import SiteCell
from aggregator.registry.policies import shipped_policies
from protocol.disclosure import SPREAD_STEPS
from protocol.policy import BUCKETS
from protocol.scorecard import Cell

POLICIES = list(shipped_policies().values())


@pytest.mark.parametrize("access", ["public", "gated", "private"])
@pytest.mark.parametrize("binary", [True, False])
def test_the_interval_of_one_site_is_that_of_merging_it_alone(access: str, binary: bool) -> None:
    draw = random.Random(f"{access} {binary}")
    cell = Cell("ward", "metric", None, access, binary, 0, 1)
    for bucket in range(1, len(BUCKETS)):
        for value in [0, 1, 999, 1000, *(draw.randrange(1001) for _ in range(12))]:
            policy = draw.choice(POLICIES)
            spread = None if binary else draw.randint(-1, SPREAD_STEPS)
            figure = SiteCell(named=True, value=value, bucket=bucket, spread=spread, policy=policy)
            merged = pool([figure], cell, POLICIES[0])
            assert interval_of_site(figure, cell, policy) == (merged.low, merged.high)
            assert merged.value == value


def test_one_code_says_the_same_as_a_column_of_them() -> None:
    draw = random.Random(1)
    codes = numpy.array(
        [0, *(draw.randrange(1, 5_000_000) for _ in range(2000))], dtype=numpy.int64
    )
    fields = decode_codes(codes)
    for place, code in enumerate(codes.tolist()):
        expected = (int(fields.value[place]), int(fields.bucket[place]), int(fields.spread[place]))
        assert decode_code(code) == expected
