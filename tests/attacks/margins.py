"""Subtracts published groups from the whole: how many counts are left to a group that was withheld?

    python -m tests.attacks.margins --tables 100000

Draws tables of exact counts, perturbs and publishes them, and enumerates for every hidden group the counts that fit
everything published, also by an earlier release with fewer variables. The attacker knows the exact size of every group
and the code. The enumeration shares nothing with `protocol.margins`: sets of counts are the bits of an integer.
"""

import argparse
import math
import random
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from protocol.cell_codes import HIGH_CODED, LOW_CODED, NOT_RUN, SUPPRESSED
from protocol.disclosure import CellSums, release_cell
from protocol.margins import Figure, MarginTable, admit_counts, build_table, close_margins
from protocol.policy import DisclosurePolicy, bucket_of, bucket_range, grid_step, parse_policy
from protocol.scorecard import Cell

POLICIES = Path(__file__).parents[2] / "policies" / "disclosure"
CELL = Cell("ward", "exact_match", None, "private", True, 0, 1)

Rule = Callable[[MarginTable, DisclosurePolicy, Sequence[MarginTable]], frozenset[str]]


@dataclass(frozen=True)
class Published:
    """One release as its readers see it, and the exact sizes that the attacker knows besides.

    Attributes:
        units: of the whole, and of each group by its key.
        whole: value or code.
        margins: variable -> key of a group -> value or code.
    """

    units: Mapping[str, int]
    whole: int
    margins: Mapping[str, Mapping[str, int]]

    def figures(
        self, *, sizes_of_suppressed: bool = True
    ) -> tuple[Figure, dict[str, dict[str, Figure]]]:
        """Return the figures with buckets, as a statement has them.

        Sizes below 11 are withheld; with `sizes_of_suppressed=False` those of all suppressed groups are.
        """

        def figure(key: str, value: int) -> Figure:
            is_withheld = self.units[key] < 11 or (
                value in {SUPPRESSED, NOT_RUN} and not sizes_of_suppressed
            )
            return Figure(0 if is_withheld else bucket_of(self.units[key]), value)

        margins: dict[str, dict[str, Figure]] = {}
        for variable, groups in self.margins.items():
            margins[variable] = {key: figure(key, value) for key, value in groups.items()}
        return figure("whole", self.whole), margins

    def table(self, policy: DisclosurePolicy) -> MarginTable:
        """Return the input of the audit."""
        margins = {}
        for variable, groups in self.margins.items():
            margins[variable] = {
                key: admit_counts(value, self.units[key], policy) for key, value in groups.items()
            }
        return build_table(admit_counts(self.whole, self.units["whole"], policy), margins)

    def suppress(self, keys: frozenset[str]) -> "Published":
        """Return the release with more groups suppressed."""
        margins = {}
        for variable, groups in self.margins.items():
            margins[variable] = {
                key: SUPPRESSED if key in keys else value for key, value in groups.items()
            }
        return Published(self.units, self.whole, margins)

    def leave_out(self, variable: str) -> "Published":
        """Return the release of a scorecard without one variable."""
        return Published(
            self.units,
            self.whole,
            {name: groups for name, groups in self.margins.items() if name != variable},
        )


def close_by_counting(
    table: MarginTable, policy: DisclosurePolicy, earlier: Sequence[MarginTable]
) -> frozenset[str]:
    """Apply the rule of commit 56f8cdc: withhold two groups as soon as one is, and look at no count."""
    suppressed: set[str] = set()
    for groups in table.margins.values():
        shown = {key: cell for key, cell in groups.items() if not cell.hidden}
        while shown and (table.whole.hidden or 0 < len(groups) - len(shown) < policy.margin_hidden):
            smallest = min(shown, key=lambda key: shown[key].units)
            del shown[smallest]
            suppressed.add(smallest)
    return frozenset(suppressed)


def draw_release(seed: int, policy: DisclosurePolicy) -> Published:
    """Draw exact counts of a table and publish each alone, as the gate does before it looks at margins."""
    draw = random.Random(seed)
    counts_of = np.random.default_rng(seed)
    total = round(math.exp(draw.uniform(math.log(22), math.log(1500))))
    rate = draw.choice([draw.random(), draw.betavariate(8, 2), draw.betavariate(1, 6)])
    successes = sum(draw.random() < rate for _ in range(total))
    units = {"whole": total}
    margins: dict[str, dict[str, int]] = {}
    for variable in ["age", "sex", "ward"][: draw.randint(1, 3)]:
        sizes = draw_sizes(draw, total)
        counts = [int(count) for count in counts_of.multivariate_hypergeometric(sizes, successes)]
        if draw.random() < 0.3:
            counts = concentrate(sizes, successes, draw)
        listed = len(sizes) - draw.choice([0, 0, 1])
        margins[variable] = {}
        for position in range(max(1, listed)):
            key = f"ward/{variable}.{position}"
            units[key] = sizes[position]
            margins[variable][key] = publish_alone(counts[position], sizes[position], draw, policy)
    return Published(units, publish_alone(successes, total, draw, policy), margins)


