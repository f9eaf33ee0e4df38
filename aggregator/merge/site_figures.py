"""A named site's figures as shown on its page and in forest plots, computed on demand. Pure."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy

from aggregator.merge.board_model import SiteFigure, State
from aggregator.merge.cell_codes import CardLayout, decode_code, decode_codes
from aggregator.merge.pool import interval_of_site
from aggregator.merge.site_cell import CODES, WEIGHT, Integers, SiteCell
from aggregator.merge.weights import MIN_FOR_MEDIAN, limit_by_median, limit_share, lower_median
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import surplus_cells
from protocol.policy import DisclosurePolicy

_BYTES: Final = numpy.dtype(numpy.int64).itemsize


@dataclass(slots=True)
class NamedWeights:
    """The weights of the named sites of a model by column, computed on demand.

    Attributes:
        codes: Codes of every named site, one row per site.
        share_percent: Largest share of the weight allowed.
    """

    codes: Integers
    share_percent: int
    _by_column: dict[int, tuple[int, int]] = field(default_factory=dict)

    def share_of(self, column: int, bucket: int) -> int:
        """Return the percentage of the named sites' weight that belongs to a site whose figure has this bucket."""
        if column not in self._by_column:
            self._by_column[column] = self._limit_and_total(column)
        limit, total = self._by_column[column]
        return (200 * min(limit, int(WEIGHT[bucket])) + total) // (2 * total)

    def _limit_and_total(self, column: int) -> tuple[int, int]:
        figures = decode_codes(self.codes[:, column])
        weights = figures.weight[figures.is_value | figures.is_coded]
        if len(weights) >= MIN_FOR_MEDIAN:
            weights = limit_by_median(weights, lower_median(weights))
        weights = limit_share(weights, self.share_percent)
        return int(weights.max()), int(weights.sum())


@dataclass(frozen=True, slots=True)
class SiteFigures(Mapping[str, SiteFigure]):
    """The figures of a result by cell key.

    Attributes:
        layout: Column layout of its scorecard.
        codes: Codes of its cells, without the policy.
        policy: The policy that the site followed.
        floor: The federation's policy.
        named_weights: Weights of the named sites of the same model.
    """

    layout: CardLayout
    codes: bytes
    policy: DisclosurePolicy
    floor: DisclosurePolicy
    named_weights: NamedWeights = field(compare=False, repr=False)

    def __getitem__(self, key: str) -> SiteFigure:
        """Return the figure of a cell. Raises KeyError."""
        if key not in self.layout.places:
            raise KeyError(key)
        column = self.layout.places[key]
        return self._figure(column, self._code(column))

    def weight_of(self, key: str) -> int | None:
        """Return `weight_percent` of a cell without computing its interval; None for a figure without an interval."""
        column = self.layout.places[key]
        value, bucket, _ = decode_code(self._code(column))
        if value in (SUPPRESSED, NOT_RUN):
            return None
        return self.named_weights.share_of(column, bucket)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the keys, in the scorecard's order."""
        return iter(self.layout.keys)

    def __len__(self) -> int:
        """Return the number of cells."""
        return len(self.layout.keys)

    def _code(self, column: int) -> int:
        return int.from_bytes(self.codes[_BYTES * column : _BYTES * (column + 1)], sys.byteorder)

    def _figure(self, column: int, code: int) -> SiteFigure:
        cell = self.layout.scorecard.cells[column]
        value, bucket, spread = decode_code(code)
        site_cell = SiteCell(
            named=True,
            value=value,
            bucket=bucket,
            spread=None if cell.binary else spread,
            policy=self.policy,
            is_surplus=cell.key in surplus_keys(self.layout, self.policy),
        )
        state = site_cell.state
        if state is State.VALUE:
            low, high = interval_of_site(site_cell, cell, self.policy)
            weight = self.named_weights.share_of(column, site_cell.bucket)
            return SiteFigure(state, None, value, low, high, site_cell.units, weight)
        if state in {State.LOW_CODED, State.HIGH_CODED}:
            low, high = site_cell.ends(self.floor)
            weight = self.named_weights.share_of(column, site_cell.bucket)
            return SiteFigure(state, None, None, low, high, site_cell.units, weight)
        if state is State.SUPPRESSED:
            return SiteFigure(state, site_cell.why)
        return SiteFigure(state)


def surplus_keys(layout: CardLayout, policy: DisclosurePolicy) -> frozenset[str]:
    """Return the keys of the cells that a site never releases under a policy."""
    known = layout.surplus.get(policy)
    if known is None:
        known = frozenset(cell.key for cell in surplus_cells(layout.scorecard, policy))
        layout.surplus[policy] = known
    return known


def suppression_reasons(
    codes: Integers, column: int, layout: CardLayout, policies: Sequence[DisclosurePolicy]
) -> list[SiteCell]:
    """Return the sites' cells of a column as objects, to determine why there is no figure."""
    cell = layout.scorecard.cells[column]
    fields = decode_codes(codes)
    cells = []
    for number in range(len(codes)):
        policy = policies[int(fields.policy[number])]
        cells.append(
            SiteCell(
                named=True,
                value=int(fields.value[number]),
                bucket=int(fields.bucket[number]),
                policy=policy,
                is_surplus=cell.key in surplus_keys(layout, policy),
            )
        )
    return [found for found in cells if CODES.get(found.value) is not State.NOT_RUN]
