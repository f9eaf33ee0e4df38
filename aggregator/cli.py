"""The command line of the people who run an aggregator."""

import json
import sys
from datetime import date, timedelta
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Any

import click

from aggregator.errors import AggregatorError, EnrolmentError


def main() -> None:
    """Run the command line; errors of our own are printed with their advice and leave with their exit code."""
    try:
        cli.main(standalone_mode=False)
    except click.exceptions.Exit as leaving:
        sys.exit(leaving.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort:
        click.echo("Stopped; nothing was changed.", err=True)
        sys.exit(130)
    except AggregatorError as error:
        click.echo(f"Error: {error}", err=True)
        click.echo(error.advice, err=True)
        sys.exit(error.exit_code)


_listing = click.option(
    "--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True, help="How to print."
)


def _print(form: str, text: str, data: object) -> None:
    click.echo(json.dumps(data, indent=2, sort_keys=True) if form == "json" else text)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="intramural")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="INTRAMURAL_AGGREGATOR",
    default=Path(),
    help="The aggregator's directory; else INTRAMURAL_AGGREGATOR, else the current directory.",
)
@click.pass_context
def cli(context: click.Context, directory: Path) -> None:
    """Verify signed submissions, keep the transparency log, publish the board.

    \b
    Exit codes: 0 success, 1 unexpected error or a board that does not match its log, 2 wrong option or setting,
    3 key file, 4 registry, 5 enrolment, 6 database.
    """
    context.obj = directory


def _home(context: click.Context) -> Any:
    from aggregator.home import Home

    home = Home(context.obj)
    home.database.check_version()
    return home


@cli.command()
@click.argument("directory", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--origin", required=True, help="Name of the deployment and its log, for example board.example. Never changes."
)
@click.option("--name", default="", help="What people call this deployment; shown in invites.")
@click.option("--url", default=None, help="Where sites reach it; written into invites.")
@click.option("--database-url", default=None, help="SQLAlchemy URL; none means SQLite in the directory.")
@click.option(
    "--policy-floor", default="strict", show_default=True, help="Shipped disclosure policy that every result must obey."
)
@click.option(
    "--scorecard",
    "scorecards",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON file; may be repeated.",
)
@click.option("--models", type=click.Path(path_type=Path, dir_okay=False), help="YAML list of models.")
@_listing
@click.pass_context
def init(
    context: click.Context,
    directory: Path | None,
    origin: str,
    name: str,
    url: str | None,
    database_url: str | None,
    policy_floor: str,
    scorecards: tuple[Path, ...],
    models: Path | None,
    form: str,
) -> None:
    """Create an aggregator: root key, log key, database and the first registry."""
    from aggregator.home import today_day
    from aggregator.registry.changes import Additions, read_models, read_scorecard
    from aggregator.registry.founding import found
    from aggregator.registry.versions import newest_registry, write_copies
    from aggregator.settings import make_settings

    given = {"name": name, "public_url": url, "database_url": database_url}
    settings = make_settings({key: value for key, value in given.items() if value})
    additions = Additions(
        models=read_models(models) if models else (),
        scorecards=[read_scorecard(path) for path in scorecards],
        agents=[installed_version("intramural")],
    )
    home = found(
        directory or context.obj,
        settings,
        origin=origin,
        additions=additions,
        today_day=today_day(),
        floor=policy_floor,
    )
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
        registry = newest_registry(connection)
    fingerprint = registry.roots[0].fingerprint
    _print(
        form,
        f"Created {home.directory} for {origin}, registry version 1.\n"
        f"Root key fingerprint:\n  {fingerprint}\n"
        "Back up keys/ now: without root.key no site can ever be added or removed.",
        {"directory": str(home.directory), "origin": origin, "registry": 1, "root_key": registry.roots[0].keyid},
    )


