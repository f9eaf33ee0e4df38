"""The commands `export` and `import`, which write runs to files and read them from files."""

import json
from pathlib import Path
from typing import Literal, get_args

import click

from agent.cli.options import suite_option
from agent.cli.summarize import read_suite_summaries
from agent.io.plain_text import printable
from agent.results.summary_rows import build_summary_rows
from agent.site.directory import Site

ExportForm = Literal["jsonl", "csv", "parquet", "xlsx", "helm"]
_FOLDER = click.Path(file_okay=False, path_type=Path)
_EXISTING = click.Path(exists=True, file_okay=False, path_type=Path)


@click.command()
@suite_option
@click.option(
    "--format",
    "form",
    type=click.Choice(get_args(ExportForm)),
    default="jsonl",
    show_default=True,
    help="Tables of runs and instances, or run folders in HELM's format.",
)
@click.option("--output", "--out", "out", required=True, type=_FOLDER, help="A new folder.")
@click.option(
    "--reveal",
    is_flag=True,
    help="Write original instead of redacted text; this is recorded in the audit log.",
)
@click.pass_obj
def export(site: Site, suite: str, form: ExportForm, out: Path, reveal: bool) -> None:
    """Write a suite's runs and redacted instances to files.

    jsonl, csv, parquet and xlsx write two tables (runs and instances) and summary.json. helm writes run folders for
    helm-summarize and helm-server.
    """
    from agent.exchange.helm.export import export_helm
    from agent.exchange.shown_names import show_summaries
    from agent.exchange.tables.export import export_tables
    from agent.exchange.tables.files import check_writable
    from agent.io.new_folder import new_folder
    from agent.io.private_modes import write_private_text
    from agent.results.standings import add_standings

    check_writable(form)
    summaries = read_suite_summaries(site, suite)
    with site.store() as store:
        summaries = add_standings(store, summaries)
    rows = build_summary_rows(show_summaries(site, summaries, reveal=reveal), all_metrics=True)
    with new_folder(out) as folder:
        if form == "helm":
            count = export_helm(site, suite, folder, reveal=reveal)
        else:
            text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
            write_private_text(folder / "summary.json", text)
            count = export_tables(site, suite, folder, form, reveal=reveal)
    click.echo(f"{count} instances written, {'as they are' if reveal else 'redacted'}")
    if form == "helm":
        click.echo(
            f"With HELM installed: helm-summarize --suite {suite} --output-path DIR --local-path DIR "
            f"--auto-generate-schema; helm-server --suite {suite} --output-path DIR"
        )


@click.group(name="import")
def import_() -> None:
    """Import results from HELM; they are marked as imported."""


@import_.command(name="helm")
@click.argument("directory", type=_EXISTING)
@click.option(
    "--suite",
    help="The suite to store the runs in [default: the name of the folder that contains them].",
)
@click.option("--replace", is_flag=True, help="Replace imported runs with the same names.")
@click.pass_obj
def import_helm_runs(site: Site, directory: Path, suite: str | None, replace: bool) -> None:
    """Read HELM's run folders into the encrypted store.

    Imports prompts, references, answers and HELM's scores.

    DIRECTORY is the folder of a run, the folder of a suite (benchmark_output/runs/SUITE) or HELM's output folder.
    """
    from agent.exchange.helm.import_runs import import_helm

    for run in import_helm(site, directory, suite, replace=replace):
        unknown = "" if run.known else ", a benchmark that this site does not have"
        click.echo(
            f"{printable(run.name)}: {run.instances} instances into suite {run.suite}{printable(unknown)}"
        )


@import_.command(name="helm-leaderboard")
@click.argument("directory", type=_EXISTING)
@click.option("--release", help="Name under which to store the release [default: HELM's].")
@click.pass_obj
def import_helm_leaderboard(site: Site, directory: Path, release: str | None) -> None:
    """Import the tables of a downloaded HELM release.

    Reads schema.json and groups/*.json, so that HELM's results can be shown next to local runs.
    """
    from agent.exchange.helm.leaderboard import import_leaderboard

    name, count = import_leaderboard(site, directory, release)
    click.echo(f"{count} figures of {name} imported")
    click.echo(f"Next: intramural summarize --release {name}")
    click.echo(f"  or join it with a suite: summarize --suites SUITE {name} --release NAME")
