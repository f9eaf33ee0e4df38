"""What HELM and Intramural call the same thing: benchmarks and metrics."""

import re
from collections.abc import Mapping, Sequence

from agent.catalog.benchmark import Benchmark
from agent.metrics import METRICS, MetricUse
from agent.scoring.measures import HELM_TWIN
from agent.store import KeptMetric

# What HELM counts beside each score: bookkeeping, not a score of an answer.
_BOOKKEEPING = re.compile(
    r"num_.*|finish_reason_.*|inference_.*|training_.*|estimated_.*|batch_size|prompt_truncated|logprob|max_prob"
    r"|.*perplexity|.*@\d+|bits_per_byte|logprob_per_byte|predicted_index|.*_unscored"
)


def helm_metric_name(use: MetricUse) -> str:
    """Return what HELM calls the metric."""
    return use.helm_name or use.name


def is_score(name: str) -> bool:
    """Whether a HELM statistic of this name says how good an answer is."""
    return _BOOKKEEPING.fullmatch(name) is None


def benchmark_called(names: Sequence[str], catalogue: Mapping[str, Benchmark]) -> Benchmark | None:
    """Find the benchmark that goes by one of HELM's `names` (the first that is known): its id, alias or HELM group."""
    known: dict[str, Benchmark] = {}
    for benchmark in catalogue.values():
        for name in (benchmark.id, *benchmark.aliases, *benchmark.helm_groups):
            known.setdefault(name, benchmark)
    by_id = {name: benchmark for benchmark in catalogue.values() for name in (benchmark.id, *benchmark.aliases)}
    known |= by_id  # two benchmarks may share a group, never a name
    return next((known[name] for name in names if name in known), None)


def name_of_run_spec(run_name: str) -> str:
    """Return the scenario's part of a HELM run name: `clear` of `clear:condition=x,model=y`."""
    return re.split(r"[:,]", run_name, maxsplit=1)[0]


def pairs_of_run_spec(run_name: str) -> list[tuple[str, str]]:
    """Return the keys and values of a HELM run name: `clear:condition=x,model=y`, `med_dialog,subset=x:model=y`."""
    return [
        (key, value) for key, equals, value in (word.partition("=") for word in words_of_run_spec(run_name)) if equals
    ]


def words_of_run_spec(run_name: str) -> list[str]:
    """Return what stands between the commas of a HELM run name, after the scenario's part."""
    rest = run_name[len(name_of_run_spec(run_name)) :]
    words = rest[1:] if rest.startswith(":") else rest[1:].replace(":", ",", 1)
    return [word for word in words.split(",") if word]


def metric_called(helm_name: str, benchmark: Benchmark | None) -> str:
    """Return our name of HELM's metric, or HELM's own where it is none of ours."""
    for use in () if benchmark is None else benchmark.metrics:
        if helm_metric_name(use) == helm_name:
            return use.name
    return helm_name


def metric_title(name: str) -> str:
    """Return a metric's name for people: ours by its key, any other's made from its name and nothing else."""
    spec = METRICS.get(name.removesuffix(HELM_TWIN))
    if spec is None:
        return name.replace("_", " ")
    return spec.display_name + (" by HELM's rules" if name.endswith(HELM_TWIN) else "")


def imported_metric(name: str, helm_name: str, *, values: Sequence[float] = (), whole_run: bool = False) -> KeptMetric:
    """Return the record of an imported metric. The scale of one that is not ours is taken from its `values`."""
    spec = METRICS.get(name)
    if spec is not None:
        low, high, binary = spec.low, spec.high, spec.binary
    else:
        low = min(0, *(int(value // 1) for value in values)) if values else 0
        high = max(1, *(int(-(-value // 1)) for value in values)) if values else 1
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
