"""A scorecard drafted from benchmark definitions, for the central team to register."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.dataset_sizes import published_units
from agent.catalog.judges import Jury
from agent.disclosure.collect import name_subgroup
from agent.errors import ConfigError
from agent.jury.registered_jury import register_jury
from agent.metrics import JUDGED, METRICS, MetricUse, bert_score
from protocol.errors import ProtocolError
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard, parse_scorecard
from protocol.scorecard import Jury as RegisteredJury

NO_CATEGORY = "Own benchmarks"

Subgroups = Mapping[str, Mapping[str, Sequence[str]]]
"""Benchmark id -> variable -> values: the groups of units that a scorecard reports beside all of them."""


def parse_subgroups(descriptions: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """Read descriptions of the form `BENCHMARK:VARIABLE=VALUE,VALUE`.

    Raises:
        ConfigError: one is not of that form, or names fewer than two values.
    """
    found: dict[str, dict[str, list[str]]] = {}
    for description in descriptions:
        benchmark, colon, rest = description.partition(":")
        variable, equals, listed = rest.partition("=")
        values = [value.strip() for value in listed.split(",") if value.strip()]
        if not (benchmark and colon and variable and equals and len(values) > 1):
            raise ConfigError(
                f"--subgroup {description!r} is not of the form BENCHMARK:VARIABLE=VALUE,VALUE",
                "For example: --subgroup discharge-questions:sex=female,male (at least two values).",
            )
        found.setdefault(benchmark, {})[variable] = values
    return found


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
    """Return a scorecard with every metric of every benchmark that a site could submit, in their order.

    Of groups of units, only the figures of a benchmark's first metric: no other would leave.

    Left out are figures of a whole run (macro F1), of which there is nothing of single units that the rules could look
    at, metrics that this version does not give, and grades of a jury that is not named; `left_out` tells which.

    Args:
        name, version: of the scorecard.
        benchmarks: in its order.
        subgroups: groups of units to report.
        jury: registered for the metrics that judges grade. A benchmark that names its own judges keeps them.
        main_only: take the main metric of each benchmark alone.
        keep_unnamed: keep benchmarks whose units have no names, although their cells stay empty until they have some.

    Raises:
        ConfigError: a name or id is not one that a scorecard may hold, or nothing of a benchmark could be submitted:
            it has no other metrics, or units of a gated or private one have no names. Tells of every benchmark.
    """
    if main_only:
        benchmarks = [
            replace(benchmark, metrics=(benchmark.main_metric,)) for benchmark in benchmarks
        ]
    faults = [
        fault
        for benchmark in benchmarks
        for fault in _faults(benchmark, jury, keep_unnamed=keep_unnamed)
    ]
    faults += _subgroup_faults(benchmarks, subgroups or {})
    if faults:
        raise ConfigError(
            "\n".join(faults),
            "Leave the benchmark out. In one of your own, `unit_column` names the column of the patient (or document).",
        )
    cells: list[Cell] = []
    juries: list[RegisteredJury] = []
    for benchmark in benchmarks:
        uses = _submittable(benchmark, jury)
        cells += [_cell(benchmark, use, None) for use in uses]
        juries += [_register(benchmark, use, jury) for use in uses if use.name in JUDGED]
        for variable, values in (subgroups or {}).get(benchmark.id, {}).items():
            cells += [_cell(benchmark, uses[0], name_subgroup(variable, value)) for value in values]
    scorecard = Scorecard(
        name, version, tuple(map(_entry, benchmarks)), tuple(cells), tuple(juries)
    )
    try:
        return parse_scorecard(scorecard.to_json())
    except ProtocolError as error:
        raise ConfigError(
            f"this cannot be a scorecard: {error}",
            "Names and ids in a scorecard are short, in lower-case letters, digits, dashes and underscores.",
        ) from None


def _entry(benchmark: Benchmark) -> BenchmarkEntry:
    return BenchmarkEntry(
        id=benchmark.id,
        display_name=benchmark.display_name,
        category=benchmark.category or NO_CATEGORY,
        definition=benchmark.digest,
        subcategory=benchmark.subcategory,
        units=published_units(benchmark),
    )


def _cell(benchmark: Benchmark, use: MetricUse, subgroup: str | None) -> Cell:
    metric = METRICS[use.name]
    is_judged = use.name in JUDGED
    return Cell(
        benchmark=benchmark.id,
        metric=use.name,
        subgroup=subgroup,
        access=benchmark.access,
        binary=metric.binary,
        low=int(use.scale.low) if is_judged else metric.low,
        high=int(use.scale.high) if is_judged else metric.high,
        jury=benchmark.id if is_judged else None,
    )


def _register(benchmark: Benchmark, use: MetricUse, jury: Jury | None) -> RegisteredJury:
    """Return the jury of one benchmark; each has its own, for its rubric is its own."""
    judges = use.judges or (jury.judges if jury else ())
    quorums = [
        quorum for quorum in (use.quorum, jury.quorum if jury else None) if quorum is not None
    ]
    return register_jury(benchmark.id, use, judges, max(quorums, default=None))


def _subgroup_faults(benchmarks: Sequence[Benchmark], subgroups: Subgroups) -> list[str]:
    """Say which subgroups no site could report: of a benchmark left out, or of a column that it does not name."""
    by_id = {benchmark.id: benchmark for benchmark in benchmarks}
    faults = []
    for benchmark_id, variables in subgroups.items():
        if benchmark_id not in by_id:
            faults.append(
                f"{benchmark_id}: subgroups are asked for, but it is not among the scorecard's benchmarks"
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
    """Say of every metric that the scorecard leaves out why, and what the board then shows of its benchmark."""
    said = []
    for benchmark in benchmarks:
        taken = _submittable(benchmark, jury)
        for use in benchmark.metrics:
            if use not in taken:
                main = use is benchmark.main_metric
                instead = (
                    f"; the board shows {taken[0].name} in its place" if main and taken else ""
                )
                said.append(
                    f"{benchmark.id}: {use.name} is left out, for {_why_not(use, jury)}{instead}"
                )
    return said


def token_limits(scorecard: Scorecard, own: Path | None) -> dict[str, int]:
    """Return the length limit of an answer in tokens, by the digest of each definition that is here.

    Raises:
        BenchmarkError: the definition of one of the scorecard's benchmarks is broken; others are in nobody's way.
    """
    benchmarks, broken = survey_benchmarks(own)
    wanted = {entry.id for entry in scorecard.benchmarks}
    for one in broken:
        if wanted.intersection(one.names):
            raise one.error
    return {found.digest: found.max_tokens for found in benchmarks.values()}


def _submittable(benchmark: Benchmark, jury: Jury | None) -> list[MetricUse]:
    return [use for use in benchmark.metrics if not _why_not(use, jury)]


def _why_not(use: MetricUse, jury: Jury | None) -> str:
    """Say why no site could submit a metric; empty if one could."""
    if use.name in JUDGED:
        return _why_not_judged(use, jury)
    if use.name in bert_score.NAMES:
        return "its figures hang on the encoder that each site has"
    if use.name not in METRICS:
        return "it is not available in this version"
    return (
        "it is a figure of the whole run, which no site could submit"
        if METRICS[use.name].fn is None
        else ""
    )


def _why_not_judged(use: MetricUse, jury: Jury | None) -> str:
    """Say why no site could submit grades of judges; empty if a jury is named that the scorecard can register."""
    if not use.judges and jury is None:
        return "grades of different juries cannot be merged, and no jury is named to register"
    if use.scale.low != int(use.scale.low) or use.scale.high != int(use.scale.high):
        return "the ends of its scale are no whole numbers"
    return ""


def _faults(benchmark: Benchmark, jury: Jury | None, *, keep_unnamed: bool) -> Iterator[str]:
    if not _submittable(benchmark, jury):
        why = "; ".join(f"{use.name}: {_why_not(use, jury)}" for use in benchmark.metrics)
        yield f"{benchmark.id}: none of its metrics could be submitted ({why})"
    if benchmark.access != "public" and benchmark.unit_column is None and not keep_unnamed:
        yield f"{benchmark.id}: it is {benchmark.access}, and its units are row numbers, so no site could submit it"