@cli.command()
@click.option("--site-name", required=True, help="How the board names the site.")
@click.option(
    "--publication",
    type=click.Choice(["named", "pooled"]),
    default="pooled",
    show_default=True,
    help="Shown by name, or only pooled with others.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the invite; must not exist.",
)
@click.pass_context
def invite(context: click.Context, site_name: str, publication: Any, out: Path) -> None:
    """Write an invite for a new site. It holds a single-use token: hand it over in confidence."""
    from aggregator.home import today_day
    from aggregator.key_files import write_private
    from aggregator.registry import invites

    home = _home(context)
    with home.database.writing() as connection:
        made = invites.invite(connection, home, site_name=site_name, publication=publication, today_day=today_day())
        write_private(out, made.to_json())
    until = date(1970, 1, 1) + timedelta(days=made.expires_day)
    click.echo(f"Wrote {out} for site {made.site}, to be used before {until.isoformat()}.")
    click.echo("Whoever holds this file can ask to be enrolled as that site, once.")


@cli.command()
@click.argument("request", required=False, type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--pending", is_flag=True, help="The requests that came in over HTTP, instead of a file.")
@click.option("--site", help="With --pending: only this site's request.")
@click.option(
    "--fingerprint-checked", is_flag=True, help="Do not ask: the fingerprints have been compared with the site already."
)
@click.pass_context
def enroll(
    context: click.Context, request: Path | None, pending: bool, site: str | None, fingerprint_checked: bool
) -> None:
    """Enrol a site after a person has compared its keys' fingerprints, and sign the next registry."""
    from aggregator.home import today_day
    from aggregator.registry import invites
    from aggregator.registry.versions import write_copies
    from protocol.errors import ProtocolError

    if (request is None) != pending:
        raise click.UsageError("Name a request file, or give --pending.")
    home = _home(context)
    today = today_day()
    with home.database.reading() as connection:
        try:
            if request is not None:
                waiting = [invites.open_request(connection, request.read_bytes(), today_day=today)]
            else:
                waiting = invites.pending_requests(connection, today_day=today)
        except ProtocolError as error:
            raise EnrolmentError(f"the request is refused: {error.detail} ({error.code})") from None
    waiting = [asked for asked in waiting if site in {None, asked.site}]
    if not waiting:
        click.echo("No request is waiting.")
        return
    if fingerprint_checked and len(waiting) > 1:
        raise click.UsageError("Several requests are waiting; name one with --site.")
    for asked in waiting:
        click.echo(f"Site {asked.site}: {asked.display_name} ({asked.publication})")
        click.echo(f"  agent key    {asked.enrolment.agent.fingerprint}")
        click.echo(f"  steward key  {asked.enrolment.steward.fingerprint}")
        if not fingerprint_checked:
            click.echo("Ask the site's two people to read these out to you, over a way that you trust.")
            if not click.confirm("Are both the same?", default=False):
                click.echo("Not enrolled.")
                continue
        with home.database.writing() as connection:
            registry = invites.enroll(connection, home, asked, today_day=today)
        with home.database.reading() as connection:
            write_copies(connection, home.registry_copies)
        click.echo(f"Enrolled {asked.site} with registry version {registry.version}.")


@cli.command()
@click.option("--model", help="Name of one model, for example qwen/qwen2.5-7b-instruct.")
@click.option("--display-name", help="With --model: how the board names it.")
@click.option("--organization", default="", help="With --model: who made it.")
@click.option("--not-a-language-model", is_flag=True, help="With --model: a baseline; marked on the board.")
@click.option("--models", type=click.Path(path_type=Path, dir_okay=False), help="YAML list of models.")
@click.option(
    "--scorecard",
    "scorecards",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON file; may be repeated.",
)
@click.option(
    "--retire-scorecard", "retired", multiple=True, metavar="NAME[@VERSION]", help="Take no more results for it."
)
@click.option("--agent-version", "agents", multiple=True, help="Version of the agent that sites may use.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Disclosure policy (YAML) that sites may name.",
)
@click.option("--renew", is_flag=True, help="Sign a new version even if nothing changes, to move its expiry.")
@click.pass_context
def register(
    context: click.Context,
    model: str | None,
    display_name: str | None,
    organization: str,
    not_a_language_model: bool,
    models: Path | None,
    scorecards: tuple[Path, ...],
    retired: tuple[str, ...],
    agents: tuple[str, ...],
    policies: tuple[Path, ...],
    renew: bool,
) -> None:
    """Add models, scorecards, agent versions or policies: one new registry version, signed by the root key."""
    from dataclasses import replace

    from aggregator.home import today_day
    from aggregator.registry.changes import Additions, apply, read_models, read_scorecard
    from aggregator.registry.policies import read_policy
    from aggregator.registry.versions import newest_registry, sign_next, write_copies
    from protocol.registry import Model

    if (model is None) != (display_name is None):
        raise click.UsageError("--model and --display-name go together.")
    wanted = list(read_models(models)) if models else []
    if model is not None and display_name is not None:
        wanted.append(Model(model, display_name, organization, not not_a_language_model))
    additions = Additions(
        models=wanted,
        scorecards=[read_scorecard(path) for path in scorecards],
        retired=retired,
        agents=agents,
        policies=[read_policy(path) for path in policies],
    )
    if additions == Additions(wanted[:0], [], (), (), []) and not renew:
        raise click.UsageError("Name something to register.")
    home = _home(context)
    with home.database.writing() as connection:
        before = newest_registry(connection)
        after = apply(before, additions)
        if after is before and not renew:
            click.echo(f"Nothing new; registry version {before.version} stays.")
            return
        expires = today_day() + home.settings.registry_days
        after = replace(after, version=before.version + 1, expires_day=expires)
        sign_next(connection, after, [home.root_key])
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
    click.echo(f"Signed registry version {after.version}.")


@cli.command("list")
@click.argument("what", type=click.Choice(["sites", "models", "scorecards", "requests", "forks"]))
@_listing
@click.pass_context
def list_(context: click.Context, what: str, form: str) -> None:
    """List what is registered, which enrolment requests wait, and evidence of forks."""
    from aggregator.home import today_day
    from aggregator.listings import listing, table

    home = _home(context)
    with home.database.reading() as connection:
        lines = listing(connection, what, today_day=today_day())
    _print(form, table(lines) or f"No {what}.", lines)


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", default=8750, show_default=True, type=click.IntRange(0, 65535), help="0 takes a free port.")
@click.pass_context
def serve(context: click.Context, host: str, port: int) -> None:
    """Take submissions over HTTP. Put a reverse proxy with TLS before it."""
    from aggregator import server

    home = _home(context)
    server.check_ready(home)
    server.start_logging()
    ready = server.make_server(home)
    listening = server.bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"Serving on http://{shown}:{listening.getsockname()[1]}")
    sys.stdout.flush()
    ready.run(sockets=[listening])


