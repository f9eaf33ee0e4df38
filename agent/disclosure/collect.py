"""Collects findings from the site's store: the scores of one suite's runs for the cells of a scorecard.

A run is taken if it keeps the scorecard's promise: the registered benchmark, the whole of it, asked here as it is
defined, scored by this version, with units that have names. Every other run is refused here.
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

NAME_UNITS: Final = (
    "Name the column of the patient (or document) with `unit_column` in its benchmark.yaml."
)
_KNOWN_DATA: Final = frozenset({"official", "sample", "invented"})
# A run that lacks one of these details was made before they were kept, so nothing shows that it may be submitted.
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
# Details in which the parts of one benchmark must agree.
_ALIKE: Final = (
    "access",
    "benchmark_digest",
    "language_model",
    "lineage",
    "max_tokens",
    "metrics",
    "parts",
    "prompt_limit",
    "scoring",
    "unit_named",
)
_ALL_PARTS: Final = (
    "A benchmark is submitted whole: run every part of it on data of one kind, each once."
)
_LENGTHS: Final = frozenset(
    {"num_output_tokens", "increase_max_tokens"}
)  # the second can only raise the limit
_RUN_AGAIN: Final = (
    "Give the same `intramural run` again: the answers are kept, so nothing is asked again."
)


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
            f"suite {suite} has no runs of {', '.join(lacking)}",
            "`intramural summarize` shows the models it has.",
        )
    findings: dict[str, list[Finding]] = {}
    parts: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        cells = _select_cells(scorecard, run)
        if not cells:
            continue
        _check_run(run, cells, token_limits)
        _check_juries(run, cells, scorecard)
        if run.details.parts:
            parts.setdefault((run.model, run.benchmark), []).append(run)
        else:
            findings.setdefault(run.model, []).extend(_build_findings(store, [run], cells))
    for (model, _), runs_of_benchmark in parts.items():
        check_parts(store, runs_of_benchmark)
        cells = _select_cells(scorecard, runs_of_benchmark[0])
        findings.setdefault(model, []).extend(_build_findings(store, runs_of_benchmark, cells))
    return findings


def _select_cells(scorecard: Scorecard, run: Run) -> list[Cell]:
    """Return the cells that the run says something about."""
    metrics = {metric.name for metric in run.details.metrics}
    return [
        cell
        for cell in scorecard.cells
        if cell.benchmark == run.benchmark and cell.metric in metrics
    ]


def _check_run(run: Run, cells: Collection[Cell], token_limits: Mapping[str, int]) -> None:
    """Refuse a run that does not keep the scorecard's promise, juries apart."""
    _check_making(run, token_limits)
    _check_data(run)
    _check_units(run, cells)


def _check_making(run: Run, token_limits: Mapping[str, int]) -> None:
    """Refuse a run that was not asked here as the benchmark says, or not scored by this version."""
    details = run.details
    if run.imported:
        raise DisclosureError(
            f"{run.benchmark}: it was imported, and nobody here asked the model or scored its answers",
            "Run it here in a suite of its own, and submit that suite.",
        )
    if _DECISIVE & details.lacking or not details.lineage:
        raise DisclosureError(
            f"{run.benchmark}: it was run before its units and settings were noted", _RUN_AGAIN
        )
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
    changed = _list_changes(details, token_limits)
    if changed:
        raise DisclosureError(
            f"{run.benchmark}: it was asked otherwise than the registered benchmark says: {', '.join(changed)}",
            "Run it without that in a suite of its own, and submit that suite.",
        )


