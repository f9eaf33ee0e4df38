"""From the site's store to findings: what the runs of one suite found out about the cells of a scorecard.

Only what the scorecard's words promise is taken: the registered benchmark, the whole of it, asked here as it is
defined, scored by this version, with units that somebody named. Everything else is refused here, whatever its
figures look like.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Final, cast

from agent import __version__
from agent.disclosure.findings import Finding
from agent.errors import ConfigError, DisclosureError
from agent.jury.registered_jury import describe_other_jury
from agent.metrics import JUDGED, MetricUse
from agent.runs.definition import SITE_LINEAGE
from agent.scoring.measures import Rules
from agent.store import KeptMetric, Run, RunDetails, Store, UnitScore
from agent.vocabulary import AccessLevel, ScoringChoice
from protocol.scorecard import Cell, Scorecard

NAME_UNITS: Final = "Name the column of the patient (or document) with `unit_column` in its benchmark.yaml."
_KNOWN_DATA: Final = frozenset({"official", "sample", "invented"})
_DECISIVE: Final = frozenset(
    {
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
    }
)
_ALIKE: Final = (
    *("access", "benchmark_digest", "language_model", "lineage", "max_tokens", "parts", "prompt_limit", "unit_named"),
    *("metrics", "scoring"),
)
_ALL_PARTS: Final = "A benchmark is submitted whole: run every part of it on data of one kind, each once."
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

    Args:
        store: the site's.
        suite: whose runs are taken.
        scorecard: its cells are looked for.
        models: names; empty takes all.
        token_limits: length limit of an answer in tokens, by the digest of a benchmark's definition.

    Raises:
        ConfigError: there is no such suite, or it has no runs of a named model.
        DisclosureError: a run was asked or scored otherwise than the benchmark says, by another version or another
            jury, or its units have no names.
    """
    store.runs.require_suite(suite)
    runs = [run for run in store.runs.select(suite) if not models or run.model in models]
    lacking = sorted(set(models) - {run.model for run in runs})
    if lacking:
        raise ConfigError(
            f"suite {suite} has no runs of {', '.join(lacking)}", "`intramural summarize` shows the models it has."
        )
    found: dict[str, list[Finding]] = {}
    parts: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cells = _cells(scorecard, run)
        if cells:
            _check_run(run, cells, token_limits)
            _check_juries(run, cells, scorecard)
            if run.details.parts:
                parts.setdefault((run.model, run.benchmark), []).append(run)
            else:
                found.setdefault(run.model, []).extend(_findings(store, [run], cells))
    for (model, _), of_benchmark in parts.items():
        check_parts(store, of_benchmark)
        found.setdefault(model, []).extend(_findings(store, of_benchmark, _cells(scorecard, of_benchmark[0])))
    return found


def _cells(scorecard: Scorecard, run: Run) -> list[Cell]:
    """Return the cells that the run says something about."""
    metrics = {metric.name for metric in run.details.metrics}
    return [cell for cell in scorecard.cells if cell.benchmark == run.benchmark and cell.metric in metrics]


def _check_run(run: Run, cells: Collection[Cell], token_limits: Mapping[str, int]) -> None:
    details = run.details
    if run.imported:
        raise DisclosureError(
            f"{run.benchmark}: it was imported, and nobody here asked the model or scored its answers",
            "Run it here in a suite of its own, and submit that suite.",
        )
    if _DECISIVE & details.lacking or not details.lineage:
        raise DisclosureError(f"{run.benchmark}: it was run before its units and settings were noted", _RUN_AGAIN)
    if details.agent_version != __version__:
        raise DisclosureError(
            f"{run.benchmark}: scored by version {details.agent_version} of the agent, this is {__version__}, "
            "which would sign as its own what another version found out",
            _RUN_AGAIN,
        )
    if details.scoring not in ("intramural", "both"):
        raise DisclosureError(
            f"{run.benchmark}: its answers were scored by {details.scoring}'s rules, which cannot be submitted",
            f"`intramural rescore --suite {run.suite} --scoring both` scores the stored answers by our rules too, and "
            "keeps HELM's figures; no model is asked.",
        )
    changed = _changes(details, token_limits)
    if changed:
        raise DisclosureError(
            f"{run.benchmark}: it was asked otherwise than the registered benchmark says: {', '.join(changed)}",
            "Run it without that in a suite of its own, and submit that suite.",
        )
    # Data that nobody published is the hospital's own, whatever the benchmark's name promises; and all data of its
    # own is of one lineage, which a benchmark that calls itself public or gated would escape. Gated data, whose
    # publishers give no digests, goes out by the rules of the site's own: protected, and in that one lineage.
    as_own = details.access == "private" or (details.access == "gated" and details.lineage == SITE_LINEAGE)
    if details.data.known not in _KNOWN_DATA and not as_own:
        raise DisclosureError(
            f"{run.benchmark}: its access level is private here, for the data is the site's own, but "
            f"{details.access} in its definition",
            "Run the published data; or make a benchmark of your own for your data, with `access: private`.",
        )
    is_attested = details.access != "gated" if details.data.attested is None else details.data.attested
    if not is_attested:
        raise DisclosureError(
            f"{run.benchmark}: nobody has attested that this site may use its gated data",
            f"Add it with `intramural datasets add {run.benchmark} PATH --replace`, which says what to attest, and run "
            "it again: the answers are kept.",
        )
    protected = details.access != "public" or any(cell.protected for cell in cells)
    if protected and not details.unit_named:
        raise DisclosureError(
            f"{run.benchmark}: its units are row numbers, and rows of one patient would count as many patients",
            f"{NAME_UNITS} Have a scorecard with that definition registered, and run it again: the answers are kept.",
        )


