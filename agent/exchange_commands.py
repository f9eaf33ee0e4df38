"""Commands that move runs in and out as files: `export`."""

import json
from pathlib import Path

import click

from agent.site import Site
from agent.summary_commands import suite_summaries, summary_rows


@click.command()
@click.option("--suite", default="default", show_default=True, help="Name of the collection of runs.")
@click.option("--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="A new folder.")
@click.option("--reveal", is_flag=True, help="Original instead of redacted text; written to the audit log.")
@click.pass_obj
def export(site: Site, suite: str, out: Path, reveal: bool) -> None:
    """Write a suite's summary and its redacted instances as files (summary.json, instances.jsonl)."""
    from agent.evaluation.export import export_suite
    from agent.new_folder import new_folder

    rows = summary_rows(suite_summaries(site, suite), all_metrics=True)
    with new_folder(out) as folder:
        (folder / "summary.json").write_text(json.dumps(rows, indent=2, ensure_ascii=False) + "\n", "utf-8")
        count = export_suite(site, suite, folder / "instances.jsonl", reveal=reveal)
    click.echo(f"{count} instances written, {'as they are' if reveal else 'redacted'}")
