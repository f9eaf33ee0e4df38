"""The commands `clock show|accept`: compare this machine's clock with what the site has seen, and declare it right."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from agent.cli.output import with_site
from agent.io.wording import format_count
from agent.site.directory import Site

if TYPE_CHECKING:
    from agent.store import ClockFault

_DATE = click.DateTime(["%Y-%m-%d"])


@click.group()
def clock() -> None:
    """Check this machine's clock, and declare it right."""


@clock.command()
@click.pass_obj
def show(site: Site) -> None:
    """Compare the clock with the times that the site has seen.

    The exit code is 1 if they disagree by more than a day.
    """
    from agent.store import format_time

    with site.store() as store:
        reading, latest = store.clock.read(), store.clock.read_latest()
        fault, leap_from = store.clock.find_fault(), store.clock.find_leap()
    click.echo(f"This machine's clock:   {format_time(reading.now)}")
    click.echo(f"Latest time seen here:  {format_time(latest) if latest else 'none yet'}")
    if fault is not None:
        click.echo(f"{fault.describe()[0].upper()}{fault.describe()[1:]}.")
        for line in _advise(fault):
            click.echo(with_site(line))
        raise click.exceptions.Exit(1)
    if leap_from is not None:
        click.echo(
            f"From {format_time(leap_from)} on this site was not used for more than a month, and nothing but the clock "
            "says for how long. Until it is confirmed, `purge --older-than` deletes nothing."
        )
        click.echo(
            with_site(
                "If the clock is right: `intramural clock accept --today YYYY-MM-DD --earlier-times-right`"
            )
        )
        raise click.exceptions.Exit(1)
    click.echo("They agree.")


@clock.command()
@click.option(
    "--today",
    type=_DATE,
    required=True,
    help="Today's date, from a calendar and not from this machine. It is compared with the clock.",
)
@click.option(
    "--wrong-since",
    type=_DATE,
    help="The clock was behind: texts stored under this date or a later one count as stored now.",
)
@click.option(
    "--earlier-times-right",
    is_flag=True,
    help="The clock was right all the time: the machine slept, or was off. Stored times stay as they are.",
)
@click.pass_obj
def accept(
    site: Site, today: datetime, wrong_since: datetime | None, earlier_times_right: bool
) -> None:
    """Declare the clock right, after it was wrong or after a long rest.

    Stored times in the future become the present time, so texts are kept for their whole term from now on. The
    declaration is recorded in the audit log and, if days in it are wrong, in the ledger of releases.
    """
    from agent.disclosure.accept_clock import accept_clock
    from agent.io.days import count_days
    from agent.store import format_time

    with site.store() as store:
        fault, leap_from = store.clock.find_fault(), store.clock.find_leap()
        is_forward = leap_from is not None if fault is None else fault.is_ahead
        if is_forward and (wrong_since is not None) == earlier_times_right:
            raise click.UsageError(
                "the clock went forward, so say which times are right: --earlier-times-right if the machine slept or "
                "was off, or --wrong-since DATE if the clock was behind from that date on"
            )
        since = None
        if wrong_since is not None:
            since = int(wrong_since.replace(tzinfo=UTC).timestamp())
        accepted = accept_clock(site, store, count_days(today.date()), wrong_since=since)
    time = accepted.time
    click.echo(
        f"The clock is accepted: {format_time(time.now)}. "
        f"{format_count(time.restamped, 'stored time')} changed to now."
    )
    if time.ended_tokens:
        click.echo(
            f"{format_count(time.ended_tokens, 'API token')} made under the wrong clock revoked."
        )
    if accepted.wrong_until is not None:
        click.echo(
            "The ledger of releases has an entry that declares its days in the future wrong."
        )


def _advise(fault: "ClockFault") -> list[str]:
    lines = [
        "If the clock is wrong: set it (UTC), for example with a time server. Nothing else is needed."
    ]
    accept = "`intramural clock accept --today YYYY-MM-DD"
    if not fault.is_ahead:
        return [*lines, f"If it is right now and was ahead before: {accept}`"]
    return [
        *lines,
        f"If it is right and the machine slept or was paused: {accept} --earlier-times-right`",
        f"If it is right now and was behind before: {accept} --wrong-since YYYY-MM-DD`",
    ]