def _check_juries(run: Run, cells: Collection[Cell], scorecard: Scorecard) -> None:
    """Refuse grades for a cell whose registered jury is another one than the run's. A run without judges has none."""
    for cell in cells:
        use = _judged_by(run, cell)
        if use is None:
            continue
        registered = scorecard.jury_of(cell)
        if registered is None:
            raise DisclosureError(
                f"{run.benchmark}: scorecard {scorecard.name} registers no jury for {cell.key}, so no grades enter it",
                "Ask for a scorecard that registers the jury (`intramural benchmarks scorecard --judges FILE`).",
            )
        if difference := describe_other_jury(use, registered):
            raise DisclosureError(
                f"{run.benchmark}: it was graded by another jury than the one that scorecard {scorecard.name} "
                f"registers for {cell.key}: {difference}",
                f"Have its answers graded by the registered jury (`intramural judge --suite {run.suite} --judges FILE "
                "--replace`), or ask for a scorecard that registers yours.",
            )


def _judged_by(run: Run, cell: Cell) -> MetricUse | None:
    """Return the metric of a cell with the judges that graded the run; None if no judge did, or none is needed."""
    if cell.metric not in JUDGED:
        return None
    measures = Rules.of_run(run.details).measures
    found = next((measure.use for measure in measures if measure.name == cell.metric), None)
    return found if found is not None and found.judges else None


def _changes(details: RunDetails, token_limits: Mapping[str, int]) -> list[str]:
    """Return in words what makes a run another benchmark than the registered one. A longer limit does not."""
    given = set(details.overrides) - details.parts.keys()  # whether all parts are there is seen later
    changed = sorted(given - _LENGTHS - {"temperature", "stop"})
    if details.temperature != 0:
        changed.append(f"temperature={details.temperature:g}")
    if details.stop:
        changed.append("stop")
    if "num_output_tokens" in given:
        limit = token_limits.get(details.benchmark_digest)
        if limit is None:
            changed.append("num_output_tokens (and its definition is not here to compare)")
        elif details.max_tokens is not None and details.max_tokens < limit:
            changed.append(f"num_output_tokens (at most {details.max_tokens}, {limit} in the benchmark)")
    if details.sample_seed != 0 and not details.plan:
        changed.append(f"--sample-seed {details.sample_seed}")
    return changed


def _findings(store: Store, runs: Sequence[Run], cells: Sequence[Cell]) -> list[Finding]:
    """Return a finding for every cell whose metric can be submitted: one that instances have, scored by our rules."""
    details = runs[0].details
    metrics = {metric.name: metric for metric in details.metrics if _submittable(metric, details.scoring)}
    groups = _Groups(store, runs) if any(cell.subgroup for cell in cells) else None
    findings = []
    for cell in cells:
        if cell.metric not in metrics or (cell.metric in JUDGED and _judged_by(runs[0], cell) is None):
            continue
        finding = _finding(store, runs, metrics[cell.metric])
        if cell.subgroup is not None and groups is not None:
            finding = groups.restrict(finding, cell.subgroup)
        findings.append(finding)
    return findings


