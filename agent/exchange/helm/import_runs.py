"""Import HELM's run folders into the site's encrypted store, marked as imported runs."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast, get_args

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.export import list_exported_names
from agent.exchange.helm.folder import HelmCase, HelmRun, find_run_folders, read_run, read_run_name
from agent.exchange.helm.juries import HelmSeat, describe_jury
from agent.exchange.helm.names import (
    find_benchmark,
    find_metric_name,
    helm_metric_name,
    imported_metric,
)
from agent.exchange.helm.own_record import RECORD
from agent.exchange.imported_run import build_imported_details
from agent.exchange.json_path import ADVICE, read_json
from agent.io.plain_text import printable
from agent.io.progress import Progress
from agent.reading.thoughts import build_reply
from agent.runs.definition import list_free_arguments, list_required_values
from agent.runs.plan import SUITE_NAME
from agent.site.directory import Site
from agent.store import KeptMetric, RunDetails, RunOrigin, Store
from agent.store.juries import FiledSeat
from agent.store.scores import FiledLabel, FiledScore
from agent.store.stored import Judgement, RunScore, Seat
from agent.vocabulary import AnswerMode, Reason, Scale, Unscored


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """A run that was stored. `known` is whether its benchmark is in the catalogue."""

    suite: str
    name: str
    benchmark: str
    known: bool
    instances: int


@dataclass(frozen=True, slots=True)
class _Target:
    """The suite and the name under which a run is imported."""

    suite: str
    name: str


def import_helm(
    site: Site,
    directory: Path,
    suite: str | None = None,
    *,
    replace: bool = False,
    progress: Progress | None = None,
) -> list[ImportedRun]:
    """Store every run folder under `directory`. Each run is stored completely or not at all.

    Args:
        suite: the suite into which all runs are imported; by default, each run goes into the suite whose folder
            contains it.
        replace: whether to replace imported runs that have the same names. A run made at this site is never replaced.

    Raises:
        ConfigError: no run folder was found, the suite has no valid name, or the suite already has a run of that name,
            or the run itself, made at this site.
        BenchmarkError: a file is missing or wrong; the message names the file and the key.
    """
    progress = progress or Progress()
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    folders = _choose_targets(find_run_folders(directory), suite)
    imported = []
    with site.store() as store:
        for target in folders:
            _refuse_run_of_site(store, target)
        _refuse_own_exports(store, folders, catalogue)
        progress.begin("runs", len(folders))
        for target, folder in folders.items():
            run = read_run(folder)
            if run.name != target.name:
                raise BenchmarkError(
                    f"{printable(folder.name)}/run_spec.json: the file changed while it was read",
                    ADVICE,
                )
            if not replace:
                _refuse_other_import(store, target, run.digest)
            imported.append(_store_run(store, target.suite, run, catalogue))
            progress.advance()
        progress.end()
    return imported


def _choose_targets(folders: Sequence[tuple[str, Path]], suite: str | None) -> dict[_Target, Path]:
    """Map the target of each run to its folder, before any run is read completely."""
    targets: dict[_Target, Path] = {}
    for suite_of_folder, folder in folders:
        target_suite = suite_of_folder if suite is None else suite
        if not SUITE_NAME.fullmatch(target_suite):
            raise ConfigError(
                "the folder's name is not a valid suite name", "Name the suite with --suite."
            )
        run_spec, _ = read_json(folder, "run_spec.json")
        target = _Target(target_suite, read_run_name(run_spec))
        if target in targets:
            raise ConfigError(
                f"the runs in the folders {targets[target].name} and {folder.name} have the same name",
                "Import them into different suites with --suite.",
            )
        targets[target] = folder
    return targets


def _refuse_run_of_site(store: Store, target: _Target) -> None:
    stored = store.runs.find(store.identities.run_id(target.suite, target.name))
    if stored is not None and not stored.imported:
        raise ConfigError(
            f"suite {target.suite} already contains a run named {printable(target.name)} that was made at this site",
            "Choose another suite with --suite.",
        )


def _refuse_own_exports(
    store: Store, folders: Mapping[_Target, Path], catalogue: Mapping[str, Benchmark]
) -> None:
    """Refuse exports of runs that the suite contains already, which would be counted twice in its tables."""
    stored_suites = store.runs.list_suites()
    for suite in sorted({target.suite for target in folders} & set(stored_suites)):
        exported_names = list_exported_names(store, catalogue, suite)
        for target, folder in folders.items():
            is_export = os.path.lexists(folder / RECORD)
            if target.suite == suite and is_export and target.name in exported_names:
                raise ConfigError(
                    f"{printable(folder.name)} is a run of suite {suite} that was made at this site and exported; the "
                    "suite would show it twice",
                    "There is no need to import it. To see the export itself, give another suite with --suite.",
                )


def _refuse_other_import(store: Store, target: _Target, digest: str) -> None:
    """Refuse to replace a different imported run. Importing the same run again is allowed and changes nothing."""
    stored = store.runs.find(store.identities.run_id(target.suite, target.name))
    if stored is None or stored.details.origin is None:
        return
    if stored.details.origin.digest != digest:
        raise ConfigError(
            f"suite {target.suite} already contains a different imported run named {printable(target.name)}",
            "Use --replace to replace it, or choose another suite with --suite.",
        )


def _store_run(
    store: Store, suite: str, run: HelmRun, catalogue: Mapping[str, Benchmark]
) -> ImportedRun:
    """Store a run with its answers, scores and judgements in one transaction."""
    benchmark = find_benchmark(run.names, catalogue)
    benchmark_name = benchmark.id if benchmark else run.names[0]
    details = _describe_run(run, benchmark, benchmark_name)
    run_id = store.identities.run_id(suite, run.name)
    keys = [_make_request_key(store, run_id, run, position) for position in range(len(run.cases))]
    with store.transaction():
        store.runs.begin(
            suite=suite,
            name=run.name,
            benchmark=benchmark_name,
            lineage=details.lineage,
            model=run.model,
            deployment=run.deployment,
            details=details,
            planned=[(case.instance, key) for case, key in zip(run.cases, keys, strict=True)],
            scored_by=["helm", run.digest],
        )
        store.answers.settle(
            run_id,
            answers=[
                (key, case.response)
                for case, key in zip(run.cases, keys, strict=True)
                if case.response
            ],
            scores=_list_scores(run, details.metrics),
            labels=_list_labels(run, details.metrics),
        )
        judgements, seats = _collect_seats(store, run_id, run, details.metrics)
        store.scores.keep(run_id, (), judgements, seats)
        store.runs.end(run_id, _list_run_scores(run, details.metrics))
        answers = sum(case.response is not None for case in run.cases)
        entry = f"run={run_id} instances={len(run.cases)} answers={answers} metrics={len(details.metrics)}"
        if judgements:
            entry += f" judgements={len(judgements)}"
        store.audit.record("imported", entry)
    return ImportedRun(
        suite=suite,
        name=run.name,
        benchmark=benchmark_name,
        known=benchmark is not None,
        instances=len(run.cases),
    )


def _make_request_key(store: Store, run_id: str, run: HelmRun, position: int) -> bytes:
    """Return the key under which an imported answer is stored, which no answer of a local deployment can have."""
    return store.identities.request_key(
        f"imported {run_id}", json.dumps([run.digest, position]).encode()
    )


def _describe_run(run: HelmRun, benchmark: Benchmark | None, benchmark_name: str) -> RunDetails:
    """Return the details stated in a run's files. Our own exports state more of them than HELM's files."""
    details = build_imported_details(
        benchmark,
        display_name=benchmark_name,
        model=run.model,
        metrics=run.record.metrics if run.record else _describe_metrics(run, benchmark),
        origin=RunOrigin(kind="helm", digest=run.digest, scenario=run.scenario, groups=run.groups),
        instances=len(run.cases),
    )
    details = replace(
        details,
        max_tokens=run.max_tokens,
        temperature=run.temperature,
        stop=run.stop,
        answer_mode=_read_answer_mode(run),
    )
    if benchmark is not None:
        # Keep the part that was run and the list of all parts: runs of all parts together form one row of a board.
        arguments = {name: run.pairs[name] for name in benchmark.arguments if name in run.pairs}
        free = tuple(list_free_arguments(benchmark, arguments))
        details = replace(
            details, arguments=arguments, free_arguments=free, parts=list_required_values(benchmark)
        )
    if run.record is None and run.is_scored_by_us:
        metrics = tuple(replace(metric, scoring="intramural") for metric in details.metrics)
        details = replace(details, scoring="intramural", metrics=metrics)
    if run.record is not None:
        details = replace(
            details,
            data=replace(details.data, known=run.record.data, own=run.record.own_data),
            unit=run.record.unit,
            unit_named=run.record.unit_named,
            scoring=run.record.scoring,
        )
    return details


def _read_answer_mode(run: HelmRun) -> AnswerMode:
    """Return the way of asking that the run's name states, as in our own exports; HELM has only the usual one."""
    named = run.pairs.get("answer_mode")
    return cast(AnswerMode, named) if named in get_args(AnswerMode) else "generate"


