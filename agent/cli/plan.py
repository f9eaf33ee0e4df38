"""The commands `submission plan|abandon|withdraw`, for statements without figures; these too need approval."""

from functools import partial

import click

from agent.cli.federation import today_day
from agent.cli.output import with_site
from agent.cli.submission_context import record_event
from agent.site.directory import Site
from protocol.predicates import ABANDON_REASONS, MODEL_ASSURANCES, WITHDRAW_REASONS

_MAX_PLAN = 127  # days; the protocol's limit


@click.command()
@click.option("--model", required=True, help="The model's registered name.")
@click.option(
    "--scorecard", "scorecard_name", help="Name of the scorecard, if several are registered."
)
@click.option(
    "--days",
    type=click.IntRange(1, _MAX_PLAN),
    default=30,
    show_default=True,
    help="Days until the result is due.",
)
@click.option(
    "--model-assurance",
    "assurance",
    type=click.Choice(sorted(MODEL_ASSURANCES)),
    default="served_claimed",
    show_default=True,
    help="Evidence that the running model is this one: served_claimed (its server says so), or weights_hashed (the "
    "agent itself serves it, see docs/deployments.md, and every run is made with the same weights).",
)
@click.pass_obj
def plan(site: Site, model: str, scorecard_name: str | None, days: int, assurance: str) -> None:
    """Draft a plan to evaluate a model on a scorecard's data.

    The plan's receipt yields the seed with which `intramural run --plan` samples, so the site cannot choose it.
    A result without a plan is also accepted, and is marked as unplanned.
    """
    from agent.disclosure.drafting import plan_evaluation

    drafted = plan_evaluation(
        site,
        scorecard_name,
        model,
        assurance=assurance,
        days=days,
        today_day=today_day(site),
        audit=partial(record_event, site),
    )
    click.echo(f"{drafted.state.value} {drafted.digest}")
    click.echo(
        with_site(
            "Once it is approved and has a receipt, run it with "
            f"`intramural run --plan {drafted.digest[:12]} --run-entries ...`."
        )
    )


@click.command()
@click.option(
    "--plan",
    "digest",
    required=True,
    help="The plan: at least the first 8 characters of its digest.",
)
@click.option(
    "--reason",
    type=click.Choice(ABANDON_REASONS),
    required=True,
    help="Reason why the plan has no result.",
)
@click.pass_obj
def abandon(site: Site, digest: str, reason: str) -> None:
    """Draft a statement that a plan ends without a result. The plan and the reason stay in the log."""
    from agent.disclosure.drafting import abandon_plan

    drafted = abandon_plan(site, digest, reason, today_day(site), partial(record_event, site))
    click.echo(f"{drafted.state.value} {drafted.digest}")


@click.command()
@click.option(
    "--digest", required=True, help="The result: at least the first 8 characters of its digest."
)
@click.option(
    "--reason",
    type=click.Choice(WITHDRAW_REASONS),
    required=True,
    help="Reason for the withdrawal.",
)
@click.pass_obj
def withdraw(site: Site, digest: str, reason: str) -> None:
    """Draft the withdrawal of a result from the board.

    The log keeps the result. The model's scores may be submitted again.
    """
    from agent.disclosure.drafting import withdraw_result

    drafted = withdraw_result(site, digest, reason, today_day(site), partial(record_event, site))
    click.echo(f"{drafted.state.value} {drafted.digest}")
