"""What helm-summarize reads beside the runs: names of models, and a schema of every benchmark and metric."""

from collections.abc import Sequence
from typing import Any

from agent.exchange.each_metric import each_metric
from agent.exchange.helm.run_spec import HelmSpec
from agent.exchange.helm.stats import unscored_name
from agent.results.summarize import MetricSummary, RunSummary


def model_metadata(models: set[str]) -> dict[str, Any]:
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


def schema(exported: Sequence[tuple[HelmSpec, RunSummary]]) -> dict[str, Any]:
    """Return a schema with every benchmark, also those that HELM has no class for."""
    metrics: dict[str, MetricSummary] = {}
    groups: dict[str, dict[str, Any]] = {}
    for spec, summary in exported:
        for metric in each_metric(summary):
            metrics.setdefault(spec.helm_names[metric.metric], metric)
        main = spec.helm_names[summary.main.metric]
        details = summary.run.details
        groups.setdefault(
            spec.group,
            {
                "name": spec.group,
                "display_name": details.display_name,
                "description": f"{details.category}. Data: {details.data.known}.",
                "metric_groups": ["main", "counted"],
                "environment": {
                    "main_name": main,
                    "main_unscored": unscored_name(main),
                    "main_split": spec.split,
                },
            },
        )
    return {
        "metrics": [
            {"name": name, "display_name": metric.display_name, "lower_is_better": False}
            for name, metric in metrics.items()
        ]
        + [{"name": unscored_name(name), "display_name": "Unscored", "lower_is_better": True} for name in metrics]
        + [
            {"name": "num_instances", "display_name": "Instances"},
            {"name": "num_prompt_tokens", "display_name": "Prompt tokens"},
            {"name": "num_completion_tokens", "display_name": "Completion tokens"},
        ],
        "metric_groups": [
            {
                "name": "main",
                "display_name": "Main metric",
                "metrics": [{"name": "${main_name}", "split": "${main_split}"}],
            },
            {
                "name": "counted",
                "display_name": "Counted",
                "hide_win_rates": True,
                "metrics": [{"name": name, "split": "${main_split}"} for name in ("num_instances", "${main_unscored}")],
            },
        ],
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
