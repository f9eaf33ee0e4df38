"""Collect findings from the site's store: the scores of a suite's runs for the cells of a scorecard.

A run must cover a whole registered benchmark, with the prompts and settings of its definition and with named units. It
must have been made at this site and scored by this version of the agent. Other runs are refused.
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
from agent.metrics import JUDGED, MetricUse, is_own
from agent.metrics.own import name_cell_metric
from agent.runs.definition import SITE_LINEAGE
from agent.scoring.measures import Rules
from agent.store import KeptMetric, Run, RunDetails, Store, UnitScore
from agent.vocabulary import AccessLevel, ScoringChoice
from protocol.scorecard import Cell, Scorecard

NAME_UNITS: Final = (
    "Name the column of the patient (or document) with `unit_column` in its benchmark.yaml."
)
_KNOWN_DATA: Final = frozenset({"official", "sample", "invented"})
# A run that lacks one of these details was made before they were recorded, so it cannot be shown to be valid.
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
# Details that must be equal in all parts of one benchmark.
_ALIKE: Final = (
    "access",
    "answer_mode",
    "benchmark_digest",
    "language_model",
    "lineage",
    "max_tokens",
    "metrics",
    "parser",
    "parts",
    "prompt_limit",
    "reading_version",
    "scoring",
    "unit_named",
    "weights",
)
_ALL_PARTS: Final = (
    "A benchmark can be submitted only as a whole: run each of its parts exactly once, all on the official data, or "
    "all on data of the same other kind."
)
# Settings that change the length limit of answers; the second can only raise it.
_LENGTHS: Final = frozenset({"num_output_tokens", "increase_max_tokens"})
_RUN_AGAIN: Final = (
    "Repeat the same `intramural run`: stored answers are reused, so no model is asked again."
)


def collect(
    store: Store,
    suite: str,
    scorecard: Scorecard,
    models: Collection[str] = (),
    *,
    token_limits: Mapping[str, int],
) -> dict[str, list[Finding]]:
    """Return the findings of the suite's models, or only of `models`, by the model's name. Private runs do not count.

    Args:
        store: the site's store.
        suite: the suite of the runs.
        scorecard: the scorecard whose cells are collected.
        models: names of models; if empty, all models of the suite.
        token_limits: length limit of an answer in tokens, by the digest of a benchmark's definition.

    Raises:
        ConfigError: the suite does not exist, or it has no runs of a named model.
        DisclosureError: a run deviates from the benchmark's definition, was scored by another version or graded by
            another jury, or its units have no names.
    """
    store.runs.require_suite(suite)
    shared = [run for run in store.runs.select(suite) if not run.is_private]
    runs = [run for run in shared if not models or run.model in models]
    lacking = sorted(set(models) - {run.model for run in runs})
    if lacking:
        raise ConfigError(
            f"suite {suite} has no runs of {', '.join(lacking)}",
            "`intramural summarize` lists its models.",
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
    """Return the cells of the scorecard for which the run has a metric."""
    metrics = {name_cell_metric(metric.name, metric.options) for metric in run.details.metrics}
    return [
        cell
        for cell in scorecard.cells
        if cell.benchmark == run.benchmark and cell.metric in metrics
    ]


def list_own_metrics_left_out(
    store: Store, suite: str, scorecard: Scorecard, models: Collection[str] = ()
) -> list[str]:
    """Return a sentence for each metric of the site's own that the scorecard does not register, so that it stays here.

    Runs of benchmarks that the scorecard lacks are skipped.
    """
    registered = {(cell.benchmark, cell.metric) for cell in scorecard.cells}
    benchmarks = {cell.benchmark for cell in scorecard.cells}
    sentences: dict[str, None] = {}
    for run in store.runs.select(suite):
        if run.benchmark not in benchmarks or (models and run.model not in models):
            continue
        for metric in run.details.metrics:
            name = name_cell_metric(metric.name, metric.options)
            if is_own(metric.name) and (run.benchmark, name) not in registered:
                sentences[
                    f"{run.benchmark}: {metric.name} is left out: scorecard {scorecard.name} does not register {name}"
                ] = None
    return list(sentences)


def _check_run(run: Run, cells: Collection[Cell], token_limits: Mapping[str, int]) -> None:
    """Refuse a run that cannot be submitted for these cells; juries are checked separately."""
    _check_making(run, token_limits)
    _check_data(run)
    _check_units(run, cells)


def _check_making(run: Run, token_limits: Mapping[str, int]) -> None:
    """Refuse a run that was imported, deviates from its definition, or was scored by another version."""
    details = run.details
    if run.imported:
        raise DisclosureError(
            f"{run.benchmark}: it was imported, so the answers were not obtained and scored at this site",
            "Run it here in a separate suite, and submit that suite.",
        )
    if _DECISIVE & details.lacking or not details.lineage:
        raise DisclosureError(
            f"{run.benchmark}: it was made by an early version of the agent, which did not record units and settings",
            _RUN_AGAIN,
        )
    if details.agent_version != __version__:
        raise DisclosureError(
            f"{run.benchmark}: it was scored by version {details.agent_version} of the agent, but this is version "
            f"{__version__}, which would sign the results of another version as its own",
            _RUN_AGAIN,
        )
    if details.scoring not in ("intramural", "both"):
        raise DisclosureError(
            f"{run.benchmark}: its answers were scored by {details.scoring}'s rules, which cannot be submitted",
            f"`intramural rescore --suite {run.suite} --scoring both` also scores the stored answers by our rules and "
            "keeps HELM's figures; no model is asked.",
        )
    changed = _list_changes(details, token_limits)
    if changed:
        raise DisclosureError(
            f"{run.benchmark}: its settings differ from those of the registered benchmark: {', '.join(changed)}",
            "Run it without these changes in a separate suite, and submit that suite.",
        )


def _check_data(run: Run) -> None:
    """Refuse a run whose access level does not fit its data, or whose gated data is not attested."""
    details = run.details
    # Unpublished data is the hospital's own, even under the name of a public benchmark. All of the hospital's own data
    # belongs to one lineage, which a benchmark that is declared public or gated would escape. Gated data without
    # published digests follows the rules for the site's own data: it is protected and belongs to that lineage.
    is_gated_as_own = details.access == "gated" and details.lineage == SITE_LINEAGE
    counts_as_own = details.access == "private" or is_gated_as_own
    if details.data.known not in _KNOWN_DATA and not counts_as_own:
        raise DisclosureError(
            f"{run.benchmark}: its data is the site's own and therefore private, but its definition says "
            f"{details.access}",
            "Run it on the published data, or define a separate benchmark for your data, with `access: private`.",
        )
    is_attested = details.data.attested
    if is_attested is None:
        is_attested = details.access != "gated"
    if not is_attested:
        raise DisclosureError(
            f"{run.benchmark}: no one has attested that this site may use its gated data",
            f"Add it with `intramural datasets add {run.benchmark} PATH --replace`, which explains what to attest, and "
            "run it again: stored answers are reused.",
        )


def _check_units(run: Run, cells: Collection[Cell]) -> None:
    """Refuse a run for protected cells if its units have no names."""
    is_protected = run.details.access != "public" or any(cell.protected for cell in cells)
    if is_protected and not run.details.unit_named:
        raise DisclosureError(
            f"{run.benchmark}: its units are row numbers, so rows of one patient would count as separate patients",
            f"{NAME_UNITS} Have a scorecard with that definition registered, and run it again: stored answers are "
            "reused.",
        )


def _check_juries(run: Run, cells: Collection[Cell], scorecard: Scorecard) -> None:
    """Refuse grades by a jury other than the one registered for a cell. Runs without judges are skipped."""
    for cell in cells:
        use = _find_graded_metric(run, cell)
        if use is None:
            continue
        registered = scorecard.jury_of(cell)
        if registered is None:
            raise DisclosureError(
                f"{run.benchmark}: scorecard {scorecard.name} registers no jury for {cell.key}, so grades cannot be "
                "submitted",
                "Ask for a scorecard that registers the jury (`intramural benchmarks scorecard --judges FILE`).",
            )
        if difference := describe_other_jury(use, registered):
            raise DisclosureError(
                f"{run.benchmark}: it was not graded by the jury that scorecard {scorecard.name} registers for "
                f"{cell.key}: {difference}",
                f"Have its answers graded by the registered jury (`intramural judge --suite {run.suite} --judges FILE "
                "--replace`), or ask for a scorecard that registers yours.",
            )


def _find_graded_metric(run: Run, cell: Cell) -> MetricUse | None:
    """Return the metric of a cell with the judges that graded the run, or None if no judges graded it."""
    if cell.metric not in JUDGED:
        return None
    for measure in Rules.of_run(run.details).measures:
        if measure.name == cell.metric:
            return measure.use if measure.use.judges else None
    return None


def _list_changes(details: RunDetails, token_limits: Mapping[str, int]) -> list[str]:
    """Return the settings of a run that differ from the registered benchmark; a higher length limit is allowed."""
    # Arguments that select a part are not changes: `check_parts` checks that all parts were run.
    overrides = set(details.overrides) - details.parts.keys()
    changed = sorted(overrides - _LENGTHS - {"temperature", "stop", "answer_mode"})
    if details.answer_mode != "generate":
        changed.append(f"answer_mode={details.answer_mode}")
    if details.temperature != 0:
        changed.append(f"temperature={details.temperature:g}")
    if details.stop:
        changed.append("stop")
    if "num_output_tokens" in overrides:
        limit = token_limits.get(details.benchmark_digest)
        if limit is None:
            changed.append(
                "num_output_tokens (its definition is not available here for comparison)"
            )
        elif details.max_tokens is not None and details.max_tokens < limit:
            changed.append(
                f"num_output_tokens ({details.max_tokens} instead of {limit} in the benchmark)"
            )
    if details.sample_seed != 0 and not details.plan:
        changed.append(f"--sample-seed {details.sample_seed}")
    return changed


def _build_findings(store: Store, runs: Sequence[Run], cells: Sequence[Cell]) -> list[Finding]:
    """Return a finding for every cell whose metric has scores of instances by our own rules."""
    details = runs[0].details
    metrics: dict[str, KeptMetric] = {}
    for metric in details.metrics:
        if _is_submittable(metric, details.scoring):
            metrics[name_cell_metric(metric.name, metric.options)] = metric
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
    """The subgroups of the units in some runs, named `variable.value` as in scorecards."""

    def __init__(self, store: Store, runs: Sequence[Run]) -> None:
        self._names: dict[bytes, set[str]] = {}  # unit -> the subgroups of all its instances
        for run in runs:
            units = [unit for unit, _ in store.answers.read_unit_and_instance_keys(run.run_id)]
            for attribute, values in store.answers.read_subgroups(run.run_id).items():
                for unit, value in zip(units, values, strict=True):
                    if value is not None:
                        self._names.setdefault(unit, set()).add(name_subgroup(attribute, value))

    def restrict(self, finding: Finding, subgroup: str) -> Finding:
        """Return the finding restricted to one subgroup. Units with several values of its variable are excluded."""
        variable = subgroup.partition(".")[0]
        members: set[bytes] = set()
        for unit, names in self._names.items():
            names_of_variable = [name for name in names if name.startswith(f"{variable}.")]
            if names_of_variable == [subgroup]:
                members.add(unit)
        scores = [score for score in finding.scores if score.unit_key in members]
        return replace(finding, scores=scores, subgroup=subgroup)


def name_subgroup(attribute: str, value: str) -> str:
    """Return the name `variable.value` in the spelling of scorecards: lower-case letters, digits and dashes."""
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
        metric=name_cell_metric(metric.name, metric.options),
        definition=details.benchmark_digest,
        # Only imported runs, which were refused before, may lack an access level.
        access=cast("AccessLevel", details.access),
        binary=metric.binary,
        low=metric.low,
        high=metric.high,
        scores=scores,
        dataset=details.data.registered,
        frozen_digest=details.data.frozen_digest,
        plan=details.plan,
        sample_seed=details.sample_seed,
        weights=details.weights or "",
        known=details.data.known,
        available=sum(run.details.data.instances for run in runs),
        language_model=details.language_model,
    )


def _read_scores(store: Store, run: Run, metric: str, *, is_alone: bool) -> list[UnitScore]:
    """Return the run's scores. Row numbers repeat in the parts of a benchmark, so keys get the run's id as a prefix."""
    scores = store.scores.read_units(run.run_id, metric)
    if is_alone:
        return scores
    prefix = run.run_id.encode()
    own_scores: list[UnitScore] = []
    for score in scores:
        # Named units are the same patients in every part; units that are row numbers are not.
        unit_key = score.unit_key if run.details.unit_named else prefix + score.unit_key
        own_scores.append(
            replace(score, instance_key=prefix + score.instance_key, unit_key=unit_key)
        )
    return own_scores


def check_parts(store: Store, runs: Sequence[Run]) -> None:
    """Check that runs cover each part of one benchmark exactly once, with otherwise equal settings.

    Raises:
        DisclosureError: a part is missing or occurs twice, or the runs differ in other settings.
    """
    first = runs[0].details
    name = runs[0].benchmark
    for run in runs:
        has_same_details = all(getattr(run.details, key) == getattr(first, key) for key in _ALIKE)
        if run.deployment != runs[0].deployment or not has_same_details:
            raise DisclosureError(
                f"{name}: its parts were run with different settings (deployment, definition, length limit or similar)",
                "Run all parts with the same settings in a separate suite, and submit that suite.",
            )
        if run.details.data.known != first.data.known:
            raise DisclosureError(
                f"{name}: its parts were run on different kinds of data ({first.data.known} and "
                f"{run.details.data.known})",
                _ALL_PARTS,
            )
    parts_run: list[tuple[str, ...]] = []
    for run in runs:
        parts_run.append(tuple(run.details.arguments.get(key, "") for key in first.parts))
    if len(set(parts_run)) < len(parts_run):
        raise DisclosureError(
            f"{name}: a part of it was run more than once for one model in this suite",
            "Keep one run of each part in the suite that you submit.",
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
            f"{name}: two of its parts contain the same instance, which would count twice",
            _ALL_PARTS,
        )
