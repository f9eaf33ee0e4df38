"""The correspondence between HELM's and our names of benchmarks and metrics."""

import math
import re
from collections.abc import Mapping, Sequence

from agent.catalog.benchmark import Benchmark
from agent.metrics import METRICS, MetricUse
from agent.scoring.measures import HELM_TWIN
from agent.store import KeptMetric

# HELM writes these statistics next to each score. They are bookkeeping, not scores of an answer.
_BOOKKEEPING = re.compile(
    r"num_.*|finish_reason_.*|inference_.*|training_.*|estimated_.*|batch_size|prompt_truncated|logprob|max_prob"
    r"|.*perplexity|.*@\d+|bits_per_byte|logprob_per_byte|predicted_index|.*_unscored"
)


def helm_metric_name(use: MetricUse) -> str:
    """Return HELM's name for the metric."""
    return use.helm_name or use.name


def is_score(name: str) -> bool:
    """Return whether a HELM statistic of this name measures the quality of an answer."""
    return _BOOKKEEPING.fullmatch(name) is None


def find_benchmark(names: Sequence[str], catalogue: Mapping[str, Benchmark]) -> Benchmark | None:
    """Find the benchmark whose id, alias or HELM group is one of HELM's `names`.

    The first name that matches a benchmark decides.
    """
    by_group: dict[str, Benchmark] = {}
    by_name: dict[str, Benchmark] = {}
    for benchmark in catalogue.values():
        for group in benchmark.helm_groups:
            by_group.setdefault(group, benchmark)
        for name in (benchmark.id, *benchmark.aliases):
            by_name[name] = benchmark
    for name in names:
        # Two benchmarks may share a group, but never a name.
        benchmark_of_name = by_name.get(name) or by_group.get(name)
        if benchmark_of_name is not None:
            return benchmark_of_name
    return None


def read_scenario_name(run_name: str) -> str:
    """Return the scenario part of a HELM run name: `clear` in `clear:condition=x,model=y`."""
    return re.split(r"[:,]", run_name, maxsplit=1)[0]


def list_run_arguments(run_name: str) -> list[tuple[str, str]]:
    """Return the arguments in a HELM run name: `clear:condition=x,model=y`, `med_dialog,subset=x:model=y`."""
    arguments = []
    for word in split_run_name(run_name):
        key, equals, value = word.partition("=")
        if equals:
            arguments.append((key, value))
    return arguments


def split_run_name(run_name: str) -> list[str]:
    """Return the comma-separated parts of a HELM run name after the scenario."""
    after_scenario = run_name.removeprefix(read_scenario_name(run_name))
    words = after_scenario[1:]
    if not after_scenario.startswith(":"):
        words = words.replace(":", ",", 1)  # an older form: med_dialog,subset=x:model=y
    return [word for word in words.split(",") if word]


def find_metric_name(helm_name: str, benchmark: Benchmark | None) -> str:
    """Return our name for HELM's metric, or HELM's name if the benchmark does not have the metric."""
    for use in benchmark.metrics if benchmark else ():
        if helm_metric_name(use) == helm_name:
            return use.name
    return helm_name


def metric_title(name: str) -> str:
    """Return the display name of a metric: ours if the catalogue has it, otherwise one derived from its name."""
    spec = METRICS.get(name.removesuffix(HELM_TWIN))
    if spec is None:
        return name.replace("_", " ")
    if name.endswith(HELM_TWIN):
        return f"{spec.display_name} by HELM's rules"
    return spec.display_name


def imported_metric(
    name: str, helm_name: str, *, values: Sequence[float] = (), whole_run: bool = False
) -> KeptMetric:
    """Return the record of an imported metric.

    If the metric is unknown to Intramural, infer its scale from `values`.
    """
    spec = METRICS.get(name)
    if spec is not None:
        low, high, binary = spec.low, spec.high, spec.binary
    else:
        low = min([0, *map(math.floor, values)])
        high = max([1, *map(math.ceil, values)])
        binary = False
    return KeptMetric(
        name=name,
        metric=name,
        display_name=metric_title(name),
        helm_name=helm_name,
        low=low,
        high=high,
        binary=binary,
        scoring="helm",
        whole_run=whole_run,
    )
