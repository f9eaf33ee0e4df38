"""The commands `invite`, `invites`, `enroll` and `register`, which control who may submit what."""

from datetime import date, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aggregator.command import format_option, open_home, say, show_rows
from aggregator.errors import EnrolmentError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from aggregator.registry.invites import PendingRequest


@click.command()
@click.option("--site-name", required=True, help="Name of the site on the board.")
@click.option(
    "--publication",
    type=click.Choice(["named", "pooled"]),
    default="pooled",
    show_default=True,
    help="named: shown under its name; pooled: shown only merged with other sites, without its name.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write the invite to. It must not exist.",
)
@click.pass_context
def invite(context: click.Context, site_name: str, publication: Any, out: Path) -> None:
    """Write an invite for a new site. It contains a single-use token: hand it over confidentially."""
    from aggregator.home import today_day
    from aggregator.key_files import write_private
    from aggregator.registry import invites

    home = open_home(context)
    with home.database.writing() as connection:
        made = invites.invite(
            connection, home, site_name=site_name, publication=publication, today_day=today_day()
        )
        write_private(out, made.to_json())
    click.echo(
        f"Wrote {out} for site {made.site}. It must be used before {_as_date(made.expires_day)}."
    )
    click.echo(
        "Anyone who has this file can request enrolment as that site, once. `invites --cancel SITE` cancels it."
    )


@click.command()
@click.option(
    "--cancel", metavar="SITE", help="Cancel an unused invite and the request made with it."
)
@format_option
@click.pass_context
def invites(context: click.Context, cancel: str | None, form: str) -> None:
    """List all invites: open, waiting for approval, used or expired.

    The token of a cancelled invite is no longer accepted.
    """
    from aggregator.home import today_day
    from aggregator.registry.invites import cancel_invite, list_invites

    home = open_home(context)
    if cancel is not None:
        with home.database.writing() as connection:
            had_request = cancel_invite(connection, cancel)
        too = " and the request made with it" if had_request else ""
        if form == "table":
            click.echo(f"Cancelled the invite for site {cancel}{too}.")
    with home.database.reading() as connection:
        known = list_invites(connection, today_day=today_day())
    lines = [
        {
            "site": invite.site,
            "name": invite.site_name,
            "publication": invite.publication,
            "state": invite.state,
            "to_be_used_before": _as_date(invite.expires_day),
        }
        for invite in known
    ]
    if lines and form == "table":
        show_rows(lines)
    else:
        say(form, "No invites.", lines)


def _as_date(day: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=day)).isoformat()


@click.command()
@click.argument(
    "request", required=False, type=click.Path(path_type=Path, dir_okay=False, exists=True)
)
@click.option(
    "--pending", is_flag=True, help="Use the requests received over HTTP, instead of a file."
)
@click.option("--site", help="With --pending: only this site's request.")
@click.option(
    "--fingerprint-checked",
    is_flag=True,
    help="Do not ask: the fingerprints have already been compared with the site.",
)
@click.pass_context
def enroll(
    context: click.Context,
    request: Path | None,
    pending: bool,
    site: str | None,
    fingerprint_checked: bool,
) -> None:
    """Enrol a site after a person has compared its keys' fingerprints, and sign the next registry."""
    from aggregator.home import today_day
    from aggregator.registry import invites
    from aggregator.registry.proposals import Changes, change_now, find_root
    from aggregator.registry.versions import newest_registry, write_copies

    if (request is None) != pending:
        raise click.UsageError("Specify a request file or --pending.")
    if site is not None and not pending:
        raise click.UsageError("--site requires --pending.")
    home = open_home(context)
    today = today_day()
    with home.database.reading() as connection:
        if request is not None:
            waiting = [read_enrolment(connection, request)]
        else:
            waiting = invites.pending_requests(connection, today_day=today)
    waiting = [asked for asked in waiting if site in {None, asked.site}]
    if not waiting:
        with home.database.reading() as connection:
            write_copies(
                connection, home.registry_copies
            )  # in case a previous command was killed before this step
        click.echo(
            "No request is waiting." if site is None else f"No request of site {site} is waiting."
        )
        return
    if fingerprint_checked and len(waiting) > 1:
        raise click.UsageError("Several requests are waiting; choose one with --site.")
    with home.database.reading() as connection:
        find_root(home, newest_registry(connection))
    for asked in waiting:
        if not confirm_enrolment(asked, fingerprint_checked):
            continue
        with home.database.writing() as connection:
            registry = change_now(connection, home, Changes(enrolments=[asked]), today_day=today)
        with home.database.reading() as connection:
            write_copies(connection, home.registry_copies)
        click.echo(f"Enrolled {asked.site} with registry version {registry.version}.")


