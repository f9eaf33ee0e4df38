"""Encoding a site's figure for a cell as one integer, so that thousands of sites' figures form
numeric columns. Pure.

Two figures have the same code if and only if they are identical. Code 0 means that the site did not
run the cell.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy

from aggregator.merge.site_cell import WEIGHT, Flags, Integers
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import NO_SPREAD, SPREAD_STEPS
from protocol.policy import BUCKETS, DisclosurePolicy
from protocol.predicates import ResultPredicate
from protocol.scorecard import Scorecard

_MIN_VALUE = -4  # the lowest code of a cell without a value
_VALUES = 1000 - _MIN_VALUE + 1
_SPREADS = SPREAD_STEPS + 2  # NO_SPREAD and 0 to SPREAD_STEPS
_WITHOUT_POLICY = _VALUES * _SPREADS * len(BUCKETS)


@dataclass(frozen=True, slots=True)
class Columns:
    """The decoded fields of many codes. All arrays have the shape of the codes."""

    value: Integers
    spread: Integers
    bucket: Integers
    policy: Integers

    @property
    def is_value(self) -> Flags:
        """Whether each figure is a value."""
        is_value: Flags = self.value >= 0
        return is_value

    @property
    def is_coded(self) -> Flags:
        """Whether each figure is only known to be near an end of the range."""
        is_coded: Flags = (self.value < 0) & (self.value != SUPPRESSED) & (self.value != NOT_RUN)
        return is_coded

    @property
    def weight(self) -> Integers:
        """The weight of each figure by size."""
        weights: Integers = WEIGHT[self.bucket]
        return weights


def decode_codes(codes: Integers) -> Columns:
    """Decode an array of codes of any shape. Code 0 gives the value NOT_RUN."""
    rest = numpy.maximum(codes - 1, 0)
    rest, value = numpy.divmod(rest, _VALUES)
    rest, spread = numpy.divmod(rest, _SPREADS)
    policy, bucket = numpy.divmod(rest, len(BUCKETS))
    value = numpy.where(codes == 0, NOT_RUN, value + _MIN_VALUE)
    return Columns(value, spread + NO_SPREAD, bucket, policy)


def decode_code(code: int) -> tuple[int, int, int]:
    """Return value (or cell code), bucket and spread of a single code. For one code, arrays would
    be twenty times slower.
    """
    if code == 0:
        return NOT_RUN, 0, NO_SPREAD
    rest, value = divmod(code - 1, _VALUES)
    rest, spread = divmod(rest, _SPREADS)
    return value + _MIN_VALUE, rest % len(BUCKETS), spread + NO_SPREAD


def drop_policy(codes: Integers) -> Integers:
    """Return the codes with the policy set to 0."""
    return numpy.where(codes == 0, 0, (codes - 1) % _WITHOUT_POLICY + 1)


def value_and_bucket(codes: Integers) -> Integers:
    """Return numbers that are equal if and only if both value (or cell code) and bucket are equal.
    Only these two determine a weighted mean.
    """
    fields = decode_codes(codes)
    return numpy.where(codes == 0, 0, 1 + fields.bucket * _VALUES + (fields.value - _MIN_VALUE))


@dataclass(frozen=True, slots=True)
class CardLayout:
    """The column layout of a scorecard's cells.

    Attributes:
        keys, groups: Keys and groups of the cells, in the scorecard's order.
        protected: Whether disclosure rules apply, by column.
        main: Columns of the benchmarks' main cells, in the order of the benchmarks.
        places: Column numbers by key.
        surplus: Keys of the cells that are never released, by policy; filled on demand.
    """

    scorecard: Scorecard
    keys: tuple[str, ...]
    groups: tuple[str, ...]
    protected: Flags = field(compare=False)
    main: tuple[int, ...]
    places: Mapping[str, int] = field(repr=False)
    surplus: dict[DisclosurePolicy, frozenset[str]] = field(
        repr=False, compare=False, default_factory=dict
    )

    def encode(self, result: ResultPredicate, policy: int) -> Integers:
        """Return the code of every cell of a result.

        Args:
            result: A result for this scorecard.
            policy: Number assigned to the policy that the result names.
        """
        value = numpy.array([result.cells[key] for key in self.keys], dtype=numpy.int64)
        bucket = numpy.array([result.groups[group] for group in self.groups], dtype=numpy.int64)
        spreads = [
            NO_SPREAD if cell.binary else result.spreads[cell.key] for cell in self.scorecard.cells
        ]
        spread = numpy.array(spreads, dtype=numpy.int64)
        code = policy * len(BUCKETS) + bucket
        code = code * _SPREADS + (spread - NO_SPREAD)
        code = code * _VALUES + (value - _MIN_VALUE)
        return numpy.where(value == NOT_RUN, 0, code + 1)


def lay_out(scorecard: Scorecard) -> CardLayout:
    """Return the column layout of a scorecard."""
    cells = scorecard.cells
    first: dict[str, int] = {}
    for column, cell in enumerate(cells):
        first.setdefault(cell.benchmark, column)
    return CardLayout(
        scorecard=scorecard,
        keys=tuple(cell.key for cell in cells),
        groups=tuple(cell.group for cell in cells),
        protected=numpy.array([cell.protected for cell in cells], dtype=numpy.bool_),
        main=tuple(first[benchmark.id] for benchmark in scorecard.benchmarks),
        places={cell.key: column for column, cell in enumerate(cells)},
    )
