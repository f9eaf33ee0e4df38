"""Describe models, benchmarks and metrics for helm-summarize, which reads these files next to the runs."""

from collections.abc import Mapping, Sequence
from typing import Any

from agent.exchange.helm.run_spec import HelmSpec
from agent.exchange.helm.stats import name_unscored
from agent.exchange.summary_metrics import iter_metrics
from agent.results.summarize import MetricSummary, RunSummary

_COUNTS = [
    {"name": "num_instances", "display_name": "Instances"},
    {"name": "num_prompt_tokens", "display_name": "Prompt tokens"},
    {"name": "num_completion_tokens", "display_name": "Completion tokens"},
]
_METRIC_GROUPS: list[dict[str, Any]] = [  # names in ${} are defined in each benchmark's environment
    {
        "name": "main",
        "display_name": "Main metric",
        "metrics": [{"name": "${main_name}", "split": "${main_split}"}],
    },
    {
        "name": "counted",
        "display_name": "Counted",
        "hide_win_rates": True,
        "metrics": [
            {"name": "num_instances", "split": "${main_split}"},
            {"name": "${main_unscored}", "split": "${main_split}"},
        ],
    },
]


def describe_models(models: set[str]) -> dict[str, Any]:
    """Return the names of the models that were asked."""
    return {
        "models": [
            {
                "name": model,
                "creator_organization_name": model.partition("/")[0],
                "display_name": model,
                "description": "Evaluated at this site.",
                "access": "limited",
                "tags": [],
            }
            for model in sorted(models)
        ]
    }


def describe_schema(exported: Sequence[tuple[HelmSpec, RunSummary]]) -> dict[str, Any]:
    """Return a schema of all benchmarks, including those for which HELM has no class."""
    metrics: dict[str, MetricSummary] = {}
    groups: dict[str, dict[str, Any]] = {}
    for spec, summary in exported:
        for metric in iter_metrics(summary):
            metrics.setdefault(spec.helm_names[metric.metric], metric)
        groups.setdefault(spec.group, _describe_group(spec, summary))
    return {
        "metrics": _describe_metrics(metrics),
        "metric_groups": _METRIC_GROUPS,
        "run_groups": [
            {
                "name": "intramural",
                "display_name": "All benchmarks",
                "description": "Every benchmark of this export",
                "category": "All benchmarks",
                "subgroups": list(groups),
            },
            *groups.values(),
        ],
    }


def _describe_group(spec: HelmSpec, summary: RunSummary) -> dict[str, Any]:
    """Return one benchmark as a group of runs."""
    main = spec.helm_names[summary.main.metric]
    details = summary.run.details
    return {
        "name": spec.group,
        "display_name": details.display_name,
        "description": f"{details.category}. Data: {details.data.known}.",
        "metric_groups": ["main", "counted"],
        "environment": {
            "main_name": main,
            "main_unscored": name_unscored(main),
            "main_split": spec.split,
        },
    }


def _describe_metrics(metrics: Mapping[str, MetricSummary]) -> list[dict[str, Any]]:
    scores = []
    unscored = []
    for name, metric in metrics.items():
        scores.append({"name": name, "display_name": metric.display_name, "lower_is_better": False})
        unscored.append(
            {"name": name_unscored(name), "display_name": "Unscored", "lower_is_better": True}
        )
    return [*scores, *unscored, *_COUNTS]
