"""The command `intramural view`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.helm_options import VIEW_OPTIONS, accept_helm_options, view_output_path_option
from agent.errors import ConfigError

if TYPE_CHECKING:
    from agent.site.directory import Site


@click.command()
@click.option(
    "-p",
    "--port",
    type=click.IntRange(0, 65535),
    default=8765,
    show_default=True,
    help="Port on 127.0.0.1; 0 chooses a free one.",
)
@click.option(
    "--export",
    "--export-path",
    "folder",
    type=click.Path(path_type=Path),
    help="Write the pages to files in this new folder.",
)
@click.option(
    "--release",
    help="Show this local release first; with --export, show only it.",
)
@click.option("--suite", help="Show this suite first.")
@click.option(
    "--reveal",
    is_flag=True,
    help="Show original text; each page opened is recorded in the audit log.",
)
@view_output_path_option
@accept_helm_options(VIEW_OPTIONS)
@click.pass_obj
def view(
    site: "Site",
    port: int,
    folder: Path | None,
    release: str | None,
    suite: str | None,
    reveal: bool,
) -> None:
    """Show leaderboard, runs and instances in a browser.

    Texts are redacted. The pages are read-only and can be opened on this machine only, at the address that is printed:
    it contains a secret, so that other accounts cannot read them. Stop with Ctrl-C.

    Every option of HELM's `helm-server` is accepted here, or refused with the reason: see docs/from-medhelm.md.
    """
    from agent.catalog.benchmark import survey_benchmarks
    from agent.exchange.releases import join_release
    from agent.exchange.shown_names import ShownNames
    from agent.io.progress import Progress
    from agent.redaction.gateway.cases import open_clearer
    from agent.results.prices import read_prices
    from agent.service.files import write_pages
    from agent.service.pages import SitePages, suite_slug
    from agent.service.server import LOOPBACK, bind, new_secret, serve

    if release is not None and suite is not None:
        raise ConfigError("--suite and --release cannot be combined", "Give only one of them.")
    with site.store() as store:
        clearer = open_clearer(
            site, store, reveal=reveal, purpose="view" if folder is None else "export"
        )
        catalogue, _ = survey_benchmarks(site.own_benchmarks)
        leaves = (
            folder is not None
        )  # files may be passed on; pages served on this machine are for the site's staff
        pages = SitePages(
            site.name,
            store,
            clearer,
            catalogue,
            read_prices(site),
            release if leaves else None,
            ShownNames(store, reveal=reveal or not leaves),
        )
        first = ""
        if release is not None:
            join_release(store, release, catalogue)  # raises if there is no such release
            first = f"releases/{suite_slug(release)}/index.html"
        if suite is not None:
            store.runs.require_suite(suite)
            first = f"suites/{suite_slug(suite)}/index.html"
        if folder is not None:
            count = write_pages(pages, folder, Progress())
            done = f"{count} files written, texts {'as they are' if reveal else 'redacted'}"
            click.echo(f"{done}; open {first or 'index.html'} there")
            return
        secret = new_secret()
        with bind(port) as listener:
            address = f"http://{LOOPBACK}:{listener.getsockname()[1]}/{secret}/{first}"
            click.echo(f"{address}  (read-only, this machine only; Ctrl-C stops it)")
            serve(pages, listener, secret)
