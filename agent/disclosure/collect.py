"""From the site's store to findings: what the runs of one suite found out about the cells of a scorecard."""

from collections.abc import Collection
from typing import Any

from agent.disclosure.findings import Finding
from agent.errors import DisclosureError
from agent.store import Run, Store
from agent.vocabulary import AccessLevel
from protocol.scorecard import Scorecard

_KNOWN_DATA = frozenset({"official", "sample", "invented"})


def collect(store: Store, suite: str, scorecard: Scorecard, models: Collection[str] = ()) -> dict[str, list[Finding]]:
    """Return the findings of every model of the suite, or of `models` alone, by the model's name.

    Cells of subgroups have none: the store does not know subgroups yet.

    Raises:
        DisclosureError: the suite has no runs, or none of a named model, or answers were scored by other rules.
    """
    runs = [run for run in store.runs(suite) if not models or run.model in models]
    lacking = sorted(set(models) - {run.model for run in runs})
    if not runs or lacking:
        whose = f" of {', '.join(lacking)}" if lacking else ""
        raise DisclosureError(f"the suite has no runs{whose}", "Name a suite that `intramural summarize` can show.")
    found: dict[str, list[Finding]] = {run.model: [] for run in runs}
    for run in runs:
        for cell in scorecard.cells:
            if cell.benchmark == run.benchmark and cell.subgroup is None:
                finding = _finding(store, run, cell.metric)
                if finding is not None:
                    found[run.model].append(finding)
    return {model: findings for model, findings in found.items() if findings}


def _finding(store: Store, run: Run, metric: str) -> Finding | None:
    details: Any = run.details
    facts = next((facts for facts in details["metrics"] if facts["name"] == metric), None)
    if facts is None:
        return None
    if details["scoring"] != "intramural":
        raise DisclosureError(
            f"{run.benchmark}: its answers were scored by {details['scoring']}'s rules, which cannot be submitted",
            "Run it again without --scoring; the answers are kept, so nothing is asked again.",
        )
    # Data that nobody published is the hospital's own, whatever the benchmark's name promises.
    access: AccessLevel = details["access"] if details["data"]["known"] in _KNOWN_DATA else "private"
    return Finding(
        benchmark=run.benchmark,
        metric=metric,
        definition=details["benchmark_digest"],
        access=access,
        binary=facts["binary"],
        low=facts["low"],
        high=facts["high"],
        scores=store.unit_scores(run.run_id, metric),
    )
