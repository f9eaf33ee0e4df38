"""HELM's run folders into the site's encrypted store, as runs marked imported."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import BenchmarkError, ConfigError
from agent.exchange.helm.folder import HelmCase, HelmRun, read_run, run_folders, run_spec_name
from agent.exchange.helm.juries import HelmSeat, keep_jury
from agent.exchange.helm.names import benchmark_called, helm_metric_name, imported_metric, metric_called
from agent.exchange.imported import imported_details
from agent.exchange.json_path import ADVICE, read_json
from agent.io.plain_text import printable
from agent.io.progress import Progress
from agent.runs.definition import free_arguments, parts
from agent.runs.plan import SUITE_NAME
from agent.site.directory import Site
from agent.store import KeptMetric, RunDetails, RunOrigin, Store
from agent.store.juries import FiledSeat
from agent.store.stored import Judgement, RunScore, Seat
from agent.vocabulary import Reason, Response, Scale, Unscored


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """One run that is in the store now. `known` says whether its benchmark is in the catalogue."""

    suite: str
    name: str
    benchmark: str
    known: bool
    instances: int


def import_helm(
    site: Site, directory: Path, suite: str | None = None, *, replace: bool = False, progress: Progress | None = None
) -> list[ImportedRun]:
    """Read every run folder under `directory` into the store; each run is there whole or not at all.

    Args:
        suite: the suite to keep all of them in; by default each goes into the suite that its folder lies in.
        replace: let go of an imported run of the same name. A run that was made here always stays.

    Raises:
        ConfigError: no run folder, no name for the suite, or the suite has a run of that name.
        BenchmarkError: a file is missing or wrong; names it and the place.
    """
    progress = progress or Progress()
    catalogue, _ = survey_benchmarks(site.own_benchmarks)
    places = _named(run_folders(directory), suite)
    imported = []
    with site.store() as store:
        for target, name in places:
            _refuse_own(store, target, name)
        progress.begin("runs", len(places))
        for (target, name), folder in places.items():
            run = read_run(folder)
            if run.name != name:
                raise BenchmarkError(
                    f"{printable(folder.name)}/run_spec.json: the file changed while it was read", ADVICE
                )
            _refuse_other(store, target, name, run.digest, replace=replace)
            imported.append(_keep(store, target, run, catalogue))
            progress.advance()
        progress.end()
    return imported


def _named(folders: Sequence[tuple[str, Path]], suite: str | None) -> dict[tuple[str, str], Path]:
    """Return the folders by suite and run name, before any of them is read whole."""
    places: dict[tuple[str, str], Path] = {}
    for of, folder in folders:
        target = of if suite is None else suite
        if not SUITE_NAME.fullmatch(target):
            raise ConfigError("the folder's name is no name for a suite", "Name the suite with --suite.")
        key = target, run_spec_name(read_json(folder, "run_spec.json")[0])
        if key in places:
            raise ConfigError(
                f"two folders hold a run of one name: {places[key].name} and {folder.name}",
                "Import them into different suites with --suite.",
            )
        places[key] = folder
    return places


def _refuse_own(store: Store, suite: str, name: str) -> None:
    there = store.runs.find(store.identities.run_id(suite, name))
    if there is not None and not there.imported:
        raise ConfigError(
            f"the suite {suite} holds a run of its own under the name {printable(name)}",
            "Name another suite with --suite.",
        )


def _refuse_other(store: Store, suite: str, name: str, digest: str, *, replace: bool) -> None:
    """Refuse a run in the place of another that was imported; the same again is the same as once."""
    there = store.runs.find(store.identities.run_id(suite, name))
    origin = None if there is None else there.details.origin
    if origin is not None and not replace and origin.digest != digest:
        raise ConfigError(
            f"the suite {suite} holds another imported run of the name {printable(name)}",
            "Give --replace to let it go, or name another suite with --suite.",
        )


def _keep(store: Store, suite: str, run: HelmRun, catalogue: Mapping[str, Benchmark]) -> ImportedRun:
    benchmark = benchmark_called(run.names, catalogue)
    identity = benchmark.id if benchmark else run.names[0]
    details = _details(run, benchmark, identity)
    run_id = store.identities.run_id(suite, run.name)
    # Answers of another place are never taken for a local deployment's.
    keys = [
        store.identities.request_key(f"imported {run_id}", json.dumps([run.digest, at]).encode())
        for at in range(len(run.cases))
    ]
    names = [(metric.name, metric.helm_name) for metric in details.metrics if not metric.whole_run]
    whole = [(metric.name, metric.helm_name) for metric in details.metrics if metric.whole_run]
    with store.transaction():
        store.runs.begin(
            suite=suite,
            name=run.name,
            benchmark=identity,
            lineage=details.lineage,
            model=run.model,
            deployment=run.deployment,
            details=details,
            planned=[(case.instance, key) for case, key in zip(run.cases, keys, strict=True)],
            scored_by=["helm", run.digest],
        )
        store.answers.settle(
            run_id,
            [(key, case.response) for case, key in zip(run.cases, keys, strict=True) if case.response is not None],
            [
                (at, name, case.scores.get(helm, _reason(run, case, name) or Unscored(Reason.NOT_IMPORTED)))
                for at, case in enumerate(run.cases)
                for name, helm in names
            ],
            [(at, name, _reason(run, case, name)) for at, case in enumerate(run.cases) for name, _ in whole],
        )
        judgements, seats = _judged(store, run_id, run, details.metrics)
        store.scores.keep(run_id, (), judgements, seats)
        store.runs.end(
            run_id, [_run_score(run, name, run.whole_run[helm]) for name, helm in whole if helm in run.whole_run]
        )
        answers = sum(case.response is not None for case in run.cases)
        counts = f"instances={len(run.cases)} answers={answers} metrics={len(details.metrics)}"
        said = f" judgements={len(judgements)}" if judgements else ""
        store.audit.record("imported", f"run={run_id} {counts}{said}")
    return ImportedRun(suite, run.name, identity, benchmark is not None, len(run.cases))


def _details(run: HelmRun, benchmark: Benchmark | None, identity: str) -> RunDetails:
    """Return what the run's files say of it; those of our own export say more."""
    details = imported_details(
        benchmark,
        display_name=identity,
        model=run.model,
        metrics=run.record.metrics if run.record else _metrics(run, benchmark),
        origin=RunOrigin(kind="helm", digest=run.digest, scenario=run.scenario, groups=run.groups),
        instances=len(run.cases),
    )
    details = replace(details, max_tokens=run.max_tokens, temperature=run.temperature, stop=run.stop)
    if benchmark is not None:  # which part of it was run, and which there are, so that runs of all parts are one row
        arguments = {name: run.pairs[name] for name in benchmark.arguments if name in run.pairs}
        free = tuple(free_arguments(benchmark, arguments))
        details = replace(details, arguments=arguments, free_arguments=free, parts=parts(benchmark))
    if run.record is not None:
        details = replace(
            details,
            data=replace(details.data, known=run.record.data, own=run.record.own_data),
            unit=run.record.unit,
            unit_named=run.record.unit_named,
            scoring=run.record.scoring,
        )
    return details


