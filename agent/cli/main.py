"""The command line of data scientists and hospital IT: `intramural`.

Exit codes: 0 success, 1 unexpected error or a "no", 2 settings or usage, 3 benchmark or data, 4 inference server,
5 redaction, 6 disclosure, 7 delivery, 8 store or keys, 9 a run ended with failed instances (run it again),
130 interrupted.
"""

import logging
import os
import sqlite3
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import click

from agent.cli.accounts import accounts
from agent.cli.agreement import agreement
from agent.cli.alerts import alerts
from agent.cli.audit import audit
from agent.cli.benchmarks import benchmarks
from agent.cli.calibrate import calibrate
from agent.cli.compare import compare
from agent.cli.datasets import datasets
from agent.cli.demo import demo
from agent.cli.enroll import enroll, registry, steward_key
from agent.cli.exchange import export, import_
from agent.cli.jobs import jobs
from agent.cli.judge import judge
from agent.cli.ledger import ledger
from agent.cli.models import models
from agent.cli.output import with_site
from agent.cli.redact import redact
from agent.cli.reset import reset
from agent.cli.rotate import rotate
from agent.cli.run import run
from agent.cli.runs import runs
from agent.cli.score import rescore, score
from agent.cli.serve import serve
from agent.cli.site import doctor, init, purge
from agent.cli.submission import submission
from agent.cli.summarize import summarize
from agent.cli.tokens import tokens
from agent.cli.view import view
from agent.errors import AgentError, StoreError
from agent.inference.baselines import baselines
from agent.io.plain_text import printable
from agent.jobs.known_commands import use_commands
from agent.site.directory import Site
from agent.store import EVERYTHING, Audience


class _Commands(click.Group):
    """The top-level command group; adds this command line's --site to the commands that an error's advice names."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except AgentError as error:
            error.advice = with_site(error.advice)
            raise


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="intramural")
@click.option(
    "--site",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    envvar="INTRAMURAL_SITE",
    default=Path(),
    help="The site directory [env: INTRAMURAL_SITE; default: the current directory].",
)
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning"]),
    default="warning",
    show_default=True,
    help="Log level on standard error; the log never contains text from an instance.",
)
@click.option("--for-account", "account", hidden=True, help="Work for this account; used for jobs.")
@click.pass_context
def intramural(
    context: click.Context, directory: Path, log_level: str, account: str | None
) -> None:
    """Evaluate medical language models inside the hospital. Only signed aggregates leave it.

    Exit codes: 0 success, 1 unexpected error or a "no", 2 settings or usage, 3 benchmark or data, 4 inference server,
    5 redaction, 6 disclosure, 7 delivery, 8 store or keys, 9 some instances failed (run again), 130 interrupted.
    """
    logging.basicConfig(
        format="%(asctime)s %(levelname)s %(name)s %(message)s", level=logging.WARNING
    )
    # Set the level of our own logger only: libraries log addresses, headers and bodies.
    logging.getLogger("intramural").setLevel(log_level.upper())
    context.obj = Site(directory, EVERYTHING if account is None else Audience(account))


for command in (
    init, doctor, benchmarks, datasets, run, runs, judge, jobs, summarize, rescore, score, agreement, compare,
    calibrate, redact, export, import_, view, serve, submission, enroll, registry, steward_key, ledger, reset, rotate,
    purge, audit, models, baselines, demo, accounts, tokens,
    alerts,
):  # fmt: skip
    intramural.add_command(command)
use_commands(intramural)


def _print_error(error: AgentError) -> None:
    click.secho(f"error: {printable(str(error))}", fg="red", err=True)
    click.echo(f"  {printable(error.advice)}", err=True)


def main() -> None:
    """Run the command line of this process and exit with its code."""
    sys.exit(run_command_line())


def run_command_line(arguments: Sequence[str] | None = None) -> int:
    """Run a command line; report every error in a readable sentence.

    Args:
        arguments: the command line after `intramural`; None for that of this process.

    Returns:
        The exit code.
    """
    try:
        # Outside standalone mode, click returns the exit code of a command that raised `Exit`.
        code = intramural.main(arguments, standalone_mode=False, prog_name="intramural")
        return int(code or 0)
    except AgentError as error:
        _print_error(error)
        return error.exit_code
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", type(error).__name__)
        _print_error(StoreError(f"the store cannot be read ({name})"))
        return StoreError.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "interrupted; run the same command again (runs and reviews resume where they stopped)",
            err=True,
        )
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 (catch everything: a message may quote a record)
        click.secho(
            f"unexpected error: {type(error).__name__} (its message is withheld: it may quote a record)",
            err=True,
        )
        for frame in traceback.extract_tb(error.__traceback__):
            click.echo(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}", err=True)
        click.echo("This is a bug in intramural; please report the lines above.", err=True)
        return 1


if __name__ == "__main__":
    main()
