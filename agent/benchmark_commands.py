"""Commands around benchmarks: `benchmarks list`, `benchmarks show`."""

import json
from collections.abc import Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any

import click

from agent.errors import AgentError, ConfigError
from agent.listing import format_option, show_rows
from agent.site import Site

if TYPE_CHECKING:
    from agent.catalog.benchmark import Benchmark


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

    benchmark = _known(find_benchmarks(site.own_benchmarks), benchmark_id)
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


def _known(benchmarks: "Mapping[str, Benchmark]", benchmark_id: str) -> "Benchmark":
    if benchmark_id not in benchmarks:
        raise ConfigError(f"there is no benchmark {benchmark_id}", f"Known here: {', '.join(sorted(benchmarks))}.")
    return benchmarks[benchmark_id]


def _row(site: Site, benchmark: "Benchmark") -> dict[str, Any]:
    from agent.datasets.load import locate_dataset

    data, problems = "missing", ""
    try:
        dataset = locate_dataset(benchmark, site.data)
        data, problems = dataset.known, "; ".join(dataset.problems)
    except AgentError as error:
        problems = str(error)
    return {
        "id": benchmark.id,
        "display_name": benchmark.display_name,
        "category": benchmark.category,
        "access": benchmark.access,
        "data": data,
        "data_problems": problems,
        "metric": benchmark.main_metric.name,
    }


@benchmarks.command("scorecard")
@click.argument("benchmark_ids", metavar="ID...", nargs=-1, required=True)
@click.option("--name", required=True, help="Name of the scorecard, for example medhelm-public.")
@click.option("--version", type=click.IntRange(1), default=1, show_default=True)
@click.option("--out", type=click.File("x", encoding="utf-8", lazy=True), required=True, help="A new file.")
@click.pass_obj
def write_scorecard(site: Site, benchmark_ids: Sequence[str], name: str, version: int, out: IO[str]) -> None:
    """Write a scorecard of these benchmarks, for the central team to register with the aggregator."""
    from agent.catalog.benchmark import find_benchmarks
    from agent.disclosure.scorecard import draft_scorecard

    known = find_benchmarks(site.own_benchmarks)
    chosen = [_known(known, benchmark_id) for benchmark_id in benchmark_ids]
    scorecard = draft_scorecard(name, version, chosen)
    out.write(json.dumps(scorecard.to_json(), indent=2, sort_keys=True) + "\n")
    click.echo(f"{len(scorecard.cells)} cells of {len(chosen)} benchmarks, digest {scorecard.digest[:16]}")
