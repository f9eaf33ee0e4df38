"""The command `intramural serve`."""

from typing import TYPE_CHECKING

import click

from agent.cli.output import with_site

if TYPE_CHECKING:
    from agent.site.directory import Site


@click.command()
@click.option(
    "-p",
    "--port",
    type=click.IntRange(0, 65535),
    help="Port; overrides `service_port` in site.yaml. 0 chooses a free one.",
)
@click.pass_obj
def serve(site: "Site", port: int | None) -> None:
    """Serve the pages, the HTTP interface and the job queue.

    People sign in with accounts that `intramural accounts add` makes. Jobs of the queue run as long as this command
    does. Only this machine can open the pages, unless site.yaml says otherwise. Stop with Ctrl-C: jobs resume at the
    next start.
    """
    from agent.access.proxy import read_trusted_proxy
    from agent.service.web.address import check_tls_files, read_address
    from agent.service.web.serve import find_origin, listen
    from agent.service.web.serve import serve as serve_site

    address = read_address(site, port)
    check_tls_files(address)
    read_trusted_proxy(site.settings)
    with site.store() as store:
        if not store.accounts.read_all():
            click.echo(
                with_site(
                    "note: nobody can sign in yet; `intramural accounts add NAME --role administrator`"
                ),
                err=True,
            )
    with listen(address) as listener:
        origin = find_origin(address, listener)
        serve_site(site, address, listener, lambda: click.echo(f"{origin}/  (Ctrl-C stops it)"))
