"""The command line of data scientists and hospital IT: `intramural`.

Exit codes: 0 success, 1 unexpected error or a "no", 2 settings or usage, 3 benchmark or data, 4 inference server,
5 redaction, 6 disclosure, 7 delivery, 8 store or keys, 9 a run ended with failed instances (run it again),
130 interrupted.
"""

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
from agent.cli.backup import backup, copies, restore
from agent.cli.benchmarks import benchmarks
from agent.cli.calibrate import calibrate
from agent.cli.clock import clock
from agent.cli.command_log import log_command, pass_counts_on, start_command_log
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
from agent.cli.rollback import rollback
from agent.cli.rotate import rotate
from agent.cli.run import run
from agent.cli.runs import runs
from agent.cli.score import rescore, score
from agent.cli.serve import serve
from agent.cli.site import doctor, init, purge
from agent.cli.submission import submission
from agent.cli.summarize import summarize
from agent.cli.support_bundle import support_bundle
from agent.cli.tokens import tokens
from agent.cli.view import view
from agent.errors import AgentError, StoreError
from agent.inference.baselines import baselines
from agent.io.plain_text import printable
from agent.jobs.known_commands import use_commands
from agent.site.directory import Site
from agent.store import EVERYTHING, Audience

_INTERRUPTED = 130


class _Commands(click.Group):
    """The top-level command group.

    Logs the start and the end of a command, and adds this command line's --site to the commands that an error's advice
    names.
    """

    def invoke(self, ctx: click.Context) -> object:
        account = ctx.params["account"]
        site = Site(ctx.params["directory"], EVERYTHING if account is None else Audience(account))
        ctx.obj = site
        start_command_log(ctx, site)
        try:
            with log_command(ctx, find_exit_code), pass_counts_on(ctx, site):
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
    help="Level of the log [default: log_level of site.yaml, or warning]. It contains no text, name of a file or host.",
)
@click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    help="Format of the log: lines of text, or one JSON object per line [default: log_format of site.yaml, or text].",
)
@click.option("--log-descriptor", type=int, hidden=True, help="Open descriptor; used for jobs.")
@click.option("--for-account", "account", hidden=True, help="Work for this account; used for jobs.")
def intramural(**_: object) -> None:
    """Evaluate medical language models inside the hospital. Only signed aggregates leave it.

    Exit codes: 0 success, 1 unexpected error or a "no", 2 settings or usage, 3 benchmark or data, 4 inference server,
    5 redaction, 6 disclosure, 7 delivery, 8 store or keys, 9 some instances failed (run again), 130 interrupted.
    """


for command in (
    init, doctor, benchmarks, datasets, run, runs, judge, jobs, summarize, rescore, score, agreement, compare,
    calibrate, redact, export, import_, view, serve, submission, enroll, registry, steward_key, ledger, reset, rotate,
    purge, audit, models, baselines, demo, accounts, tokens,
    alerts, clock, support_bundle, backup, restore, copies, rollback,
):  # fmt: skip
    intramural.add_command(command)
use_commands(intramural)


def _print_error(error: AgentError) -> None:
    click.secho(f"error: {printable(str(error))}", fg="red", err=True)
    click.echo(f"  {printable(error.advice)}", err=True)


def find_exit_code(error: BaseException) -> int:
    """Return the exit code of a command that ended with an exception."""
    if isinstance(error, AgentError | click.ClickException | click.exceptions.Exit):
        return error.exit_code
    if isinstance(error, sqlite3.Error):
        return StoreError.exit_code
    return _INTERRUPTED if isinstance(error, KeyboardInterrupt | click.Abort) else 1


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
        return find_exit_code(error)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo(
            "interrupted; run the same command again (runs and reviews resume where they stopped)",
            err=True,
        )
        return _INTERRUPTED
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
