"""Attacks histories of invented hospitals and prints what was recovered. See README.md in this folder."""

import argparse
import sys
import time

from tests.attacks.attacker import BOUND
from tests.attacks.histories import (
    MIN_AGAIN,
    MIN_UTILITY,
    POLICIES,
    Outcome,
    attack_in_parallel,
)


def main() -> int:
    """Run the attack; fail if anything is recovered, or too little published."""
    parser = argparse.ArgumentParser(prog="python -m tests.attacks", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="first seed (default: %(default)s)")
    parser.add_argument(
        "--histories", type=int, default=1000, help="over all policies (default: %(default)s)"
    )
    parser.add_argument(
        "--policy", action="append", choices=POLICIES, help="default: each of them in turn"
    )
    parser.add_argument("--processes", type=int, default=2, help="default: %(default)s")
    options = parser.parse_args()
    started = time.monotonic()
    seeds = range(options.seed, options.seed + options.histories)
    outcomes = attack_in_parallel(seeds, tuple(options.policy or POLICIES), options.processes)
    print_table(outcomes)
    print(f"\nseconds {time.monotonic() - started:.0f}")
    return 0 if all(outcome.holds for outcome in outcomes.values()) else 1


def print_table(outcomes: dict[str, Outcome]) -> None:
    """Print one column for each policy."""
    rows: list[tuple[str, list[str]]] = []

    def add(name: str, values: list[str]) -> None:
        rows.append((name, values))

    found = list(outcomes.values())
    add("", list(outcomes))
    add("histories", [str(o.histories) for o in found])
    add("releases", [str(o.releases) for o in found])
    add("figures that depend on scores", [str(o.figures) for o in found])
    add("versions registered / refused", [f"{o.registered} / {o.refused}" for o in found])
    add("outcomes attacked", [str(o.findings.attacked) for o in found])
    add("outcomes recovered", [str(o.findings.recovered) for o in found])
    add("certainty of her best guess", [f"{o.findings.certainty:.4f}" for o in found])
    add("most draws behind one outcome", [str(o.findings.looks) for o in found])
    add(
        "recovered if noise had bounds (1)",
        [
            f"{o.findings.recovered_if_bounded}, expected {o.findings.expected_if_bounded:.1f}"
            for o in found
        ],
    )
    add("... and truths she would exclude", [str(o.findings.impossible_if_bounded) for o in found])
    add(f"released again, at least {100 * MIN_AGAIN:.0f} %", [str(o.again) for o in found])
    add(f"utility (2), at least {100 * MIN_UTILITY:.0f} %", [str(o.whole_utility) for o in found])
    for style in next(iter(found)).utility:
        add(f"... of histories '{style}'", [str(o.utility[style]) for o in found])
    add("submissions that cannot be sent", [str(sum(o.unsendable.values())) for o in found])
    width = max(len(name) for name, _ in rows)
    columns = [max(len(values[place]) for _, values in rows) for place in range(len(found))]
    for name, values in rows:
        cells = [value.rjust(columns[place]) for place, value in enumerate(values)]
        print(name.ljust(width), *cells, sep="  ")
    print(
        f"\n(1) She takes noise beyond {BOUND:.1f} scales for impossible, which it is 999 of 1,000 times."
    )
    print(
        "(2) Of main metrics with at least 100 units, 11 successes and 11 failures: published, or repeated."
    )
    for outcome in found:
        for example in outcome.findings.examples[:3]:
            print("recovered:", example)


if __name__ == "__main__":
    sys.exit(main())
