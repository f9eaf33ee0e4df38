"""The command line for operating an aggregator, `intramural-aggregator`.

Exit codes: 0 success; 1 unexpected error, a board that does not match its log, or a refused file; 2
wrong option or setting; 3 key file; 4 registry; 5 enrolment; 6 database; 7 a board that too few
auditors have signed; 130 interrupted.
"""

import os
import sys
import traceback
from importlib.metadata import version as installed_version
from pathlib import Path

import click

from aggregator.accept_command import accept
from aggregator.backup_commands import backup, restore, resume
from aggregator.board_commands import archive, audit, publish, witness
from aggregator.command import format_option, open_home, say, say_error, show_rows
from aggregator.draft_commands import registry
from aggregator.errors import AggregatorError, SettingsError
from aggregator.head_command import head
from aggregator.import_command import import_
from aggregator.registry_commands import enroll, invite, invites, register
from aggregator.remove_command import remove
from aggregator.request_commands import rekey, requests
from aggregator.verify_command import verify


def main() -> None:
    """Run the command line. Every error is reported as a readable message with its exit code."""
    try:
        # In non-standalone mode, click returns the exit code that a command has set.
        sys.exit(cli.main(standalone_mode=False, prog_name="intramural-aggregator") or 0)
    except AggregatorError as error:
        say_error(str(error), error.advice)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; changes are applied completely or not at all", err=True)
        sys.exit(130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:  # noqa: BLE001 - last resort: the message may quote data that a site sent
        click.secho(
            f"unexpected error: {type(error).__name__} (its message is withheld: it may quote data that a site sent)",
            fg="red",
            err=True,
        )
        for frame in traceback.extract_tb(error.__traceback__):
            click.echo(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}", err=True)
        click.echo("This is a bug in intramural. Please report the lines above.", err=True)
        sys.exit(1)


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="intramural")
@click.option(
    "--dir",
    "directory",
    type=click.Path(path_type=Path, file_okay=False),
    envvar="INTRAMURAL_AGGREGATOR",
    default=Path(),
    help="The aggregator's directory [env: INTRAMURAL_AGGREGATOR; default: the current directory].",
)
@click.pass_context
def cli(context: click.Context, directory: Path) -> None:
    """Verify signed submissions, maintain the transparency log and publish the board.

    Exit codes: 0 success; 1 unexpected error, a board that does not match its log, or a refused
    file; 2 wrong option or setting; 3 key file; 4 registry; 5 enrolment; 6 database; 7 a board that
    too few auditors have signed; 130 interrupted.
    """
    context.obj = directory


@cli.command()
@click.argument("directory", required=False, type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--origin",
    required=True,
    help="Name of the deployment and its log, for example board.example. It can never be changed.",
)
@click.option(
    "--name",
    default="",
    help="Display name of the deployment, written into invites. The board's title is the origin.",
)
@click.option(
    "--url",
    default=None,
    help="Address at which sites reach it, https://HOST[:PORT], written into invites. Plain http only for loopback.",
)
@click.option(
    "--database-url", default=None, help="SQLAlchemy URL [default: SQLite in the directory]."
)
@click.option(
    "--policy-floor",
    default="strict",
    show_default=True,
    help="Built-in disclosure policy that every result must follow.",
)
@click.option(
    "--scorecard",
    "scorecards",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON file, or the name of a built-in scorecard (medhelm-v1). May be repeated.",
)
@click.option(
    "--models", type=click.Path(path_type=Path, dir_okay=False), help="YAML list of models."
)
@format_option
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
    from protocol import schema

    if not schema.ORIGIN.fullmatch(origin):
        raise SettingsError(
            f"--origin {origin!r} is not a valid deployment name",
            "Use 1 to 100 of the characters a-z, 0-9 and .:/- with a letter or digit first and last, such as "
            "board.example.",
        )
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
    say(
        form,
        f"Created {home.directory} for {origin}, registry version 1.\n"
        f"Root key fingerprint:\n  {fingerprint}\n"
        "Back up keys/ now: without root.key no site can ever be added or removed.",
        {
            "directory": str(home.directory),
            "origin": origin,
            "registry": 1,
            "root_key": registry.roots[0].keyid,
        },
    )


@cli.command("list")
@click.argument("what", type=click.Choice(["sites", "models", "scorecards", "keys", "forks"]))
@format_option
@click.pass_context
def list_(context: click.Context, what: str, form: str) -> None:
    """List sites, models, scorecards, keys and evidence of forks."""
    from aggregator.listings import listing

    home = open_home(context)
    with home.database.reading() as connection:
        lines = listing(connection, what)
    if lines and form == "table":
        show_rows(lines)
    else:
        say(form, f"No {what}.", lines)


@cli.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    default=8750,
    show_default=True,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 chooses a free port.",
)
@click.option(
    "--workers",
    default=1,
    show_default=True,
    type=click.IntRange(1, 64),
    help="Worker processes; more than one needs PostgreSQL.",
)
@click.option(
    "--log-level",
    type=click.Choice(["info", "warning"]),
    default="info",
    show_default=True,
    help="Level of events logged to standard error. Level info has a line per acceptance and refusal, with site, "
    "digest and code. No level logs any content of the payloads.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the log: lines of text, or one JSON object per line.",
)
@click.pass_context
def serve(
    context: click.Context, host: str, port: int, workers: int, log_level: str, log_format: str
) -> None:
    """Accept submissions over HTTP until interrupted. Run it behind a reverse proxy that provides TLS."""
    from aggregator.api import logs, server
    from aggregator.api.connections import raise_open_files
    from aggregator.api.workers import check_workers, run_workers

    home = open_home(context)
    check_workers(home, workers)
    server.check_ready(home)
    raise_open_files(home.settings.max_connections)
    logs.start_logging(log_level, log_format)
    listening = server.bind(host, port)
    shown = f"[{host}]" if ":" in host else host
    click.echo(f"Serving on http://{shown}:{listening.getsockname()[1]}")
    sys.stdout.flush()
    if workers == 1:
        server.make_server(home).run(sockets=[listening])
        return
    home.database.close()  # a connection must not be shared with a forked process
    run_workers(workers, listening, lambda shared: server.serve_directory(home.directory, shared))


cli.add_command(invite)
cli.add_command(invites)
cli.add_command(enroll)
cli.add_command(requests)
cli.add_command(rekey)
cli.add_command(head)
cli.add_command(register)
cli.add_command(registry)
cli.add_command(remove)
cli.add_command(accept)
cli.add_command(publish)
cli.add_command(verify)
cli.add_command(archive)
cli.add_command(audit)
cli.add_command(witness)
cli.add_command(backup)
cli.add_command(restore)
cli.add_command(resume)
cli.add_command(import_)
