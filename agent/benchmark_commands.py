"""Commands around benchmarks: `benchmarks list`, `benchmarks show`."""

from typing import Any

import click

from agent.errors import AgentError, ConfigError
from agent.listing import format_option, show_rows
from agent.site import Site


@click.group()
def benchmarks() -> None:
    """What can be run here."""


@benchmarks.command("list")
@format_option()
@click.pass_obj
def list_benchmarks(site: Site, form: str) -> None:
    """List benchmarks with access level, category and whether the data is here."""
    from agent.catalog.benchmark import find_benchmarks

    rows = [_row(site, benchmark) for benchmark in find_benchmarks(site.own_benchmarks).values()]
    columns = {
        "id": "Id",
        "display_name": "Name",
        "category": "Category",
        "access": "Access",
        "data": "Data",
        "metric": "Main metric",
    }
    show_rows(rows, columns, form)


@benchmarks.command("show")
@click.argument("benchmark_id", metavar="ID")
@format_option()
@click.pass_obj
def show_benchmark(site: Site, benchmark_id: str, form: str) -> None:
    """Show everything about one benchmark."""
    from agent.catalog.benchmark import find_benchmarks

    known = find_benchmarks(site.own_benchmarks)
    if benchmark_id not in known:
        raise ConfigError(f"there is no benchmark {benchmark_id}", f"Known here: {', '.join(sorted(known))}.")
    benchmark = known[benchmark_id]
    row = _row(site, benchmark) | {
        "subcategory": benchmark.subcategory,
        "description": benchmark.description,
        "unit": benchmark.unit,
        "max_tokens": benchmark.max_tokens,
        "reasoning_max_tokens": benchmark.reasoning_max_tokens,
        "metrics": ", ".join(use.name for use in benchmark.metrics),
        "parser": benchmark.parser,
        "scoring": benchmark.scoring,
        "source": benchmark.source_url,
        "licence": benchmark.licence,
        "citation": benchmark.citation,
        "digest": benchmark.digest,
    }
    if form == "json":
        show_rows([row], {}, "json")
        return
    for key, value in row.items():
        click.echo(f"{key.replace('_', ' '):22}{value if value not in (None, '') else '-'}")


def _row(site: Site, benchmark: Any) -> dict[str, Any]:
    from agent.datasets.load import locate_dataset

    try:
        dataset = locate_dataset(benchmark, site.data)
        data, problems = dataset.known, "; ".join(dataset.problems)
    except AgentError as error:
        data, problems = "missing", str(error)
    return {
        "id": benchmark.id,
        "display_name": benchmark.display_name,
        "category": benchmark.category,
        "access": benchmark.access,
        "data": data,
        "data_problems": problems,
        "metric": benchmark.main_metric.name,
    }