def _check_data(run: Run) -> None:
    """Refuse a run on data that its access level does not fit, or that this site has not attested it may use."""
    details = run.details
    # Data that is not published is the hospital's own, also under the name of a public benchmark; and all data of its
    # own is of one lineage, which a benchmark that calls itself public or gated would escape. Gated data, whose
    # publishers give no digests, goes out by the rules of the site's own: protected, and in that one lineage.
    is_gated_as_own = details.access == "gated" and details.lineage == SITE_LINEAGE
    counts_as_own = details.access == "private" or is_gated_as_own
    if details.data.known not in _KNOWN_DATA and not counts_as_own:
        raise DisclosureError(
            f"{run.benchmark}: its access level is private here, for the data is the site's own, but "
            f"{details.access} in its definition",
            "Run the published data; or make a benchmark of your own for your data, with `access: private`.",
        )
    is_attested = details.data.attested
    if is_attested is None:
        is_attested = details.access != "gated"
    if not is_attested:
        raise DisclosureError(
            f"{run.benchmark}: nobody has attested that this site may use its gated data",
            f"Add it with `intramural datasets add {run.benchmark} PATH --replace`, which says what to attest, and run "
            "it again: the answers are kept.",
        )


def _check_units(run: Run, cells: Collection[Cell]) -> None:
    """Refuse a run for protected figures whose units have no names."""
    is_protected = run.details.access != "public" or any(cell.protected for cell in cells)
    if is_protected and not run.details.unit_named:
        raise DisclosureError(
            f"{run.benchmark}: its units are row numbers, and rows of one patient would count as many patients",
            f"{NAME_UNITS} Have a scorecard with that definition registered, and run it again: the answers are kept.",
        )


def _check_juries(run: Run, cells: Collection[Cell], scorecard: Scorecard) -> None:
    """Refuse grades for a cell whose registered jury is another one than the run's. A run without judges has none."""
    for cell in cells:
        use = _find_graded_metric(run, cell)
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


def _find_graded_metric(run: Run, cell: Cell) -> MetricUse | None:
    """Return the metric of a cell with the judges that graded the run; None if no judge did, or none is needed."""
    if cell.metric not in JUDGED:
        return None
    for measure in Rules.of_run(run.details).measures:
        if measure.name == cell.metric:
            return measure.use if measure.use.judges else None
    return None


def _list_changes(details: RunDetails, token_limits: Mapping[str, int]) -> list[str]:
    """Return in words the changes that make a run another benchmark than the registered one; a longer limit is none."""
    overrides = (
        set(details.overrides) - details.parts.keys()
    )  # `check_parts` checks that all parts were run
    changed = sorted(overrides - _LENGTHS - {"temperature", "stop"})
    if details.temperature != 0:
        changed.append(f"temperature={details.temperature:g}")
    if details.stop:
        changed.append("stop")
    if "num_output_tokens" in overrides:
        limit = token_limits.get(details.benchmark_digest)
        if limit is None:
            changed.append("num_output_tokens (and its definition is not here to compare)")
        elif details.max_tokens is not None and details.max_tokens < limit:
            changed.append(
                f"num_output_tokens (at most {details.max_tokens}, {limit} in the benchmark)"
            )
    if details.sample_seed != 0 and not details.plan:
        changed.append(f"--sample-seed {details.sample_seed}")
    return changed


def _build_findings(store: Store, runs: Sequence[Run], cells: Sequence[Cell]) -> list[Finding]:
    """Return a finding for every cell whose metric can be submitted: one that instances have, scored by our rules."""
    details = runs[0].details
    metrics: dict[str, KeptMetric] = {}
    for metric in details.metrics:
        if _is_submittable(metric, details.scoring):
            metrics[metric.name] = metric
    groups = _Groups(store, runs) if any(cell.subgroup for cell in cells) else None
    findings: list[Finding] = []
    for cell in cells:
        lacks_grades = cell.metric in JUDGED and _find_graded_metric(runs[0], cell) is None
        if cell.metric not in metrics or lacks_grades:
            continue
        finding = _build_finding(store, runs, metrics[cell.metric])
        if cell.subgroup is not None and groups is not None:
            finding = groups.restrict(finding, cell.subgroup)
        findings.append(finding)
    return findings


