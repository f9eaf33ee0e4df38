"""The verdicts of the gate: the rules that can decide a figure, their explanations, and suppression."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from agent.disclosure.ledger import ReleasedCell
from protocol.cell_codes import NOT_RUN, SUPPRESSED
from protocol.disclosure import NO_SPREAD
from protocol.scorecard import Cell


class GateRule(StrEnum):
    """The rule that decided a figure. The values are used in verdict files; `EXPLAINED` has texts for people."""

    PUBLIC = "public"
    ROUNDED = "rounded"
    NOT_RUN = "not_run"
    FEW_UNITS = "few_units"
    MARGIN = "margin"
    FEW_SUCCESSES = "few_successes"
    FEW_FAILURES = "few_failures"
    UNSAFE = "unsafe"
    SURPLUS = "surplus"
    PART = "part"
    REPEATED = "repeated"
    NEAR_VERSION = "near_version"
    OTHER_METRIC = "other_metric"
    OTHER_VARIABLE = "other_variable"
    MANY_NAMES = "many_names"
    LOST_ENTRIES = "lost_entries"
    NO_PRECEDENT = "no_precedent"


EXPLAINED: Final[Mapping[GateRule, str]] = {
    GateRule.PUBLIC: "published unchanged: the benchmark is public",
    GateRule.ROUNDED: "published: perturbed, and rounded to the grid for the number of units",
    GateRule.NOT_RUN: "not run",
    GateRule.FEW_UNITS: "suppressed: too few units",
    GateRule.MARGIN: "suppressed: a smaller group could be computed from it",
    GateRule.FEW_SUCCESSES: "low-coded: too few successes to publish a value, according to the perturbed count",
    GateRule.FEW_FAILURES: "high-coded: too few failures to publish a value, according to the perturbed count",
    GateRule.UNSAFE: "suppressed: no rounding would hide the scores of a few units",
    GateRule.SURPLUS: "suppressed: another figure about the same units leaves, and several together would reveal more",
    GateRule.PART: "suppressed: not every unit of the registered dataset was asked",
    GateRule.REPEATED: "repeated from an earlier release: too few units have changed since",
    GateRule.NEAR_VERSION: "suppressed: figures of a dataset that differs by too few units were prepared before",
    GateRule.OTHER_METRIC: "suppressed: another metric of the same units was prepared before",
    GateRule.OTHER_VARIABLE: "suppressed: groups of too many other variables of the same units were prepared before",
    GateRule.MANY_NAMES: "suppressed: nearly the same scores were prepared for too many other models this month",
    GateRule.LOST_ENTRIES: "suppressed: entries of the ledger about this dataset were lost; register a newer version",
    GateRule.NO_PRECEDENT: "suppressed: too few units changed since an earlier release, which has no figure to repeat",
}


@dataclass(frozen=True, slots=True)
class DecidedFigures:
    """The decided figures of some benchmarks; for the fields see `agent.disclosure.gate.GatedRelease`."""

    groups: dict[str, int] = field(default_factory=dict)
    cells: dict[str, int] = field(default_factory=dict)
    spreads: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, GateRule] = field(default_factory=dict)
    footprint: dict[str, ReleasedCell] = field(default_factory=dict)

    def add(self, figures: "DecidedFigures") -> None:
        """Add figures; they replace existing figures with the same keys."""
        self.groups.update(figures.groups)
        self.cells.update(figures.cells)
        self.spreads.update(figures.spreads)
        self.verdicts.update(figures.verdicts)
        self.footprint.update(figures.footprint)

    def withhold(self, cell: Cell, rule: GateRule) -> None:
        """Replace a cell's figure by the code for a suppressed cell or, if it was not run, by the code for that."""
        self.cells[cell.key] = NOT_RUN if rule is GateRule.NOT_RUN else SUPPRESSED
        self.verdicts[cell.key] = rule
        if not cell.binary:
            self.spreads[cell.key] = NO_SPREAD


def suppress_subgroups(
    cells: Sequence[Cell], figures: DecidedFigures, rule: GateRule
) -> DecidedFigures:
    """Return a benchmark's figures with all subgroup cells suppressed."""
    subgroup_cells = [cell for cell in cells if cell.subgroup is not None]
    remaining = DecidedFigures()
    remaining.add(figures)
    remaining.add(suppress_all(subgroup_cells, figures, rule))
    for cell in cells:
        if cell.subgroup is None:
            remaining.groups[cell.group] = figures.groups[cell.group]
        else:
            remaining.footprint.pop(cell.key, None)
    return remaining


def suppress_all(cells: Sequence[Cell], figures: DecidedFigures, rule: GateRule) -> DecidedFigures:
    """Return a benchmark's figures with every cell that was run suppressed and the group sizes withheld."""
    suppressed = DecidedFigures(groups=dict.fromkeys(figures.groups, 0))
    for cell in cells:
        was_run = figures.cells[cell.key] != NOT_RUN
        suppressed.withhold(cell, rule if was_run else GateRule.NOT_RUN)
    return suppressed
