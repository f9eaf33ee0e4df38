"""Commands around benchmarks: `benchmarks list`, `benchmarks show`."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agent.errors import AgentError, ConfigError
from agent.listing import format_option, printable, show_rows
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
    from agent.catalog.benchmark import survey_benchmarks

    found, broken = survey_benchmarks(site.own_benchmarks)
    rows = [_row(site, benchmark) for benchmark in found.values()]
    rows += [
        {"id": one.names[0] if one.names else one.place.name, "data": "broken", "data_problems": str(one.error)}
        for one in broken
    ]
    columns = {
        "id": "Id",
        "display_name": "Name",
        "category": "Category",
        "access": "Access",
        "data": "Data",
        "metric": "Main metric",
    }
    show_rows(rows, columns, form)
    for one in broken:
        click.echo(f"broken: {printable(str(one.error))}", err=True)


@benchmarks.command("show")
@click.argument("benchmark_id", metavar="ID")
@format_option()
@click.pass_obj
def show_benchmark(site: Site, benchmark_id: str, form: str) -> None:
    """Show everything about one benchmark."""
    benchmark = _known(site, benchmark_id)
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
        "commit": benchmark.source_commit,
        "helm_max_tokens": benchmark.helm_max_tokens,
        "files": [
            {"name": file.name, "rows": file.rows, "sha256": file.sha256, "url": file.url} for file in benchmark.files
        ],
        "licence": benchmark.licence,
        "citation": benchmark.citation,
        "digest": benchmark.digest,
    }
    if form == "json":
        show_rows([row], {}, "json")
        return
    files = row.pop("files")
    for key, value in row.items():
        click.echo(f"{key.replace('_', ' '):22}{'-' if value in (None, '') else printable(str(value))}")
    if files:
        click.echo(f"\nThe official files, for data/{benchmark.id}/ of the site:")
    for file in files:
        click.echo(f"  {file['name']}  {file['rows'] or '?'} instances  SHA-256 {file['sha256'] or 'not known'}")
        click.echo(f"    {file['url'] or 'no public address'}")


def _known(site: Site, benchmark_id: str) -> "Benchmark":
    """Return a benchmark by its id or one of its other names; raises its own error when it is broken."""
    from agent.catalog.benchmark import survey_benchmarks
    from agent.catalog.run_entries import benchmark_of, parse_run_entry

    return benchmark_of(parse_run_entry(f"{benchmark_id}:model=any/model"), *survey_benchmarks(site.own_benchmarks))


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
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), required=True, help="A new file.")
@click.pass_obj
def write_scorecard(site: Site, benchmark_ids: Sequence[str], name: str, version: int, out: Path) -> None:
    """Write a scorecard of these benchmarks, for the central team to register with the aggregator."""
    from agent.disclosure.scorecard import draft_scorecard

    chosen = [_known(site, benchmark_id) for benchmark_id in benchmark_ids]
    scorecard = draft_scorecard(name, version, chosen)
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(json.dumps(scorecard.to_json(), indent=2, sort_keys=True) + "\n")
    except OSError as error:
        raise ConfigError(f"the scorecard cannot be written ({error.strerror})", "Name a new file.") from None
    click.echo(f"{len(scorecard.cells)} cells of {len(chosen)} benchmarks, digest {scorecard.digest[:16]}")
