"""The command line of the release tools: `python -m intramural_release COMMAND`."""

import click

from intramural_release.errors import ReleaseError


class _Group(click.Group):
    """Prints the tools' own errors as message and advice."""

    def invoke(self, context: click.Context) -> object:
        try:
            return super().invoke(context)
        except ReleaseError as error:
            click.secho(f"error: {error}", fg="red", err=True)
            if error.advice:
                click.echo(error.advice, err=True)
            context.exit(1)


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """Make locks, distributions, kits and signed checksums of a release."""


@cli.command("locks")
@click.option(
    "--upgrade", is_flag=True, help="Take the newest versions that pyproject.toml allows."
)
@click.argument("names", nargs=-1, metavar="[VARIANT]...")
def make_locks_command(names: tuple[str, ...], upgrade: bool) -> None:
    """Write the locks in deploy/locks: all, or those of the variants named. Needs a package index."""
    from intramural_release.make_locks import make_locks

    for path in make_locks(names, upgrade=upgrade):
        click.echo(path.name)


def main() -> None:
    """Run the command line."""
    cli()