def draw_sizes(draw: random.Random, total: int) -> list[int]:
    """Divide all units into 2 to 6 groups, often of very different size."""
    skew = draw.choice([0.3, 1, 4])
    weights = [draw.random() ** skew + 1e-9 for _ in range(draw.randint(2, 5))]
    sizes = [int(total * weight / sum(weights)) for weight in weights]
    sizes[0] += total - sum(sizes)
    draw.shuffle(sizes)
    return sizes


def concentrate(sizes: list[int], successes: int, draw: random.Random) -> list[int]:
    """Give the successes to some groups first: the others have nearly none."""
    counts = [0] * len(sizes)
    for position in draw.sample(range(len(sizes)), len(sizes)):
        counts[position] = min(sizes[position], successes - sum(counts))
    return counts


def publish_alone(count: int, units: int, draw: random.Random, policy: DisclosurePolicy) -> int:
    """Perturb one count and decide its value or code, as if nothing else were published."""
    noise = 0.0
    if policy.perturbation_units:
        rate = 1 / policy.perturbation_units
        noise = draw.expovariate(rate) - draw.expovariate(rate)
    bucket = bucket_of(units) if units >= policy.min_units else 0
    return release_cell(CELL, CellSums(units, count + noise, count + noise), bucket, policy)


def admitted_bits(value: int, units: int, policy: DisclosurePolicy) -> int:
    """Return the counts that one figure admits: bit k stands for k successes."""
    if value in {SUPPRESSED, NOT_RUN}:
        return (1 << (units + 1)) - 1
    if value == LOW_CODED:
        return (1 << (min(units, policy.min_events) + 1)) - 1
    if value == HIGH_CODED:
        return ((1 << (min(units, policy.min_events) + 1)) - 1) << max(0, units - policy.min_events)
    noise = 3 * policy.perturbation_units + 1
    step = grid_step(bucket_range(bucket_of(units))[0], policy)
    bits = 0
    for count in range(units + 1):
        # Some noise of at most that size moves count / units to within half a step of the value.
        if 2 * abs(1000 * count - value * units) <= step * units + 2000 * noise:
            bits |= 1 << count
    return bits


def add_bits(a: int, b: int) -> int:
    """Return the sums of a count of one set and a count of the other."""
    sums = 0
    while b:
        lowest = b & -b
        sums |= a * lowest
        b ^= lowest
    return sums


@dataclass
class Attacker:
    """Joins releases of the same units and enumerates."""

    policy: DisclosurePolicy
    units: dict[str, int] = field(default_factory=dict)
    bits: dict[str, int] = field(default_factory=dict)
    hidden: dict[str, bool] = field(default_factory=dict)
    variables: dict[str, set[str]] = field(default_factory=dict)

    def learn(self, published: Published) -> None:
        """Take in one release."""
        self._learn_figure("whole", published.whole, published.units["whole"])
        for variable, groups in published.margins.items():
            self.variables.setdefault(variable, set()).update(groups)
            for key, value in groups.items():
                self._learn_figure(key, value, published.units[key])

    def _learn_figure(self, key: str, value: int, units: int) -> None:
        self.units[key] = units
        self.bits[key] = self.bits.get(key, -1) & admitted_bits(value, units, self.policy)
        self.hidden[key] = self.hidden.get(key, True) and value < 0

    def enumerate_hidden(self) -> Iterator[tuple[str, int, int]]:
        """Yield key, units and number of feasible counts of every hidden group, unlisted units included."""
        sets: dict[str, dict[str, int]] = {}
        whole = self.bits["whole"]
        for variable, keys in self.variables.items():
            unlisted = self.units["whole"] - sum(self.units[key] for key in keys)
            self.units[variable] = unlisted
            sets[variable] = {
                variable: (1 << (unlisted + 1)) - 1,
                **{key: self.bits[key] for key in keys},
            }
            sums = 1
            for bits in sets[variable].values():
                sums = add_bits(sums, bits)
            whole &= sums
        for of_variable in sets.values():
            for key, bits in of_variable.items():
                if not self.hidden.get(key, True):
                    continue
                others = 1
                for other, other_bits in of_variable.items():
                    if other != key:
                        others = add_bits(others, other_bits)
                fitting = [
                    x for x in range(bits.bit_length()) if bits >> x & 1 and (others << x) & whole
                ]
                yield key, self.units[key], len(fitting)