def _list_scores(run: HelmRun, metrics: Sequence[KeptMetric]) -> list[FiledScore]:
    """Return the score of each instance and metric, or the reason why there is none."""
    scores: list[FiledScore] = []
    for position, case in enumerate(run.cases):
        for metric in metrics:
            if metric.whole_run:
                continue
            score: float | Unscored | None = case.scores.get(metric.helm_name)
            if score is None:
                score = _find_reason(run, case, metric.name) or Unscored(Reason.NOT_IMPORTED)
            scores.append((position, metric.name, score))
    return scores


def _list_labels(run: HelmRun, metrics: Sequence[KeptMetric]) -> list[FiledLabel]:
    """Return, for each metric that exists only for the whole run, why an instance is left out, or None if it counts."""
    labels: list[FiledLabel] = []
    for position, case in enumerate(run.cases):
        for metric in metrics:
            if metric.whole_run:
                labels.append((position, metric.name, _find_reason(run, case, metric.name)))
    return labels


def _list_run_scores(run: HelmRun, metrics: Sequence[KeptMetric]) -> list[RunScore]:
    scores = []
    for metric in metrics:
        if not metric.whole_run or metric.helm_name not in run.whole_run:
            continue
        units = [
            case.instance.unit for case in run.cases if _find_reason(run, case, metric.name) is None
        ]
        scores.append(
            RunScore(
                metric=metric.name,
                value=run.whole_run[metric.helm_name],
                low=None,
                high=None,
                n=len(units),
                units=len(set(units)),
            )
        )
    return scores


