"""From the site's store to findings: what the runs of one suite found out about the cells of a scorecard.

Only what the scorecard's words promise is taken: the registered benchmark, asked as it is defined, scored by this
version, with units that somebody named. Everything else is refused here, whatever its figures look like.
"""

from collections.abc import Collection, Mapping
from typing import Any, Final

from agent import __version__
from agent.disclosure.findings import Finding
from agent.errors import ConfigError, DisclosureError
from agent.store import Run, Store
from protocol.scorecard import Cell, Scorecard

NAME_UNITS: Final = "Name the column of the patient (or document) with `unit_column` in its benchmark.yaml."
_KNOWN_DATA: Final = frozenset({"official", "sample", "invented"})
_DECISIVE: Final = (
    "agent_version",
    "language_model",
    "lineage",
    "max_tokens",
    "overrides",
    "sample_seed",
    "sampled",
    "stop",
    "temperature",
    "unit_named",
)
_LENGTHS: Final = frozenset({"num_output_tokens", "increase_max_tokens"})  # the second can only raise the limit
_RUN_AGAIN: Final = "Give the same `intramural run` again: the answers are kept, so nothing is asked again."


def collect(
    store: Store,
    suite: str,
    scorecard: Scorecard,
    models: Collection[str] = (),
    *,
    token_limits: Mapping[str, int],
) -> dict[str, list[Finding]]:
    """Return the findings of every model of the suite, or of `models` alone, by the model's name.

    Cells of subgroups have none: the store does not know subgroups yet.

    Args:
        store: the site's.
        suite: whose runs are taken.
        scorecard: its cells are looked for.
        models: names; empty takes all.
        token_limits: length limit of an answer in tokens, by the digest of a benchmark's definition.

    Raises:
        ConfigError: there is no such suite, or it has no runs of a named model.
        DisclosureError: a run was asked or scored otherwise than the benchmark says, by another version, or its units
            have no names.
    """
    if suite not in store.suites():
        known = ", ".join(store.suites()) or "none yet"
        raise ConfigError(f"there is no suite {suite} (suites here: {known})", "Name a suite with --suite.")
    runs = [run for run in store.runs(suite) if not models or run.model in models]
    lacking = sorted(set(models) - {run.model for run in runs})
    if lacking:
        raise ConfigError(
            f"suite {suite} has no runs of {', '.join(lacking)}", "`intramural summarize` shows the models it has."
        )
    found: dict[str, list[Finding]] = {}
    for run in runs:
        metrics = {facts["name"]: facts for facts in run.details["metrics"]}
        cells = [
            cell
            for cell in scorecard.cells
            if cell.benchmark == run.benchmark and cell.subgroup is None and cell.metric in metrics
        ]
        if cells:
            _check_run(run, cells, token_limits)
            found.setdefault(run.model, []).extend(_finding(store, run, metrics[cell.metric]) for cell in cells)
    return found


def _check_run(run: Run, cells: Collection[Cell], token_limits: Mapping[str, int]) -> None:
    details: Any = run.details
    if any(key not in details for key in _DECISIVE) or not details["lineage"]:
        raise DisclosureError(f"{run.benchmark}: it was run before its units and settings were noted", _RUN_AGAIN)
    if details["agent_version"] != __version__:
        raise DisclosureError(
            f"{run.benchmark}: scored by version {details['agent_version']} of the agent, this is {__version__}, "
            "which would sign as its own what another version found out",
            _RUN_AGAIN,
        )
    if details["scoring"] != "intramural":
        raise DisclosureError(
            f"{run.benchmark}: its answers were scored by {details['scoring']}'s rules, which cannot be submitted",
            "Run it again without --scoring; the answers are kept, so nothing is asked again.",
        )
    changed = _changes(details, token_limits)
    if changed:
        raise DisclosureError(
            f"{run.benchmark}: it was asked otherwise than the registered benchmark says: {', '.join(changed)}",
            "Run it without that in a suite of its own, and submit that suite.",
        )
    # Data that nobody published is the hospital's own, whatever the benchmark's name promises; and all data of its
    # own is of one lineage, which a benchmark that calls itself public or gated would escape.
    if details["data"]["known"] not in _KNOWN_DATA and details["access"] != "private":
        raise DisclosureError(
            f"{run.benchmark}: its access level is private here, for the data is the site's own, but "
            f"{details['access']} in its definition",
            "Run the published data; or make a benchmark of your own for your data, with `access: private`.",
        )
    protected = details["access"] != "public" or any(cell.protected for cell in cells)
    if protected and not details["unit_named"]:
        raise DisclosureError(
            f"{run.benchmark}: its units are row numbers, and rows of one patient would count as many patients",
            f"{NAME_UNITS} Have a scorecard with that definition registered, and run it again: the answers are kept.",
        )


def _changes(details: Mapping[str, Any], token_limits: Mapping[str, int]) -> list[str]:
    """Return in words what makes a run another benchmark than the registered one. A longer limit does not."""
    given = set(details["overrides"])
    changed = sorted(given - _LENGTHS - {"temperature", "stop"})
    if details["temperature"] != 0:
        changed.append(f"temperature={details['temperature']:g}")
    if details["stop"]:
        changed.append("stop")
    if "num_output_tokens" in given:
        limit = token_limits.get(details["benchmark_digest"])
        if limit is None:
            changed.append("num_output_tokens (and its definition is not here to compare)")
        elif details["max_tokens"] < limit:
            changed.append(f"num_output_tokens (at most {details['max_tokens']}, {limit} in the benchmark)")
    if details["sample_seed"] != 0:
        changed.append(f"--sample-seed {details['sample_seed']}")
    return changed


def _finding(store: Store, run: Run, facts: Mapping[str, Any]) -> Finding:
    details: Any = run.details
    return Finding(
        benchmark=run.benchmark,
        metric=facts["name"],
        definition=details["benchmark_digest"],
        access=details["access"],
        binary=facts["binary"],
        low=facts["low"],
        high=facts["high"],
        scores=store.unit_scores(run.run_id, facts["name"]),
        lineage=details["lineage"],
        known=details["data"]["known"],
        available=details["data"]["instances"],
        language_model=details["language_model"],
    )
