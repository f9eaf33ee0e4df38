"""Disclosure policies: the numbers, the buckets for group sizes and the grid for values."""

from dataclasses import dataclass

BUCKETS: tuple[tuple[int, int], ...] = ()
"""Inclusive ranges of numbers of units; index 0 stands for "none, or below the threshold". 64 in all, at least 5 wide
and about 17 % wide, with 11 as a lower edge."""


@dataclass(frozen=True, slots=True)
class DisclosurePolicy:
    """What may leave. All numbers are integers; percentages are whole.

    Attributes:
        name, version: of the profile, for example `strict`, 1.
        min_units: units behind a published figure or group size.
        min_events: successes, and failures, behind a binary rate; else it is low- or high-coded.
        grid_units: values lie on a grid no finer than `grid_units`/n.
        margin_hidden: groups to withhold in a margin as soon as one is.
        dominance_n, dominance_percent: the n largest contributions must stay below this share of the sum.
        p_percent: everyone but the two largest must contribute at least this share of the largest.
        max_share_percent: one unit's largest share of a mean.
        tail_units: units beyond a published percentile (no order statistic is published in version 1).
        bin_units, bins_percent: units in a bin; most bins, in percent of n.
        breakdown_depth: variables a subgroup may combine.
        changed_units: units that must change between two releases of a lineage, unless none does.
        monthly_submissions: a model, lineage and month.
        exception_people: who must agree to an exception.
        pooled_sites, pooled_share_percent: sites behind a pooled figure; the largest's most units.
    """

    name: str
    version: int
    min_units: int
    min_events: int
    grid_units: int
    margin_hidden: int
    dominance_n: int
    dominance_percent: int
    p_percent: int
    max_share_percent: int
    tail_units: int
    bin_units: int
    bins_percent: int
    breakdown_depth: int
    changed_units: int
    monthly_submissions: int
    exception_people: int
    pooled_sites: int
    pooled_share_percent: int

    @property
    def digest(self) -> str:
        """Hex digest of the whole content."""
        raise NotImplementedError

    def to_json(self) -> dict[str, object]:
        """Return the content as JSON values; the inverse of `parse_policy`. The field names are the attributes."""
        raise NotImplementedError


def parse_policy(value: object) -> DisclosurePolicy:
    """Read a policy from JSON (or YAML) values: exactly the attributes of DisclosurePolicy.

    Raises:
        ProtocolError: SCHEMA.
    """
    raise NotImplementedError


def stricter(a: DisclosurePolicy, b: DisclosurePolicy) -> DisclosurePolicy:
    """Return, number by number, the stricter of two policies. Its name is `a+b`; it is never registered."""
    raise NotImplementedError


def bucket_of(n: int) -> int:
    """Return the bucket that holds `n` units; 0 for none. Thresholds are not applied here."""
    raise NotImplementedError


def bucket_range(bucket: int) -> tuple[int, int]:
    """Return the least and the largest number of units in a bucket; (0, 0) for bucket 0."""
    raise NotImplementedError


def grid_step(units: int, policy: DisclosurePolicy) -> int:
    """Return the step of published values, in thousandths of the range, for a protected group of at least `units`.

    The smallest divisor of 1000 that is no finer than `grid_units`/n.
    """
    raise NotImplementedError
