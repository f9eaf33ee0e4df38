"""Commands about the site itself: `init`, `doctor`, `purge`."""

import shlex
from dataclasses import replace
from pathlib import Path

import click

from agent.cli.copy_words import describe_holding
from agent.cli.options import format_option
from agent.cli.output import show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.site.directory import Site


@click.command()
@click.argument("directory", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--site-name",
    required=True,
    help="Name of the site, for its own staff; it never leaves the site.",
)
def init(directory: Path, site_name: str) -> None:
    """Create a site: keys, settings and an encrypted store."""
    from agent.site.directory import create_site

    site = create_site(directory, site_name)
    click.echo(
        f"Site created in {site.directory}. Keep a backup of keys/: without data.key no stored text can be read,"
    )
    click.echo(
        "  and without seal.key neither the release ledger nor the audit log can be checked or continued."
    )
    click.echo(
        f"Next: intramural --site {shlex.quote(str(directory))} doctor --server URL --model NAME"
    )
    click.echo("  or add your servers to its model_deployments.yaml first.")


@click.command()
@click.option(
    "--server",
    help="URL of the server to check (ending in /v1), instead of those in model_deployments.yaml.",
)
@click.option("--model", help="The model to request from --server.")
@format_option()
@click.pass_obj
def doctor(site: Site, server: str | None, model: str | None, form: str) -> None:
    """Check the site: settings, keys, servers, data, redaction. The exit code is 0 only if no check failed."""
    from agent.cli.checks import summarise_ready
    from agent.cli.doctor import examine

    marks = {"ok": "ok     ", "warning": "warning", "failed": "FAILED "}
    found = examine(site, server, model)
    checks = []
    for check in found if form == "json" else summarise_ready(found):
        # They quote commands, which people copy from here.
        finding, advice = with_site(check.finding), with_site(check.advice)
        checks.append(replace(check, finding=finding, advice=advice))
        if form == "table":
            click.echo(printable(f"{marks[check.verdict]}  {check.subject}: {finding}"))
            if advice:
                click.echo(printable(f"         {advice}"))
    if form == "json":
        rows = [
            {
                "what": check.subject,
                "verdict": check.verdict,
                "finding": check.finding,
                "advice": check.advice,
            }
            for check in checks
        ]
        show_rows(rows, {}, "json")
    failed = [check for check in checks if check.verdict == "failed"]
    if failed:
        raise click.exceptions.Exit(max(1, *(check.exit_code for check in failed)))


@click.command()
@click.option(
    "--older-than",
    "days",
    type=click.IntRange(0),
    metavar="DAYS",
    help="Age in days (default: keep_texts_days of site.yaml).",
)
@click.pass_obj
def purge(site: Site, days: int | None) -> None:
    """Delete stored texts older than DAYS; scores stay.

    Texts are prompts, gold answers, model answers and judges' replies.
    """
    if days is None:
        days = site.settings.keep_texts_days
    if days is None:
        raise ConfigError(
            "the age of the texts to delete is not set",
            "Give --older-than DAYS, or set keep_texts_days in site.yaml.",
        )
    from agent.monitoring.events import TextsPurged
    from agent.monitoring.log import log_event

    with site.store() as store:
        gone = store.purge(days)
        store.audit.record("purge", f"older_than_days={days} texts={gone}")
        held = store.copies.list_holding_deleted()
    log_event(TextsPurged(gone, days))
    click.echo(f"{gone} texts deleted; scores are kept")
    for line in describe_holding(held):
        click.echo(line)
