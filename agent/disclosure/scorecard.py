"""A scorecard drafted from benchmark definitions, for the central team to register."""

from collections.abc import Sequence

from agent.catalog.benchmark import Benchmark
from agent.disclosure.collect import NAME_UNITS
from agent.errors import ConfigError
from agent.metrics import JUDGED, METRICS
from protocol.errors import ProtocolError
from protocol.scorecard import BenchmarkEntry, Cell, Scorecard, parse_scorecard

NO_CATEGORY = "Own benchmarks"


def draft_scorecard(name: str, version: int, benchmarks: Sequence[Benchmark]) -> Scorecard:
    """Return a scorecard with every metric of every benchmark that its instances have, in their order.

    Figures of a whole run (macro F1) are left out: there is nothing of single units that the rules could look at.

    Raises:
        ConfigError: a name or id is not one that a scorecard may hold, or nothing of a benchmark could be submitted:
            a metric is not available, the main one is of the whole run, or units of a gated or private one have no
            names.
    """
    for benchmark in benchmarks:
        _check_submittable(benchmark)
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
        for use in benchmark.metrics
        if METRICS[use.name].fn is not None
    )
    try:
        return parse_scorecard(Scorecard(name, version, entries, cells).to_json())
    except ProtocolError as error:
        raise ConfigError(
            f"this cannot be a scorecard: {error}",
            "Names and ids in a scorecard are short, in lower-case letters, digits, dashes and underscores.",
        ) from None


def _check_submittable(benchmark: Benchmark) -> None:
    missing = [use.name for use in benchmark.metrics if use.name not in METRICS or use.name in JUDGED]
    if missing:
        raise ConfigError(
            f"{benchmark.id}: {', '.join(missing)} is not available in this version, so it cannot be reported",
            "Leave the benchmark out, or the metric out of its benchmark.yaml.",
        )
    if METRICS[benchmark.main_metric.name].fn is None:
        raise ConfigError(
            f"{benchmark.id}: its main metric, {benchmark.main_metric.name}, is one of the whole run, which no site "
            "could submit",
            "Leave the benchmark out.",
        )
    if benchmark.access != "public" and benchmark.unit_column is None:
        raise ConfigError(
            f"{benchmark.id}: it is {benchmark.access}, and its units are row numbers, so no site could submit it",
            NAME_UNITS,
        )
