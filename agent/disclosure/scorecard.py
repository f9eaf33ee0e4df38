"""Draft a scorecard from benchmark definitions, for the central team to register."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.dataset_sizes import published_units
from agent.catalog.judges import Jury
from agent.disclosure.collect import name_subgroup
from agent.errors import ConfigError
from agent.jury.registered_jury import register_jury
from agent.metrics import JUDGED, METRICS, MetricUse, bert_score, find_spec, is_own
from agent.metrics.own import name_cell_metric
from protocol.errors import ProtocolError
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard, parse_scorecard
from protocol.scorecard import Jury as RegisteredJury

NO_CATEGORY = "Own benchmarks"

Subgroups = Mapping[str, Mapping[str, Sequence[str]]]
"""Benchmark id -> variable -> values: the groups of units that a scorecard reports in addition to all units."""


def parse_subgroups(descriptions: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Parse descriptions of the form `BENCHMARK:VARIABLE=VALUE,VALUE`.

    Raises:
        ConfigError: a description does not have this form, or has fewer than two values.
    """
    subgroups: dict[str, dict[str, list[str]]] = {}
    for description in descriptions:
        benchmark, colon, rest = description.partition(":")
        variable, equals, listed = rest.partition("=")
        values = [value.strip() for value in listed.split(",") if value.strip()]
        if not (benchmark and colon and variable and equals and len(values) > 1):
            raise ConfigError(
                f"--subgroup {description!r} does not have the form BENCHMARK:VARIABLE=VALUE,VALUE",
                "For example: --subgroup discharge-questions:sex=female,male (at least two values).",
            )
        subgroups.setdefault(benchmark, {})[variable] = values
    return subgroups


def draft_scorecard(
    name: str,
    version: int,
    benchmarks: Sequence[Benchmark],
    subgroups: Subgroups | None = None,
    *,
    jury: Jury | None = None,
    main_only: bool = False,
    keep_unnamed: bool = False,
) -> Scorecard:
    """Return a scorecard with all metrics of all benchmarks that a site could submit, in order.

    Subgroups have only a cell for the benchmark's first metric, since the gate would suppress others.

    Metrics of a whole run (such as macro F1) are left out, because they have no scores of single units to which the
    rules could be applied. So are metrics that this version lacks, and grades of juries that are not named. `left_out`
    lists all of them.

    Args:
        name: name of the scorecard.
        version: version of the scorecard.
        benchmarks: the benchmarks in the order of the scorecard.
        subgroups: groups of units to report.
        jury: jury to register for metrics that judges grade. A benchmark that names its own judges keeps them.
        main_only: include only the main metric of each benchmark.
        keep_unnamed: keep benchmarks whose units have no names, although their cells stay empty until they have.

    Raises:
        ConfigError: a name or id is not allowed in a scorecard, or a benchmark cannot be submitted: it has no suitable
            metric, or is gated or private and its units have no names. The message lists all such benchmarks.
    """
    if main_only:
        benchmarks = [
            replace(benchmark, metrics=(benchmark.main_metric,)) for benchmark in benchmarks
        ]
    faults = [
        fault
        for benchmark in benchmarks
        for fault in _list_faults(benchmark, jury, keep_unnamed=keep_unnamed)
    ]
    faults += _list_subgroup_faults(benchmarks, subgroups or {})
    if faults:
        raise ConfigError(
            "\n".join(faults),
            "Leave the benchmark out. If it is your own, set `unit_column` to the column of the patient (or document).",
        )
    cells: list[Cell] = []
    juries: list[RegisteredJury] = []
    for benchmark in benchmarks:
        uses = _list_submittable(benchmark, jury)
        cells += [_build_cell(benchmark, use, None) for use in uses]
        juries += [_register(benchmark, use, jury) for use in uses if use.name in JUDGED]
        for variable, values in (subgroups or {}).get(benchmark.id, {}).items():
            cells += [
                _build_cell(benchmark, uses[0], name_subgroup(variable, value)) for value in values
            ]
    scorecard = Scorecard(
        name, version, tuple(map(_build_entry, benchmarks)), tuple(cells), tuple(juries)
    )
    try:
        return parse_scorecard(scorecard.to_json())
    except ProtocolError as error:
        raise ConfigError(
            f"this cannot be a scorecard: {error}",
            "Names and ids in a scorecard are short and consist of lower-case letters, digits, dashes and underscores.",
        ) from None


def _build_entry(benchmark: Benchmark) -> BenchmarkEntry:
    return BenchmarkEntry(
        id=benchmark.id,
        display_name=benchmark.display_name,
        category=benchmark.category or NO_CATEGORY,
        definition=benchmark.digest,
        subcategory=benchmark.subcategory,
        units=published_units(benchmark),
    )


