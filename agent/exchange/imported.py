"""What is kept with a run that was not made here, in the shape of a run of our own."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent import __version__
from agent.catalog.benchmark import Benchmark

BASELINES = "baseline/"  # models of this name are no language models, also where HELM's pages have shown them
ELSEWHERE = "Not in this site's catalogue"


def imported_details(
    benchmark: Benchmark | None,
    *,
    display_name: str,
    model: str,
    metrics: Sequence[Mapping[str, Any]],
    origin: Mapping[str, Any],
    instances: int,
    settings: Mapping[str, Any] | None = None,
    data: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return a run's details as `Plan.details` gives them, with `origin` saying where it comes from.

    Args:
        benchmark: the benchmark of this name here; its definition need not be the one that was run.
        display_name: for a benchmark that is not in the catalogue.
        metrics: from `agent.exchange.helm_names.metric_details`, the main one first.
        origin: kind, name and digest of what was imported; never a path.
        instances: how many the run holds.
        settings: whatever else a run keeps of itself, as far as it is known: max_tokens, arguments, unit.
        data: `known` and `own`, where our own export says whose data it was.
    """
    return {
        "display_name": benchmark.display_name if benchmark else display_name,
        "category": benchmark.category if benchmark else ELSEWHERE,
        "subcategory": benchmark.subcategory if benchmark else "",
        "access": benchmark.access if benchmark else "unknown",
        "benchmark_digest": "",
        "lineage": f"helm {display_name}",
        "unit": "instance",
        "unit_named": False,
        "arguments": {},
        "parts": [],
        "overrides": [],
        "sampled": None,
        "sample_seed": 0,
        "data": {
            "known": "imported",
            "own": True,
            "named": False,
            "digest": "",
            "instances": instances,
            "problems": [],
            **(data or {}),
        },
        "metrics": [dict(metric) for metric in metrics],
        "scoring": "helm",
        "max_tokens": None,
        "prompt_limit": None,
        "temperature": None,
        "stop": [],
        "language_model": not model.startswith(BASELINES),
        "capabilities": {"server": "", "features": {}},
        "workarounds": [],
        "agent_version": __version__,
        "origin": dict(origin),
        **(settings or {}),
    }
