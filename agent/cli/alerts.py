"""The commands `alerts`: try whether alerts arrive, and list those that were sent."""

import time

import click

from agent.cli.accounts import format_time
from agent.cli.options import format_option
from agent.cli.output import fitting, show_rows, with_site
from agent.errors import AgentError, ConfigError, DeliveryError
from agent.site.directory import Site

_LISTED = 50


@click.group()
def alerts() -> None:
    """Try alerts by webhook or e-mail, and list those sent.

    Alerts contain codes and counts only. `intramural serve` and `intramural jobs dispatch` send them; the settings
    whose names begin with alert_ say where to.
    """


@alerts.command("test")
@click.pass_obj
def test_command(site: Site) -> None:
    """Send a test alert on each channel, and report what came back."""
    from agent.alerts.channels import AlertFailedError, read_plan
    from agent.alerts.sending import make_test, send_alert
    from agent.store import MessageState

    plan = read_plan(site.settings)
    if not plan.channels:
        raise ConfigError(
            "site.yaml names no receiver of alerts",
            "Set alert_webhook_url or alert_smtp_host; see docs/service.md.",
        )
    failures: list[AgentError] = []
    for channel in plan.channels:
        content = make_test(plan, time.time())
        state = MessageState.GIVEN_UP
        try:
            outcome = came_back = send_alert(plan, channel, content)
        except AgentError as error:
            failures.append(error)
            click.secho(f"{channel}: not delivered: {error}", fg="red")
            click.echo(with_site(f"  {error.advice}"))
            came_back = "not delivered"
            outcome = error.code if isinstance(error, AlertFailedError) else "settings"
        else:
            state = MessageState.SENT
            click.echo(f"{channel}: delivered, {came_back}")
        with site.store() as store, store.transaction():
            store.alerts.add_test(content.message_id, channel, state, outcome, content.made_at)
            store.audit.record(
                "alert test", f"channel={channel} id={content.message_id} result={came_back}"
            )
    if failures:
        raise click.exceptions.Exit(DeliveryError.exit_code)


@alerts.command("list")
@format_option()
@click.pass_obj
def list_command(site: Site, form: str) -> None:
    """List the latest alerts with their state, newest first."""
    with site.store() as store:
        messages = store.alerts.list_recent(_LISTED)
        counts = {each.message_id: store.alerts.count_events(each) for each in messages}
    rows = [
        {
            "id": each.message_id,
            "channel": each.channel.value,
            "made": format_time(int(each.made_at)),
            "state": each.state.value,
            "attempts": each.attempts,
            "last": each.outcome or None,
            "events": "test"
            if each.is_test
            else ", ".join(f"{code} {n}" for code, n in counts[each.message_id].items()),
        }
        for each in messages
    ]
    if not rows and form == "table":
        click.echo("No alert was sent yet.")
        return
    columns = {
        "id": "Alert",
        "channel": "Channel",
        "made": "Made (UTC)",
        "state": "State",
        "attempts": "Attempts",
        "last": "Last result",
        "events": "Events",
    }
    show_rows(rows, fitting(rows, columns, ("id", "made"), folds=True), form, folds=True)
