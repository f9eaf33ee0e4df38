"""What the commands share: opening the directory, and printing for people or for machines."""

import json
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from aggregator.home import Home

format_option = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)


def open_home(context: click.Context) -> "Home":
    """Open the directory that the command line names. Raises SettingsError or StoreError."""
    from aggregator.home import Home

    home = Home(context.obj)
    home.database.check_version()
    return home


def say(form: str, text: str, data: object) -> None:
    """Print `text`, or `data` as JSON."""
    click.echo(json.dumps(data, indent=2, sort_keys=True) if form == "json" else text)
