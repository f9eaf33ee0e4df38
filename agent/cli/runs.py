"""The commands `runs`: the stored runs, who sees them, and how to delete one."""

from typing import TYPE_CHECKING

import click

from agent.cli.options import format_option
from agent.cli.output import fitting, show_rows, with_site
from agent.errors import ConfigError
from agent.io.plain_text import printable
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.store import Run, RunContent, Store

_SHORTEST_ID = 4
_COMMAND_LINE = "command line"
RUN = click.argument("run_id", metavar="RUN")


@click.group()
def runs() -> None:
    """List, share and delete stored runs.

    RUN is the id that `runs list` shows; its first characters suffice.
    """


@runs.command("list")
@click.option("--suite", help="Only the runs of this suite.")
@format_option()
@click.pass_obj
def list_command(site: Site, suite: str | None, form: str) -> None:
    """List the stored runs with their owners."""
    from agent.service.heads import convert_start

    with site.store() as store:
        if suite is not None:
            store.runs.require_suite(suite)
        names = {account.account_id: account.name for account in store.accounts.read_all()}
        rows = []
        for run in store.runs.select(suite):
            owner = _COMMAND_LINE if run.owner is None else names.get(run.owner, run.owner)
            rows.append(
                {
                    "id": run.run_id,
                    "suite": run.suite,
                    "name": run.name,
                    "instances": store.answers.count_instances(run.run_id),
                    "state": "unfinished" if run.state == "asking" else "ended",
                    "began": f"{convert_start(run).astimezone():%Y-%m-%d %H:%M}",
                    "owner": owner,
                    "private": run.is_private,
                }
            )
    if not rows and form == "table":
        click.echo(with_site("There are no runs yet; `intramural run` makes one."))
        return
    if form == "table":
        for row in rows:
            row["shown"] = f"{row['owner']} only" if row["private"] else "everyone"
    columns = {
        "id": "Run",
        "suite": "Suite",
        "name": "Run entry",
        "instances": "Instances",
        "state": "State",
        "began": "Began",
        "owner": "Owner",
        "shown": "Shown to",
    }
    show_rows(
        rows,
        fitting(rows, columns, ("began", "owner", "instances", "state"), folds=True),
        form,
        folds=True,
    )


@runs.command("share")
@RUN
@click.pass_obj
def share_command(site: Site, run_id: str) -> None:
    """Show a private run to everyone on the service's pages."""
    from agent.runs.privacy import share_run

    with site.store() as store:
        run = find_run(store, run_id)
        share_run(store, run)
    click.echo(f"run {run.run_id} is shown to everyone: {printable(run.name)}")


@runs.command("unshare")
@RUN
@click.pass_obj
def unshare_command(site: Site, run_id: str) -> None:
    """Keep a run from others on the service's pages.

    Only its owner still sees it there. A run that was made on the command line has no owner, so that nobody does. What
    has been submitted of a run stays published.
    """
    from agent.runs.privacy import unshare_run

    with site.store() as store:
        run = find_run(store, run_id)
        unshare_run(site, store, run)
    click.echo(f"run {run.run_id} is private: {printable(run.name)}")


@runs.command("delete")
@RUN
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def delete_command(site: Site, run_id: str, yes: bool) -> None:
    """Delete a run with its texts, for good.

    Answers, questions, scores and judges' verdicts are deleted, as far as no other run uses the same ones. Submissions,
    the ledger, the audit log and the logs of jobs stay.
    """
    from agent.runs.delete_run import check_deletable, delete_run
    from agent.runs.submissions_of_runs import list_audited_submissions

    with site.store() as store:
        run = find_run(store, run_id)
        check_deletable(site, store, run)
        click.echo(f"{run.suite}: {printable(run.name)}")
        click.echo(_describe(store.count_run(run.run_id)))
        for submission in list_audited_submissions(site, run):
            click.echo(
                f"`audit verify` can no longer check submission {submission.digest[:12]} without it"
            )
        if not yes and not click.confirm("Delete it?"):
            click.echo("nothing was deleted")
            return
        content = delete_run(site, store, run)
    click.echo(f"run {run.run_id} deleted with {format_count(content.texts, 'text')}")


def _describe(content: "RunContent") -> str:
    """Return what a deletion would take, and what stays because other runs use it."""
    words = ", ".join(
        (
            format_count(content.instances, "instance"),
            format_count(content.answers, "answer"),
            format_count(content.records, "question"),
            format_count(content.verdicts, "verdict"),
        )
    )
    if content.unused:
        words += f", and {format_count(content.unused, 'text')} that no run uses"
    if content.shared:
        verb = "stays" if content.shared == 1 else "stay"
        words += f"; {format_count(content.shared, 'text')} {verb}, because other runs use the same"
    return words


def find_run(store: "Store", run_id: str) -> "Run":
    """Return the run with this id, of which the beginning is enough.

    Raises:
        ConfigError: there is none, or there are several.
    """
    run = store.runs.find(run_id)
    if run is not None:
        return run
    matches = [each for each in store.runs.select() if each.run_id.startswith(run_id)]
    if len(matches) == 1 and len(run_id) >= _SHORTEST_ID:
        return matches[0]
    if len(run_id) < _SHORTEST_ID:
        problem = f"give at least {_SHORTEST_ID} characters of the run's id, not"
    else:
        problem = "several runs have ids that begin with" if matches else "no run has the id"
    raise ConfigError(f"{problem} {printable(run_id)}", "See `intramural runs list`.")