def _find_reason(run: HelmRun, case: HelmCase, metric: str) -> Unscored | None:
    """Return the reason, stated in our own export, why the instance has no score."""
    if run.record is None:
        return None
    reason = run.record.reasons.get(case.instance.id, {}).get(metric)
    return None if reason is None else Unscored(reason)


def _collect_seats(
    store: Store, run_id: str, run: HelmRun, metrics: Sequence[KeptMetric]
) -> tuple[list[tuple[bytes, Judgement]], list[FiledSeat]]:
    """Return the judges' replies, which are stored encrypted, and the grades of each seat.

    HELM's files contain the replies. In our own export, `intramural.json` adds details about the seats.
    """
    judgements: list[tuple[bytes, Judgement]] = []
    seats: list[FiledSeat] = []
    for position, case in enumerate(run.cases):
        for metric in metrics:
            if metric.jury is None:
                continue
            seats_of_helm = case.seats.get(metric.helm_name, ())
            replies = {seat.seat: seat.reply for seat in seats_of_helm if seat.reply}
            for seat in _find_seats(run, case, metric):
                key = None
                if seat.seat in replies:
                    request = json.dumps([run.digest, position, metric.name, seat.seat]).encode()
                    key = store.identities.judgement_key(f"imported {run_id}", request)
                    judgements.append((key, _make_judgement(replies[seat.seat])))
                seats.append((position, metric.name, _make_seat(seat, metric.jury.criteria, key)))
    return judgements, seats


