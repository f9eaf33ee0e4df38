"""The command `support-bundle`."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agent.site.directory import Site


@click.command("support-bundle")
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path))
@click.option("--yes", is_flag=True, help="Write the file without asking.")
@click.pass_obj
def support_bundle(site: "Site", file: Path, yes: bool) -> None:
    """Write versions, codes and counts of this site to FILE.

    FILE is for those who help. The whole content is shown first. It has no text of a record, and no name of a person,
    site, model, file or host; of settings it has the keys, and values only of numbers and of words from a closed list.
    The checks of `doctor` are run for it. It also works if the site is broken.
    """
    from agent.cli.support_content import collect_content
    from agent.errors import AgentError
    from agent.io.new_file import check_new, open_new

    check_new(file)
    text = json.dumps(collect_content(site), indent=1, sort_keys=True) + "\n"
    click.echo(text, nl=False)
    if not yes:
        ask_to_write(file)
    with open_new(file) as opened:
        opened.write(text)
    try:
        with site.store() as store:
            store.audit.record("support bundle", f"bytes={len(text)}")
    except AgentError:
        click.echo("note: the audit log cannot be written, so it does not have this", err=True)
    click.echo(f"written to {file}", err=True)


def ask_to_write(file: Path) -> None:
    """Ask whether the file is to be written, and end the command if not.

    Raises:
        ConfigError: nobody can be asked.
    """
    from agent.errors import ConfigError

    try:
        click.confirm(f"Write this to {file.name}?", abort=True, err=True)
    except click.Abort as aborted:
        if not isinstance(aborted.__context__, EOFError):
            raise
        raise ConfigError(
            "nobody said yes, so no file was written", "Without a terminal, give --yes."
        ) from None
