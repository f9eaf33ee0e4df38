"""A scorecard drafted from benchmark definitions, for the central team to register."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.errors import ConfigError
from agent.metrics import JUDGED, METRICS, MetricUse, bert_score
from protocol.errors import ProtocolError
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard, parse_scorecard

NO_CATEGORY = "Own benchmarks"


def draft_scorecard(name: str, version: int, benchmarks: Sequence[Benchmark]) -> Scorecard:
    """Return a scorecard with every metric of every benchmark that a site could submit, in their order.

    Left out are figures of a whole run (macro F1), of which there is nothing of single units that the rules could look
    at, and metrics that this version does not give; `left_out` tells which.

    Raises:
        ConfigError: a name or id is not one that a scorecard may hold, or nothing of a benchmark could be submitted:
            it has no other metrics, or units of a gated or private one have no names. Tells of every benchmark.
    """
    faults = [fault for benchmark in benchmarks for fault in _faults(benchmark)]
    if faults:
        raise ConfigError(
            "\n".join(faults),
            "Leave the benchmark out. In one of your own, `unit_column` names the column of the patient (or document).",
        )
    entries = tuple(
        BenchmarkEntry(benchmark.id, benchmark.display_name, benchmark.category or NO_CATEGORY, benchmark.digest)
        for benchmark in benchmarks
    )
    cells = tuple(
        Cell(
            benchmark=benchmark.id,
            metric=use.name,
            subgroup=None,
            access=benchmark.access,
            binary=METRICS[use.name].binary,
            low=METRICS[use.name].low,
            high=METRICS[use.name].high,
        )
        for benchmark in benchmarks
        for use in _submittable(benchmark)
    )
    try:
        return parse_scorecard(Scorecard(name, version, entries, cells).to_json())
    except ProtocolError as error:
        raise ConfigError(
            f"this cannot be a scorecard: {error}",
            "Names and ids in a scorecard are short, in lower-case letters, digits, dashes and underscores.",
        ) from None


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