def _judged(
    store: Store, run_id: str, run: HelmRun, metrics: Sequence[KeptMetric]
) -> tuple[list[tuple[bytes, Judgement]], list[FiledSeat]]:
    """Return the judges' words, to be sealed, and what each seat gave.

    HELM's files hold the words; of our own export, `intramural.json` says more of the seats.
    """
    judgements: list[tuple[bytes, Judgement]] = []
    seats: list[FiledSeat] = []
    names = {metric.name: metric.helm_name for metric in metrics if metric.jury is not None}
    criteria = {metric.name: metric.jury.criteria for metric in metrics if metric.jury is not None}
    for at, case in enumerate(run.cases):
        noted = run.record.seats.get(case.instance.id, {}) if run.record else {}
        for name, helm in names.items():
            words = {seat.seat: seat.reply for seat in case.seats.get(helm, ()) if seat.reply}
            for seat in noted.get(name, () if run.record else case.seats.get(helm, ())):
                key = None
                if reply := words.get(seat.seat):
                    key = store.identities.judgement_key(
                        f"imported {run_id}", json.dumps([run.digest, at, name, seat.seat]).encode()
                    )
                    judgements.append((key, Judgement((Response(reply, "", "other", None, None, 0.0),))))
                seats.append((at, name, _seat(seat, criteria[name], key)))
    return judgements, seats


def _seat(seat: HelmSeat, criteria: Mapping[str, str], key: bytes | None) -> Seat:
    """Return a seat with the grades of the jury's own criteria alone."""
    known = {one: grade for one, grade in (seat.grades or {}).items() if one in criteria or not criteria}
    reason = seat.reason or (None if known else Reason.NOT_IMPORTED.value)
    return Seat(seat.seat, known or None, reason, seat.repaired, key)


def _reason(run: HelmRun, case: HelmCase, metric: str) -> Unscored | None:
    """Return why our own export had no score of the instance."""
    reason = run.record.reasons.get(case.instance.id, {}).get(metric) if run.record else None
    return None if reason is None else Unscored(reason)


def _run_score(run: HelmRun, name: str, value: float) -> RunScore:
    units = [case.instance.unit for case in run.cases if _reason(run, case, name) is None]
    return RunScore(name, value, None, None, len(units), len(set(units)))


def _metrics(run: HelmRun, benchmark: Benchmark | None) -> tuple[KeptMetric, ...]:
    """Return the records of HELM's scores: the benchmark's own metrics in its order, then others.

    Raises:
        BenchmarkError: the run holds no score, and the benchmark is not known here.
    """
    found = {metric for case in run.cases for metric in case.scores} | set(run.whole_run)
    own = [helm_metric_name(use) for use in (benchmark.metrics if benchmark else ())]
    ordered = [name for name in own if name in found] + sorted(found - set(own)) or own
    if not ordered:
        raise BenchmarkError(f"{printable(run.name)}: per_instance_stats.json holds no score of an answer", ADVICE)
    return tuple(_metric(run, helm, benchmark) for helm in ordered)


def _metric(run: HelmRun, helm: str, benchmark: Benchmark | None) -> KeptMetric:
    """Return the record of one of HELM's metrics; with its jury, where it is a jury's and its judges gave anything."""
    is_whole_run = helm in run.whole_run
    values = [run.whole_run[helm]] if is_whole_run else [c.scores[helm] for c in run.cases if helm in c.scores]
    metric = imported_metric(metric_called(helm, benchmark), helm, values=values, whole_run=is_whole_run)
    jury = next((jury for jury in run.juries if jury.metric == helm), None)
    seats = [seat for case in run.cases for seat in case.seats.get(helm, ())]
    if jury is None or not seats:
        return metric
    use = next((use for use in (benchmark.metrics if benchmark else ()) if helm_metric_name(use) == helm), None)
    grades = [grade for seat in seats for grade in (seat.grades or {}).values()]
    scale = Scale(min([0.0, *grades]), max([1.0, *grades])) if use is None else use.scale
    return replace(metric, low=scale.low, high=scale.high, jury=keep_jury(jury, seats, scale))