def _find_seats(run: HelmRun, case: HelmCase, metric: KeptMetric) -> Sequence[HelmSeat]:
    """Return the seats from our own record if the run has one, otherwise those from HELM's annotations."""
    if run.record is None:
        return case.seats.get(metric.helm_name, ())
    return run.record.seats.get(case.instance.id, {}).get(metric.name, ())


def _make_judgement(reply: str) -> Judgement:
    """Return an imported judge's reply. Token counts and duration are unknown, as HELM's files do not state them."""
    response = replace(build_reply(reply), finish_reason="other")
    return Judgement(replies=(response,))


def _make_seat(seat: HelmSeat, criteria: Mapping[str, str], key: bytes | None) -> Seat:
    """Return a seat with only the grades for the jury's own criteria."""
    grades = dict(seat.grades or {})
    if criteria:
        grades = {criterion: grade for criterion, grade in grades.items() if criterion in criteria}
    reason = seat.reason
    if not reason and not grades:
        reason = Reason.NOT_IMPORTED.value
    return Seat(
        seat=seat.seat,
        grades=grades or None,
        reason=reason or None,
        repaired=seat.repaired,
        judgement_key=key,
    )


def _describe_metrics(run: HelmRun, benchmark: Benchmark | None) -> tuple[KeptMetric, ...]:
    """Return the metrics to store: the benchmark's own in its order, then the others by name.

    Raises:
        BenchmarkError: the run contains no scores, and the benchmark is not in the catalogue.
    """
    scored = set(run.whole_run)
    for case in run.cases:
        scored |= case.scores.keys()
    of_benchmark = [helm_metric_name(use) for use in (benchmark.metrics if benchmark else ())]
    ordered = [name for name in of_benchmark if name in scored]
    ordered += sorted(scored - set(of_benchmark))
    if not ordered:
        ordered = of_benchmark
    if not ordered:
        raise BenchmarkError(
            f"{printable(run.name)}: per_instance_stats.json contains no score of an answer", ADVICE
        )
    return tuple(_describe_metric(run, helm_name, benchmark) for helm_name in ordered)


def _describe_metric(run: HelmRun, helm_name: str, benchmark: Benchmark | None) -> KeptMetric:
    """Return the stored form of one of HELM's metrics, with its jury if judges graded any answer for it."""
    is_whole_run = helm_name in run.whole_run
    if is_whole_run:
        values = [run.whole_run[helm_name]]
    else:
        values = [case.scores[helm_name] for case in run.cases if helm_name in case.scores]
    metric = imported_metric(
        find_metric_name(helm_name, benchmark), helm_name, values=values, whole_run=is_whole_run
    )
    jury = next((jury for jury in run.juries if jury.metric == helm_name), None)
    seats = [seat for case in run.cases for seat in case.seats.get(helm_name, ())]
    if jury is None or not seats:
        return metric
    scale = _find_scale(helm_name, benchmark, seats)
    return replace(metric, low=scale.low, high=scale.high, jury=describe_jury(jury, seats, scale))


def _find_scale(helm_name: str, benchmark: Benchmark | None, seats: Sequence[HelmSeat]) -> Scale:
    """Return the scale of the benchmark's metric, or the range of the grades if the metric is not ours."""
    for use in benchmark.metrics if benchmark else ():
        if helm_metric_name(use) == helm_name:
            return use.scale
    grades = [0.0, 1.0]
    for seat in seats:
        grades += (seat.grades or {}).values()
    return Scale(min(grades), max(grades))
