"""Rows about the benchmarks and models of a site."""

from collections import Counter
from typing import Any

from agent.catalog.benchmark import Benchmark, survey_benchmarks
from agent.catalog.deployments import Deployment, read_deployments
from agent.catalog.taxonomy import taxonomy
from agent.datasets.manage.register import check_data
from agent.exchange.shown_names import ShownNames
from agent.model_servers.running import list_running
from agent.site.directory import Site
from agent.store import Store


def list_benchmark_rows(site: Site) -> list[dict[str, Any]]:
    """Return a row for each benchmark, by category, and then for each definition that cannot be read."""
    readable, broken = survey_benchmarks(site.own_benchmarks)
    order = [*taxonomy(), ""]
    rows = [_build_benchmark_row(site, benchmark) for benchmark in readable.values()]
    rows.sort(key=lambda row: order.index(row["category"]))
    for definition in broken:
        name = definition.names[0] if definition.names else definition.path.name
        rows.append({"benchmark": name, "data": "broken", "data_detail": str(definition.error)})
    return rows


def _build_benchmark_row(site: Site, benchmark: Benchmark) -> dict[str, Any]:
    state = check_data(benchmark, site.data)
    return {
        "benchmark": benchmark.id,
        "benchmark_name": benchmark.display_name,
        "category": benchmark.category,
        "subcategory": benchmark.subcategory or None,
        "access": benchmark.access,
        "metric": benchmark.main_metric.name,
        "helm_metric": benchmark.main_metric.helm_name or benchmark.main_metric.name,
        "unit": benchmark.unit,
        "data": state.state,
        "data_detail": state.detail or None,
    }


def list_model_rows(site: Site, store: Store, names: ShownNames) -> list[dict[str, Any]]:
    """Return a row for each deployment of the site's file, and for each further one that has runs.

    Raises:
        ConfigError: the file of deployments is wrong.
    """
    counts = Counter((run.deployment, run.model) for run in store.runs.select())
    running = {server.deployment for server in list_running(site.servers)}
    rows = []
    for deployment in read_deployments(site.deployments).values():
        count = counts.pop((deployment.name, deployment.model_name), 0)
        rows.append({**_describe_deployment(deployment, deployment.name in running), "runs": count})
    shown_runs = {(run.deployment, run.model): names.show_run(run) for run in store.runs.select()}
    for key, count in counts.items():
        shown = shown_runs[key]
        rows.append(
            {"model": shown.model, "deployment": shown.deployment, "listed": False, "runs": count}
        )
    return rows


def _describe_deployment(deployment: Deployment, is_running: bool) -> dict[str, Any]:
    prices = deployment.prices
    row: dict[str, Any] = {
        "model": deployment.model_name,
        "deployment": deployment.name,
        "listed": True,
        "managed": deployment.managed is not None,
        "running": is_running if deployment.managed else None,
        "reasoning": deployment.reasoning,
        "max_sequence_length": deployment.max_sequence_length,
        "max_in_flight": deployment.max_in_flight,
        "problem": deployment.problem,
    }
    if prices is not None:
        row["currency"] = prices.currency
        row["per_million_prompt_tokens"] = prices.per_million_prompt_tokens
        row["per_million_completion_tokens"] = prices.per_million_completion_tokens
        row["gpu_hour_rate"] = prices.gpu_hour_rate
    return row
