"""Commands that can be queued instead of being run: `intramural run ... --queue`."""

from collections.abc import Sequence
from typing import Any

import click

from agent.cli.options import ManyValues
from agent.cli.output import with_site
from agent.site.directory import Site

_ARGUMENTS = "intramural.queueable arguments"
_QUEUE = "--queue"


class Queueable(ManyValues):
    """A command with the option `--queue`, which hands its command line over to the site's queue."""

    def __init__(self, *positional: Any, **named: Any) -> None:
        super().__init__(*positional, **named)
        self.params.append(
            click.Option(
                [_QUEUE],
                is_flag=True,
                help="Check the command line and append it to the queue instead of running it now; see "
                "`intramural jobs`.",
            )
        )

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the arguments as they were given."""
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """Run the command, or queue it."""
        if not ctx.params.pop("queue"):
            return super().invoke(ctx)
        arguments = [argument for argument in ctx.meta[_ARGUMENTS] if argument != _QUEUE]
        queue_here(ctx.ensure_object(Site), [str(self.name), *arguments])
        return None


def queue_here(site: Site, arguments: Sequence[str]) -> None:
    """Queue a command line for the user of this terminal, and print the job's id."""
    from agent.jobs.dispatcher import is_dispatched
    from agent.jobs.queue import queue_job

    job = queue_job(site, arguments, files_allowed=True)
    click.echo(f"queued as job {job.job_id}: {job.title}")
    click.echo(with_site(f"Watch it with `intramural jobs watch {job.job_id}`."))
    if not is_dispatched(site):
        click.echo(with_site(NOT_DISPATCHED), err=True)


NOT_DISPATCHED = (
    "Nothing works off the queue at the moment. Start `intramural serve` or, without pages, "
    "`intramural jobs dispatch`."
)
