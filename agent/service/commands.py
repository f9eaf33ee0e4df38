"""The command `intramural view`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from agent.site import Site


@click.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="On 127.0.0.1; 0 takes any."
)
@click.option(
    "--export", "folder", type=click.Path(path_type=Path), help="Write the pages as files to this new folder."
)
@click.option("--reveal", is_flag=True, help="Show original text; each page opened is written to the audit log.")
@click.pass_obj
def view(site: "Site", port: int, folder: Path | None, reveal: bool) -> None:
    """Show the local leaderboard, the runs and their redacted instances in a browser.

    Read-only, for this machine alone; stop it with Ctrl-C.
    """
    from agent.evaluation.progress import Progress
    from agent.redaction.clearing import open_clearer
    from agent.service.files import write_pages
    from agent.service.pages import SitePages
    from agent.service.server import LOOPBACK, bind, new_secret, serve

    with site.store() as store:
        clearer = open_clearer(site, store, reveal=reveal, purpose="view" if folder is None else "export")
        pages = SitePages(site.name, store, clearer)
        if folder is not None:
            count = write_pages(pages, folder, Progress())
            click.echo(f"{count} files written, texts {'as they are' if reveal else 'redacted'}; open index.html there")
            return
        secret = new_secret() if reveal else None
        with bind(port) as listener:
            address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/" + (f"{secret}/" if secret else "")
            click.echo(f"{address}  (read-only, this machine only; Ctrl-C stops it)")
            serve(pages, listener, secret)
