"""The command `rollback`: return to the store as it was before the last upgrade of the program."""

import click

from agent.cli.output import with_site
from agent.errors import BusyError
from agent.site.directory import Site


@click.command()
@click.pass_obj
def rollback(site: Site) -> None:
    """Put the store back as it was before an upgrade.

    Install the earlier version of the program first, and run this command with it. What was stored since the upgrade
    is set aside. Statements, the ledger, data and settings stay as they are.
    """
    from agent.jobs.dispatcher import is_dispatched

    _ = site.settings  # a folder that is not a site is refused
    if is_dispatched(site):
        raise BusyError(
            "the service or `intramural jobs dispatch` is running",
            "Stop it and every command of this site, then try again.",
        )
    newer, older = site.roll_back_store()
    with site.store() as store, store.transaction():
        store.sessions.end_everybodys()
        store.audit.record("store rolled back", f"from={newer} to={older}")
    click.echo(f"The store is as it was before its upgrade to tables of version {newer}.")
    click.echo(
        f"The newer one is set aside as store/set-aside-{newer}.sqlite3. Delete it when nothing in it is needed. "
        "Until then, `purge` deletes texts from it as well."
    )
    click.echo(
        with_site(
            "Next: run what was run since the upgrade again. `intramural doctor` checks the site."
        )
    )
