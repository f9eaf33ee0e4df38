"""A scorecard drafted from benchmark definitions, for the central team to register."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.disclosure.collect import subgroup_name
from agent.errors import ConfigError
from agent.metrics import JUDGED, METRICS, MetricUse, bert_score
from protocol.errors import ProtocolError
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard, parse_scorecard

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
    name: str, version: int, benchmarks: Sequence[Benchmark], subgroups: Subgroups | None = None
) -> Scorecard:
    """Return a scorecard with every metric of every benchmark that a site could submit, in their order.

    Of groups of units, only the figures of a benchmark's first metric: no other would leave.

    Left out are figures of a whole run (macro F1), of which there is nothing of single units that the rules could look
    at, and metrics that this version does not give; `left_out` tells which.

    Raises:
        ConfigError: a name or id is not one that a scorecard may hold, or nothing of a benchmark could be submitted:
            it has no other metrics, or units of a gated or private one have no names. Tells of every benchmark.
    """
    faults = [fault for benchmark in benchmarks for fault in _faults(benchmark)]
    faults += _subgroup_faults(benchmarks, subgroups or {})
    if faults:
        raise ConfigError(
            "\n".join(faults),
            "Leave the benchmark out. In one of your own, `unit_column` names the column of the patient (or document).",
        )
    entries = tuple(
        BenchmarkEntry(benchmark.id, benchmark.display_name, benchmark.category or NO_CATEGORY, benchmark.digest)
        for benchmark in benchmarks
    )
    cells: list[Cell] = []
    for benchmark in benchmarks:
        uses = _submittable(benchmark)
        cells += [_cell(benchmark, use, None) for use in uses]
        for variable, values in (subgroups or {}).get(benchmark.id, {}).items():
            cells += [_cell(benchmark, uses[0], subgroup_name(variable, value)) for value in values]
    try:
        return parse_scorecard(Scorecard(name, version, entries, tuple(cells)).to_json())
    except ProtocolError as error:
        raise ConfigError(
            f"this cannot be a scorecard: {error}",
            "Names and ids in a scorecard are short, in lower-case letters, digits, dashes and underscores.",
        ) from None


def _cell(benchmark: Benchmark, use: MetricUse, subgroup: str | None) -> Cell:
    metric = METRICS[use.name]
    return Cell(
        benchmark=benchmark.id,
        metric=use.name,
        subgroup=subgroup,
        access=benchmark.access,
        binary=metric.binary,
        low=metric.low,
        high=metric.high,
    )


def _subgroup_faults(benchmarks: Sequence[Benchmark], subgroups: Subgroups) -> list[str]:
    """Say which subgroups no site could report: of a benchmark left out, or of a column that it does not name."""
    by_id = {benchmark.id: benchmark for benchmark in benchmarks}
    faults = []
    for benchmark_id, variables in subgroups.items():
        if benchmark_id not in by_id:
            faults.append(f"{benchmark_id}: subgroups are asked for, but it is not among the scorecard's benchmarks")
            continue
        known = by_id[benchmark_id].subgroup_columns
        faults += [
            f"{benchmark_id}: it has no subgroup {variable} (its definition names: {', '.join(known) or 'none'})"
            for variable in variables
            if variable not in known
        ]
    return faults


def left_out(benchmarks: Sequence[Benchmark]) -> list[str]:
    """Say of every metric that the scorecard leaves out why, and what the board then shows of its benchmark."""
    said = []
    for benchmark in benchmarks:
        taken = _submittable(benchmark)
        for use in benchmark.metrics:
            if use not in taken:
                main = use is benchmark.main_metric
                instead = f"; the board shows {taken[0].name} in its place" if main and taken else ""
                said.append(f"{benchmark.id}: {use.name} is left out, for {_why_not(use)}{instead}")
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


def _submittable(benchmark: Benchmark) -> list[MetricUse]:
    return [use for use in benchmark.metrics if not _why_not(use)]


def _why_not(use: MetricUse) -> str:
    """Say why no site could submit a metric; empty if one could."""
    if use.name in JUDGED:
        return "grades of different juries cannot be merged yet"
    if use.name in bert_score.NAMES:
        return "its figures hang on the encoder that each site has"
    if use.name not in METRICS:
        return "it is not available in this version"
    return "it is a figure of the whole run, which no site could submit" if METRICS[use.name].fn is None else ""


def _faults(benchmark: Benchmark) -> Iterator[str]:
    if not _submittable(benchmark):
        why = "; ".join(f"{use.name}: {_why_not(use)}" for use in benchmark.metrics)
        yield f"{benchmark.id}: none of its metrics could be submitted ({why})"
    if benchmark.access != "public" and benchmark.unit_column is None:
        yield f"{benchmark.id}: it is {benchmark.access}, and its units are row numbers, so no site could submit it"
