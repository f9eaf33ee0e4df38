"""Disclosure policies: the numbers, the buckets for group sizes and the grid for values."""

from bisect import bisect_right
from dataclasses import asdict, dataclass, fields, replace

from protocol import schema
from protocol.identity import tagged_digest

MAX_UNITS = 1_000_000  # end of the bucket scale; a larger group is treated as one of this size


def _buckets() -> tuple[tuple[int, int], ...]:
    lows = [0, 1]
    while len(lows) < 64:
        lows.append(lows[-1] + 5 * max(1, lows[-1] * 17 // 500))
    return tuple(zip(lows, [*(low - 1 for low in lows[1:]), MAX_UNITS], strict=True))


BUCKETS = _buckets()
"""Inclusive ranges of numbers of units; index 0 means "none, or below the threshold". There are 64 buckets. Each is
about 17 % wide, but at least 5 units. One begins at 11; the last ends at MAX_UNITS (rule 8.6)."""


@dataclass(frozen=True, slots=True)
class DisclosurePolicy:
    """The limits that decide which figures may leave a site. All numbers, including percentages, are integers.

    Attributes:
        name, version: name and version of the profile, for example `strict`, 1.
        min_units: minimum units behind a published figure or group size.
        min_events: minimum successes, and minimum failures, behind a value; below it, a figure is coded or suppressed.
            A score inside a metric's range counts as a fraction of a success.
        grid_units: values are rounded to a grid no finer than `grid_units`/n.
        perturbation_units: scale of the Laplace noise on the sum of a cell's unit scores, in units; the standard
            deviation is 1.41 times as large.
        metrics_per_group: maximum figures that may leave for one protected group.
        variables_per_benchmark: maximum variables (sex, ward, ...) by which figures divide a protected benchmark's
            units; each variable reveals more about every patient.
        margin_hidden: minimum groups to withhold in a margin if any is withheld.
        dominance_n, dominance_percent: the n largest contributions must stay below this share of the sum.
        p_percent: all contributors except the two largest must contribute at least this share of the largest.
        max_share_percent: maximum share of a mean that one unit may have.
        changed_units: minimum units added, removed or rescored between two releases of a lineage, unless there are
            none.
        monthly_submissions: maximum submissions for a model and lineage in 30 days.
        pooled_sites, pooled_share_percent: minimum sites behind a pooled figure, and the maximum share of its units
            that the largest site may have.
    """

    name: str
    version: int
    min_units: int
    min_events: int
    grid_units: int
    perturbation_units: int
    metrics_per_group: int
    variables_per_benchmark: int
    margin_hidden: int
    dominance_n: int
    dominance_percent: int
    p_percent: int
    max_share_percent: int
    changed_units: int
    monthly_submissions: int
    pooled_sites: int
    pooled_share_percent: int

    @property
    def digest(self) -> str:
        """Hex digest of the whole content."""
        return tagged_digest("disclosure-policy", self.to_json())

    def to_json(self) -> dict[str, object]:
        """Return the content as JSON values; the inverse of `parse_policy`. The field names are the attributes."""
        return asdict(self)


_NUMBERS = tuple(
    field.name for field in fields(DisclosurePolicy) if field.name not in {"name", "version"}
)
_LESS_IS_STRICTER = frozenset(
    {
        "dominance_percent",
        "max_share_percent",
        "metrics_per_group",
        "variables_per_benchmark",
        "monthly_submissions",
        "pooled_share_percent",
    }
)
_DIVISORS = tuple(step for step in range(1, 1001) if 1000 % step == 0)


def parse_policy(value: object) -> DisclosurePolicy:
    """Parse a policy from JSON (or YAML) values, with exactly the attributes of DisclosurePolicy.

    Raises:
        ProtocolError: SCHEMA.
    """
    found = schema.record(value, frozenset({"name", "version", *_NUMBERS}), "disclosure policy")
    numbers = {
        name: schema.integer(
            found[name], f"disclosure policy: {name}", 0, 100 if "percent" in name else 1_000_000
        )
        for name in _NUMBERS
    }
    return DisclosurePolicy(
        name=schema.text(found["name"], "disclosure policy: name", schema.IDENTIFIER),
        version=schema.integer(found["version"], "disclosure policy: version", 1),
        **numbers,
    )


def stricter(a: DisclosurePolicy, b: DisclosurePolicy) -> DisclosurePolicy:
    """Return a policy with the stricter of each pair of numbers.

    If both policies differ, the name of the outcome is `a+b`, and it is not in any registry.
    """
    if a == b:
        return a
    numbers = {
        name: (min if name in _LESS_IS_STRICTER else max)(getattr(a, name), getattr(b, name))
        for name in _NUMBERS
    }
    return replace(a, name=f"{a.name}+{b.name}", **numbers)


def bucket_of(n: int) -> int:
    """Return the bucket that holds `n` units; 0 for none. Thresholds are not applied here.

    Numbers above MAX_UNITS are in the last bucket. Intervals and grids depend only on its lower edge.
    """
    if n < 0:
        raise ValueError(f"{n} is not a number of units")
    return bisect_right(BUCKETS, n, key=lambda limits: limits[0]) - 1


def bucket_range(bucket: int) -> tuple[int, int]:
    """Return the smallest and largest number of units in a bucket; (0, 0) for bucket 0."""
    if not 0 <= bucket < len(BUCKETS):
        raise ValueError(f"{bucket} is not a bucket")
    return BUCKETS[bucket]


def grid_step(units: int, policy: DisclosurePolicy) -> int:
    """Return the step of published values, in thousandths of the range, for a protected group of `units` >= 1 or more.

    The step is the smallest divisor of 1000 that is no finer than `grid_units`/n. For tiny groups it is 1000, so that
    only the ends of the range remain.
    """
    return next((step for step in _DIVISORS if step * units >= 1000 * policy.grid_units), 1000)
