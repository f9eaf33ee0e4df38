"""The `head` command, which writes the signed head of a site for a site that cannot fetch it over the network."""

from pathlib import Path

import click

from aggregator.command import open_home
from aggregator.errors import SettingsError


@click.command()
@click.argument("site")
@click.option(
    "--out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="File to write. It must not exist.",
)
@click.pass_context
def head(context: click.Context, site: str, out: Path) -> None:
    """Write the signed head of a site's chain in this log, for a site without a network connection or agent key.

    The site reads it with `intramural reset show --head FILE`. No one else needs the file.
    """
    from aggregator.log import journal
    from aggregator.log.history import read_site_head
    from aggregator.registry.versions import newest_registry
    from protocol.site_head import sign_site_head

    home = open_home(context)
    with home.database.reading() as connection:
        registry = newest_registry(connection)
        found = read_site_head(connection, site, registry, journal.size(connection))
    if found is None:
        raise SettingsError(
            f"no site {site} is enrolled",
            "Run `intramural-aggregator list sites` for the site ids.",
        )
    note = sign_site_head(found, registry.log_name, home.receipt_signer(registry))
    try:
        with out.open("x", encoding="utf-8") as file:
            file.write(note)
    except FileExistsError:
        raise SettingsError(
            f"{out.name} already exists and is not overwritten", "Choose another file name."
        ) from None
    except OSError as error:
        raise SettingsError(f"{out.name} cannot be written ({error.strerror})") from None
    click.echo(
        f"Written to {out.name}: link {found.seq} of epoch {found.epoch}, log of {found.log_size} entries."
    )