def _build_cell(benchmark: Benchmark, use: MetricUse, subgroup: str | None) -> Cell:
    metric = find_spec(use)
    is_judged = use.name in JUDGED
    return Cell(
        benchmark=benchmark.id,
        metric=name_cell_metric(use.name, use.options),
        subgroup=subgroup,
        access=benchmark.access,
        binary=metric.binary,
        low=int(use.scale.low) if is_judged else metric.low,
        high=int(use.scale.high) if is_judged else metric.high,
        jury=benchmark.id if is_judged else None,
    )


def _register(benchmark: Benchmark, use: MetricUse, jury: Jury | None) -> RegisteredJury:
    """Return the jury to register for one benchmark, with that benchmark's rubric."""
    judges = use.judges or (jury.judges if jury else ())
    quorums = [
        quorum for quorum in (use.quorum, jury.quorum if jury else None) if quorum is not None
    ]
    return register_jury(benchmark.id, use, judges, max(quorums, default=None))


def _list_subgroup_faults(benchmarks: Sequence[Benchmark], subgroups: Subgroups) -> list[str]:
    """Return messages about subgroups whose benchmark is not in the scorecard, or whose column is unknown."""
    by_id = {benchmark.id: benchmark for benchmark in benchmarks}
    faults = []
    for benchmark_id, variables in subgroups.items():
        if benchmark_id not in by_id:
            faults.append(
                f"{benchmark_id}: subgroups were requested, but it is not one of the scorecard's benchmarks"
            )
            continue
        known = by_id[benchmark_id].subgroup_columns
        faults += [
            f"{benchmark_id}: it has no subgroup {variable} (its definition names: {', '.join(known) or 'none'})"
            for variable in variables
            if variable not in known
        ]
    return faults


def left_out(benchmarks: Sequence[Benchmark], jury: Jury | None = None) -> list[str]:
    """Return a message for each metric that is left out: the reason, and which metric the board shows instead."""
    messages = []
    for benchmark in benchmarks:
        included = _list_submittable(benchmark, jury)
        for use in benchmark.metrics:
            if use not in included:
                instead = ""
                if use is benchmark.main_metric and included:
                    instead = f"; the board shows {included[0].name} instead"
                reason = _explain_exclusion(use, jury)
                messages.append(f"{benchmark.id}: {use.name} is left out: {reason}{instead}")
    return messages


def token_limits(scorecard: Scorecard, own: Path | None) -> dict[str, int]:
    """Return the length limit of answers in tokens, by the digest of each benchmark definition at this site.

    Raises:
        BenchmarkError: the definition of a benchmark in the scorecard is invalid; other invalid ones are ignored.
    """
    benchmarks, broken = survey_benchmarks(own)
    wanted = {entry.id for entry in scorecard.benchmarks}
    for broken_benchmark in broken:
        if wanted.intersection(broken_benchmark.names):
            raise broken_benchmark.error
    return {benchmark.digest: benchmark.max_tokens for benchmark in benchmarks.values()}


def _list_submittable(benchmark: Benchmark, jury: Jury | None) -> list[MetricUse]:
    return [use for use in benchmark.metrics if not _explain_exclusion(use, jury)]


def _explain_exclusion(use: MetricUse, jury: Jury | None) -> str:
    """Return the reason why sites cannot submit a metric; "" if they can."""
    if use.name in JUDGED:
        return _explain_exclusion_of_grades(use, jury)
    if use.name in bert_score.NAMES:
        return "its values depend on the encoder that each site uses"
    if is_own(use.name):
        return "" if use.own else "it is a site's own, and its code is not enabled here"
    if use.name not in METRICS:
        return "it is not available in this version"
    return (
        "it is computed for the whole run, and such values cannot be submitted"
        if METRICS[use.name].fn is None
        else ""
    )


def _explain_exclusion_of_grades(use: MetricUse, jury: Jury | None) -> str:
    """Return the reason why sites cannot submit a metric graded by judges; "" if its jury can be registered."""
    if not use.judges and jury is None:
        return (
            "grades of different juries cannot be merged, and no jury was named for the scorecard"
        )
    if use.scale.low != int(use.scale.low) or use.scale.high != int(use.scale.high):
        return "the ends of its scale are not whole numbers"
    return ""


def _list_faults(benchmark: Benchmark, jury: Jury | None, *, keep_unnamed: bool) -> Iterator[str]:
    if not _list_submittable(benchmark, jury):
        why = "; ".join(f"{use.name}: {_explain_exclusion(use, jury)}" for use in benchmark.metrics)
        yield f"{benchmark.id}: none of its metrics can be submitted ({why})"
    if benchmark.access != "public" and benchmark.unit_column is None and not keep_unnamed:
        yield f"{benchmark.id}: it is {benchmark.access}, and its units are row numbers, so it cannot be submitted"