@dataclass
class Outcome:
    """What the attack found.

    Attributes:
        tables: releases judged together with the one before them, if there was one.
        groups, shown: groups of the releases, and how many of them have a value.
        hidden: hidden groups, unlisted units included where there are some.
        narrow: hidden groups of n units with fewer than min_events feasible counts, or n + 1 where that is less.
        narrow_by_whole: such groups in tables where no group has a value or code, so that only the whole tells of them.
        narrowest: fewest feasible counts of a hidden group that could have min_events.
        contradictions: tables whose noise went beyond what the attacker reckons with, so that nothing fits.
    """

    tables: int = 0
    groups: int = 0
    shown: int = 0
    hidden: int = 0
    narrow: int = 0
    narrow_by_whole: int = 0
    narrowest: int | None = None
    contradictions: int = 0


def attack(seeds: range, policy: DisclosurePolicy, rule: Rule = close_margins) -> Outcome:
    """Publish a table for each seed, closed by the rule, and enumerate what its hidden groups can be."""
    outcome = Outcome()
    for seed in seeds:
        complete = draw_release(seed, policy)
        attacker = Attacker(policy)
        earlier: list[MarginTable] = []
        if seed % 3 == 0:
            first = complete.leave_out(next(iter(complete.margins)))
            first = first.suppress(rule(first.table(policy), policy, []))
            attacker.learn(first)
            earlier.append(first.table(policy))
        published = complete.suppress(rule(complete.table(policy), policy, earlier))
        attacker.learn(published)
        _judge(published, attacker, outcome)
    return outcome


def _judge(published: Published, attacker: Attacker, outcome: Outcome) -> None:
    values = [value for groups in published.margins.values() for value in groups.values()]
    outcome.tables += 1
    outcome.groups += len(values)
    outcome.shown += sum(value >= 0 for value in values)
    hidden = [(units, counts) for _, units, counts in attacker.enumerate_hidden() if units]
    if hidden and not any(counts for _, counts in hidden):
        outcome.contradictions += 1
        return
    some_group_speaks = any(value not in {SUPPRESSED, NOT_RUN} for value in values)
    for units, counts in hidden:
        outcome.hidden += 1
        if counts < min(attacker.policy.min_events, units + 1):
            outcome.narrow += some_group_speaks
            outcome.narrow_by_whole += not some_group_speaks
        if units + 1 >= attacker.policy.min_events:
            outcome.narrowest = min(
                counts, outcome.narrowest if outcome.narrowest is not None else counts
            )


def read_policy(name: str) -> DisclosurePolicy:
    """Return a profile of the repository."""
    return parse_policy(yaml.safe_load((POLICIES / f"{name}.yaml").read_text("utf-8")))


def main() -> int:
    """Run the attack and print what it found; fail if a hidden group is narrow."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.attacks.margins", description=__doc__.split("\n")[0]
    )
    parser.add_argument(
        "--tables", type=int, default=100_000, help="number of tables (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument(
        "--policy", default="strict", help="profile in policies/disclosure (default: %(default)s)"
    )
    parser.add_argument(
        "--without-audit", action="store_true", help="apply the rule of commit 56f8cdc instead"
    )
    options = parser.parse_args()
    policy = read_policy(options.policy)
    rule = close_by_counting if options.without_audit else close_margins
    started = time.monotonic()
    outcome = attack(range(options.seed, options.seed + options.tables), policy, rule)
    print(f"tables {outcome.tables}")
    print(f"groups {outcome.groups}, with a value {outcome.shown}")
    print(f"hidden cells {outcome.hidden}")
    print(f"hidden cells with too few feasible counts {outcome.narrow}")
    print(f"the same where no group speaks, only the whole {outcome.narrow_by_whole}")
    print(f"narrowest {outcome.narrowest}, at least {policy.min_events} wanted")
    print(f"tables that contradict themselves {outcome.contradictions}")
    print(f"seconds {time.monotonic() - started:.0f}")
    return 1 if outcome.narrow else 0


if __name__ == "__main__":
    sys.exit(main())