@cli.command()
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the board; replaced as a whole.",
)
@_listing
@click.pass_context
def publish(context: click.Context, out: Path, form: str) -> None:
    """Verify the log and write the board as plain files."""
    from aggregator.board.evidence import collect_evidence
    from aggregator.board.publish import publish as write_board

    home = _home(context)
    with home.database.reading() as connection:
        evidence = collect_evidence(connection, home)
    replayed = write_board(evidence, out.absolute())
    page = out.absolute() / "index.html"
    _print(
        form,
        f"Published {len(replayed.results)} results of registry version {replayed.registry.version}: {page}",
        {"page": str(page), "results": len(replayed.results), "log_size": replayed.checkpoint.size},
    )


@cli.command()
@click.option(
    "--board", required=True, type=click.Path(path_type=Path, file_okay=False), help="Folder of a published board."
)
@click.option(
    "--root-key",
    "root_keys",
    multiple=True,
    metavar="FINGERPRINT",
    help="Root key that must have signed; may be repeated.",
)
@_listing
def verify(board: Path, root_keys: tuple[str, ...], form: str) -> None:
    """Recompute a board from its own log and compare every byte. Needs no aggregator's directory."""
    from aggregator.board.publish import verify as verify_board

    try:
        replayed = verify_board(board, root_keys)
    except AggregatorError as error:
        if form != "json":
            raise
        _print(form, "", {"identical": False, "differs": str(error)})
        sys.exit(error.exit_code)
    fingerprints = [key.fingerprint for key in replayed.registry.roots]
    note = (
        ""
        if root_keys
        else "\nNo --root-key was given: compare its root key with one you know:\n  " + "\n  ".join(fingerprints)
    )
    _print(
        form,
        f"Identical: {replayed.registry.deployment}, {replayed.checkpoint.size} log entries, "
        f"registry version {replayed.registry.version}.{note}",
        {
            "identical": True,
            "deployment": replayed.registry.deployment,
            "log_size": replayed.checkpoint.size,
            "registry": replayed.registry.version,
            "root_keys": [key.keyid for key in replayed.registry.roots],
            "pinned": bool(root_keys),
        },
    )
