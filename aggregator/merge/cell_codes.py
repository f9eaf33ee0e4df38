"""One site's figure for one cell as one number, so that thousands of sites' figures are columns of numbers. Pure.

Two figures have the same code exactly if they say the same. Code 0 stands for a cell that the site did not run.
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

_MIN_VALUE = -4  # codes of cells start here
_VALUES = 1000 - _MIN_VALUE + 1
_SPREADS = SPREAD_STEPS + 2  # NO_SPREAD and 0 to SPREAD_STEPS
_WITHOUT_POLICY = _VALUES * _SPREADS * len(BUCKETS)


@dataclass(frozen=True, slots=True)
class Columns:
    """The fields of many codes; all arrays have the shape of the codes."""

    value: Integers
    spread: Integers
    bucket: Integers
    policy: Integers

    @property
    def is_value(self) -> Flags:
        """Whether the figure is a value."""
        is_value: Flags = self.value >= 0
        return is_value

    @property
    def is_coded(self) -> Flags:
        """Whether the figure is only known to lie near an end of the range."""
        is_coded: Flags = (self.value < 0) & (self.value != SUPPRESSED) & (self.value != NOT_RUN)
        return is_coded

    @property
    def weight(self) -> Integers:
        """The weight by size."""
        weights: Integers = WEIGHT[self.bucket]
        return weights


def decode_codes(codes: Integers) -> Columns:
    """Return the fields of codes, of any shape; code 0 has the value NOT_RUN."""
    rest = numpy.maximum(codes - 1, 0)
    rest, value = numpy.divmod(rest, _VALUES)
    rest, spread = numpy.divmod(rest, _SPREADS)
    policy, bucket = numpy.divmod(rest, len(BUCKETS))
    value = numpy.where(codes == 0, NOT_RUN, value + _MIN_VALUE)
    return Columns(value, spread + NO_SPREAD, bucket, policy)


def decode_code(code: int) -> tuple[int, int, int]:
    """Return value (or code of a cell), bucket and spread of one code: for one, arrays take twenty times as long."""
    if code == 0:
        return NOT_RUN, 0, NO_SPREAD
    rest, value = divmod(code - 1, _VALUES)
    rest, spread = divmod(rest, _SPREADS)
    return value + _MIN_VALUE, rest % len(BUCKETS), spread + NO_SPREAD


def drop_policy(codes: Integers) -> Integers:
    """Return the codes without the policy: as of policy 0."""
    return numpy.where(codes == 0, 0, (codes - 1) % _WITHOUT_POLICY + 1)


def value_and_bucket(codes: Integers) -> Integers:
    """Return numbers that are equal where value (or code) and bucket are: all that a weighted mean is made of."""
    fields = decode_codes(codes)
    return numpy.where(codes == 0, 0, 1 + fields.bucket * _VALUES + (fields.value - _MIN_VALUE))


@dataclass(frozen=True, slots=True)
class CardLayout:
    """A scorecard's cells as columns.

    Attributes:
        keys, groups: of the cells, in the scorecard's order.
        protected: by column, whether disclosure rules apply.
        main: columns of the benchmarks' main cells, in the order of the benchmarks.
        places: column by key.
        surplus: by policy, keys of the cells that never leave under it; filled as asked for.
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
            result: of this scorecard.
            policy: the number that stands for the policy that it names.
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
    """Return the columns of a scorecard."""
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