class _Groups:
    """Which instances of some runs belong to which subgroup: `variable.value`, spelled as scorecards spell it."""

    def __init__(self, store: Store, runs: Sequence[Run]) -> None:
        self._names: dict[bytes, set[str]] = {}  # of each unit, over all its instances
        for run in runs:
            units = [unit for unit, _ in store.answers.read_unit_and_instance_keys(run.run_id)]
            for attribute, values in store.answers.read_subgroups(run.run_id).items():
                for unit, value in zip(units, values, strict=True):
                    if value is not None:
                        self._names.setdefault(unit, set()).add(subgroup_name(attribute, value))

    def restrict(self, finding: Finding, subgroup: str) -> Finding:
        """Return the finding of one subgroup alone. Units with several values of its variable are in none."""
        variable = subgroup.partition(".")[0]
        members = {unit for unit, names in self._names.items() if _only_value(names, variable) == subgroup}
        scores = [score for score in finding.scores if score.unit_key in members]
        return replace(finding, scores=scores, subgroup=subgroup)


def subgroup_name(attribute: str, value: str) -> str:
    """Return `variable.value` as a scorecard names it: lower-case letters, digits and dashes."""
    return f"{_slug(attribute)}.{_slug(value)}"


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _only_value(names: set[str], variable: str) -> str | None:
    of_variable = [name for name in names if name.startswith(f"{variable}.")]
    return of_variable[0] if len(of_variable) == 1 else None


def _submittable(metric: KeptMetric, scoring: ScoringChoice) -> bool:
    return (metric.scoring or scoring) == "intramural" and not metric.whole_run


def _finding(store: Store, runs: Sequence[Run], metric: KeptMetric) -> Finding:
    details = runs[0].details
    return Finding(
        benchmark=runs[0].benchmark,
        metric=metric.name,
        definition=details.benchmark_digest,
        access=cast("AccessLevel", details.access),  # imported runs, which may have none, were refused
        binary=metric.binary,
        low=metric.low,
        high=metric.high,
        scores=[score for run in runs for score in _scores(store, run, metric.name, alone=len(runs) == 1)],
        dataset=details.data.registered,
        frozen_digest=details.data.frozen_digest,
        plan=details.plan,
        sample_seed=details.sample_seed,
        known=details.data.known,
        available=sum(run.details.data.instances for run in runs),
        language_model=details.language_model,
    )


def _scores(store: Store, run: Run, metric: str, *, alone: bool) -> list[UnitScore]:
    """Return the run's scores. Parts of a benchmark number their rows alike, so each gets instances of its own."""
    scores = store.scores.read_units(run.run_id, metric)
    if alone:
        return scores
    own, rows = run.run_id.encode(), not run.details.unit_named
    return [
        replace(score, instance_key=own + score.instance_key, unit_key=own + score.unit_key if rows else score.unit_key)
        for score in scores
    ]


def check_parts(store: Store, runs: Sequence[Run]) -> None:
    """See that runs of parts of one benchmark are all of it, each once, alike in everything else.

    Raises:
        DisclosureError: a part is missing or there twice, or they differ in more.
    """
    first = runs[0].details
    name = runs[0].benchmark
    for run in runs:
        is_alike = all(getattr(run.details, key) == getattr(first, key) for key in _ALIKE)
        if run.deployment != runs[0].deployment or not is_alike:
            raise DisclosureError(
                f"{name}: its parts were not run alike (deployment, definition, length, or the like)",
                "Run all of them with the same settings in a suite of their own, and submit that suite.",
            )
        if run.details.data.known != first.data.known:
            raise DisclosureError(f"{name}: its parts were run on data of several kinds", _ALL_PARTS)
    chosen = [tuple(run.details.arguments.get(key, "") for key in first.parts) for run in runs]
    if len(set(chosen)) < len(chosen):
        raise DisclosureError(
            f"{name}: a part of it was run more than once for one model in this suite",
            "Keep one run of each part in the suite you submit.",
        )
    lacking = [part for part in product(*first.parts.values()) if part not in chosen]
    if lacking or len(chosen) > len(list(product(*first.parts.values()))):
        keys = ", ".join(first.parts)
        raise DisclosureError(
            f"{name}: {len(lacking)} of its parts were not run ({keys}: {'; '.join(map(', '.join, lacking[:5]))})",
            _ALL_PARTS,
        )
    if store.runs.share_a_request([run.run_id for run in runs]):
        raise DisclosureError(f"{name}: two of its parts hold the same instance, which would count twice", _ALL_PARTS)
