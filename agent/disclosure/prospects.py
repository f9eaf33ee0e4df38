"""What can be said about figures before the gate decides them, without looking at a score of protected data. Pure.

The gate's verdicts on protected figures are not foretold: they depend on the scores, and whoever could ask for them
without a debit to the ledger could run a model again until they are to their liking.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.disclosure.findings import Finding
from protocol.scorecard import Cell, Scorecard

NOT_RUN = "not run"
UNREGISTERED = "refused: its data is not registered, so register that first"
DECIDED_LATER = "the gate decides when it is drafted"
PUBLIC = "leaves as it is: the benchmark is public"
PARTIAL = "leaves as it is; the board marks the result as partial"


@dataclass(frozen=True, slots=True)
class Prospect:
    """What is certain about one figure before it is drafted.

    Attributes:
        benchmark: id of the benchmark.
        metric: name of the metric.
        subgroup: `variable.value`; empty for all units.
        words: what becomes of it, as far as that is certain.
        extent: how much of the data was asked, such as "20 of 100 instances"; empty if it was not run.
    """

    benchmark: str
    metric: str
    subgroup: str
    words: str
    extent: str = ""


def foretell(scorecard: Scorecard, findings: Sequence[Finding]) -> list[Prospect]:
    """Return one entry for each cell of a scorecard, in its order."""
    by_cell = {
        (finding.benchmark, finding.metric, finding.subgroup): finding for finding in findings
    }
    prospects: list[Prospect] = []
    for cell in scorecard.cells:
        finding = by_cell.get((cell.benchmark, cell.metric, cell.subgroup))
        # Groups take their data from the finding about all units.
        whole = by_cell.get((cell.benchmark, cell.metric, None))
        prospects.append(_foretell_cell(cell, finding, whole))
    return prospects


def _foretell_cell(cell: Cell, finding: Finding | None, whole: Finding | None) -> Prospect:
    subgroup = cell.subgroup or ""
    if finding is None or not finding.asked:
        return Prospect(cell.benchmark, cell.metric, subgroup, NOT_RUN)
    words = DECIDED_LATER
    if not cell.protected:
        words = PUBLIC if finding.whole else PARTIAL
    elif whole is None or not whole.dataset:
        words = UNREGISTERED
    return Prospect(cell.benchmark, cell.metric, subgroup, words, str(finding.extent))