def read_enrolment(connection: "Connection", file: Path) -> "PendingRequest":
    """Read a request file. Raises EnrolmentError."""
    from aggregator.home import today_day
    from aggregator.registry.invites import open_request
    from aggregator.small_file import read_small
    from protocol.errors import Code, ProtocolError

    try:
        return open_request(connection, read_small(file), today_day=today_day())
    except ProtocolError as error:
        advice = None
        if error.code is not Code.WRONG_TOKEN:
            advice = (
                "Nothing was changed. Use the request that `intramural enroll` wrote at the site and that the steward "
                "has signed, not the invite."
            )
        raise EnrolmentError(
            f"{file.name} is refused: {error.detail} ({error.code})", advice
        ) from None


def confirm_enrolment(asked: "PendingRequest", fingerprint_checked: bool) -> bool:
    """Show the fingerprints of a request. Return whether the user confirms having compared them with the site."""
    click.echo(f"Site {asked.site}: {asked.display_name} ({asked.publication})")
    click.echo(f"  agent key    {asked.enrolment.agent.fingerprint}")
    click.echo(f"  steward key  {asked.enrolment.steward.fingerprint}")
    if fingerprint_checked:
        return True
    click.echo(
        "Ask the site's two people to read these out to you through a channel that you trust."
    )
    if click.confirm("Do both match?", default=False):
        return True
    click.echo("Not enrolled.")
    return False


@click.command()
@click.option("--model", help="Name of one model, for example qwen/qwen2.5-7b-instruct.")
@click.option("--display-name", help="With --model: display name on the board.")
@click.option("--organization", default="", help="With --model: organization that created it.")
@click.option(
    "--not-a-language-model",
    is_flag=True,
    help="With --model: mark it as a reference baseline on the board.",
)
@click.option(
    "--models", type=click.Path(path_type=Path, dir_okay=False), help="YAML list of models."
)
@click.option(
    "--scorecard",
    "scorecards",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="JSON file, or the name of a built-in scorecard (medhelm-v1). May be repeated.",
)
@click.option(
    "--retire-scorecard",
    "retired",
    multiple=True,
    metavar="NAME[@VERSION]",
    help="Accept no more results for a scorecard.",
)
@click.option("--agent-version", "agents", multiple=True, help="Agent version that sites may use.")
@click.option(
    "--policy",
    "policies",
    multiple=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Disclosure policy (YAML) that sites may use.",
)
@click.option(
    "--renew",
    is_flag=True,
    help="Sign a new version even if nothing changes, to extend its expiry.",
)
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
    """Add models, scorecards, agent versions or policies in one new registry version, signed by the root key."""
    from aggregator.home import today_day
    from aggregator.registry.changes import Additions, apply, read_models, read_scorecard
    from aggregator.registry.policies import read_policy
    from aggregator.registry.proposals import Changes, change_now
    from aggregator.registry.versions import newest_registry, write_copies
    from protocol.registry import Model

    if (model is None) != (display_name is None):
        raise click.UsageError("--model and --display-name must be used together.")
    if model is None and (organization or not_a_language_model):
        raise click.UsageError("--organization and --not-a-language-model require --model.")
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
        raise click.UsageError("Specify something to register.")
    home = open_home(context)
    with home.database.writing() as connection:
        before = newest_registry(connection)
        if apply(before, additions) is before and not renew:
            click.echo(f"Nothing to change: registry version {before.version} stays in force.")
            return
        after = change_now(connection, home, Changes(additions=additions), today_day=today_day())
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
    click.echo(f"Signed registry version {after.version}.")
