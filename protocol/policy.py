"""Disclosure policies: the numbers, the buckets for group sizes and the grid for values."""

from bisect import bisect_right
from dataclasses import asdict, dataclass, fields, replace

from protocol import schema
from protocol.identity import tagged_digest

MAX_UNITS = 1_000_000  # where the scale of buckets ends: a larger group counts as one of so many


def _buckets() -> tuple[tuple[int, int], ...]:
    lows = [0, 1]
    while len(lows) < 64:
        lows.append(lows[-1] + 5 * max(1, lows[-1] * 17 // 500))
    return tuple(zip(lows, [*(low - 1 for low in lows[1:]), MAX_UNITS], strict=True))


BUCKETS = _buckets()
"""Inclusive ranges of numbers of units; index 0 stands for "none, or below the threshold". 64 in all, at least 5 wide
and about 17 % wide, with 11 as a lower edge; the last ends at MAX_UNITS (rule 8.6)."""


@dataclass(frozen=True, slots=True)
class DisclosurePolicy:
    """What may leave. All numbers are integers; percentages are whole.

    Attributes:
        name, version: of the profile, for example `strict`, 1.
        min_units: units behind a published figure or group size.
        min_events: successes, and failures, behind a figure; else it is coded or suppressed. Scores between the ends
            of a metric's range count by their share of it.
        grid_units: values lie on a grid no finer than `grid_units`/n.
        perturbation_units: scale of the Laplace noise on the sum of a cell's unit scores, in units; the standard
            deviation is 1.41 times as much.
        metrics_per_group: figures of one protected group that may leave.
        variables_per_benchmark: variables (sex, ward, ...) that divide a protected benchmark's units in figures; each
            is one more look at every patient.
        margin_hidden: groups to withhold in a margin as soon as one is.
        dominance_n, dominance_percent: the n largest contributions must stay below this share of the sum.
        p_percent: everyone but the two largest must contribute at least this share of the largest.
        max_share_percent: one unit's largest share of a mean.
        changed_units: units that must be added, removed or rescored between two releases of a lineage, unless none is.
        monthly_submissions: a model, lineage and month.
        pooled_sites, pooled_share_percent: sites behind a pooled figure; the largest's most units.
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
    """Read a policy from JSON (or YAML) values: exactly the attributes of DisclosurePolicy.

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
    """Return, number by number, the stricter of two policies. Two that differ merge into `a+b`, registered nowhere."""
    if a == b:
        return a
    numbers = {
        name: (min if name in _LESS_IS_STRICTER else max)(getattr(a, name), getattr(b, name))
        for name in _NUMBERS
    }
    return replace(a, name=f"{a.name}+{b.name}", **numbers)


def bucket_of(n: int) -> int:
    """Return the bucket that holds `n` units; 0 for none. Thresholds are not applied here.

    More than MAX_UNITS are in the last bucket, whose lower edge is all that intervals and grids are made from.
    """
    if n < 0:
        raise ValueError(f"{n} is not a number of units")
    return bisect_right(BUCKETS, n, key=lambda limits: limits[0]) - 1


def bucket_range(bucket: int) -> tuple[int, int]:
    """Return the least and the largest number of units in a bucket; (0, 0) for bucket 0."""
    if not 0 <= bucket < len(BUCKETS):
        raise ValueError(f"{bucket} is not a bucket")
    return BUCKETS[bucket]


def grid_step(units: int, policy: DisclosurePolicy) -> int:
    """Return the step of published values, in thousandths of the range, for a protected group of at least `units` >= 1.

    The smallest divisor of 1000 that is no finer than `grid_units`/n; 1000 (nothing between the ends) for tiny groups.
    """
    return next((step for step in _DIVISORS if step * units >= 1000 * policy.grid_units), 1000)