class _Groups:
    """The subgroups of the units of some runs: `variable.value`, spelled as scorecards spell it."""

    def __init__(self, store: Store, runs: Sequence[Run]) -> None:
        self._names: dict[bytes, set[str]] = {}  # of each unit, over all its instances
        for run in runs:
            units = [unit for unit, _ in store.answers.read_unit_and_instance_keys(run.run_id)]
            for attribute, values in store.answers.read_subgroups(run.run_id).items():
                for unit, value in zip(units, values, strict=True):
                    if value is not None:
                        self._names.setdefault(unit, set()).add(name_subgroup(attribute, value))

    def restrict(self, finding: Finding, subgroup: str) -> Finding:
        """Return the finding of one subgroup alone. Units with several values of its variable are in none."""
        variable = subgroup.partition(".")[0]
        members: set[bytes] = set()
        for unit, names in self._names.items():
            names_of_variable = [name for name in names if name.startswith(f"{variable}.")]
            if names_of_variable == [subgroup]:
                members.add(unit)
        scores = [score for score in finding.scores if score.unit_key in members]
        return replace(finding, scores=scores, subgroup=subgroup)


def name_subgroup(attribute: str, value: str) -> str:
    """Return `variable.value` as a scorecard names it: lower-case letters, digits and dashes."""
    return f"{_make_slug(attribute)}.{_make_slug(value)}"


def _make_slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _is_submittable(metric: KeptMetric, scoring: ScoringChoice) -> bool:
    return (metric.scoring or scoring) == "intramural" and not metric.whole_run


def _build_finding(store: Store, runs: Sequence[Run], metric: KeptMetric) -> Finding:
    """Return the finding of all units; `runs` are the parts of one benchmark, or a single run."""
    details = runs[0].details
    scores: list[UnitScore] = []
    for run in runs:
        scores.extend(_read_scores(store, run, metric.name, is_alone=len(runs) == 1))
    return Finding(
        benchmark=runs[0].benchmark,
        metric=metric.name,
        definition=details.benchmark_digest,
        access=cast(
            "AccessLevel", details.access
        ),  # imported runs, which may have none, were refused
        binary=metric.binary,
        low=metric.low,
        high=metric.high,
        scores=scores,
        dataset=details.data.registered,
        frozen_digest=details.data.frozen_digest,
        plan=details.plan,
        sample_seed=details.sample_seed,
        known=details.data.known,
        available=sum(run.details.data.instances for run in runs),
        language_model=details.language_model,
    )


def _read_scores(store: Store, run: Run, metric: str, *, is_alone: bool) -> list[UnitScore]:
    """Return the run's scores. Parts of a benchmark number their rows alike, so each gets instances of its own."""
    scores = store.scores.read_units(run.run_id, metric)
    if is_alone:
        return scores
    prefix = run.run_id.encode()
    own_scores: list[UnitScore] = []
    for score in scores:
        # Units with names are the same patients in every part; units that are row numbers are not.
        unit_key = score.unit_key if run.details.unit_named else prefix + score.unit_key
        own_scores.append(
            replace(score, instance_key=prefix + score.instance_key, unit_key=unit_key)
        )
    return own_scores


def check_parts(store: Store, runs: Sequence[Run]) -> None:
    """Check that runs of parts of one benchmark are all of it, each once, alike in everything else.

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
            raise DisclosureError(
                f"{name}: its parts were run on data of several kinds", _ALL_PARTS
            )
    parts_run: list[tuple[str, ...]] = []
    for run in runs:
        parts_run.append(tuple(run.details.arguments.get(key, "") for key in first.parts))
    if len(set(parts_run)) < len(parts_run):
        raise DisclosureError(
            f"{name}: a part of it was run more than once for one model in this suite",
            "Keep one run of each part in the suite you submit.",
        )
    all_parts = list(product(*first.parts.values()))
    lacking = [part for part in all_parts if part not in parts_run]
    if lacking or len(parts_run) > len(all_parts):
        keys = ", ".join(first.parts)
        examples = "; ".join(", ".join(part) for part in lacking[:5])
        raise DisclosureError(
            f"{name}: {len(lacking)} of its parts were not run ({keys}: {examples})",
            _ALL_PARTS,
        )
    if store.runs.share_a_request([run.run_id for run in runs]):
        raise DisclosureError(
            f"{name}: two of its parts hold the same instance, which would count twice", _ALL_PARTS
        )
