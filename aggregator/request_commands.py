"""The commands for requests that await approval: `requests` lists them, `rekey` puts resets and rotations in force."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from aggregator.command import count, format_option, open_home, say
from aggregator.errors import EnrolmentError

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from aggregator.registry.invites import PendingRequest
    from aggregator.registry.rekeyings import PendingRekeying

_Fields = dict[str, object]
_NO_KEY_YET = "none: the site is new"


@click.command()
@click.option(
    "--drop", metavar="DIGEST", help="Discard a reset or rotation that the site does not confirm."
)
@format_option
@click.pass_context
def requests(context: click.Context, drop: str | None, form: str) -> None:
    """List the requests that await approval: to enrol, to replace a key or to start a new epoch.

    Shows the fingerprints of the keys before and after, the reason, and the state of the site in
    the log. `enroll --pending` and `rekey --pending` put the requests in force.
    """
    from aggregator.home import today_day
    from aggregator.registry.invites import pending_requests
    from aggregator.registry.rekeyings import drop_requests, pending_rekeyings

    home = open_home(context)
    if drop is not None:
        with home.database.writing() as connection:
            dropped = drop_requests(connection, [drop])
        if not dropped:
            raise EnrolmentError(
                "no reset or rotation with this digest is waiting",
                "Run the command without --drop to list them.",
            )
    with home.database.reading() as connection:
        found = [
            _enrolment_fields(asked)
            for asked in pending_requests(connection, today_day=today_day())
        ]
        waiting, stale = pending_rekeyings(connection)
        found += [_rekeying_fields(connection, asked) for asked in waiting]
        found += [
            {"kind": "stale", "site": old.site_id, "digest": old.digest, "code": old.code.value}
            for old in stale
        ]
    text = "\n\n".join(_as_text(fields) for fields in found)
    say(form, text or "No request is waiting.", found)


@click.command()
@click.option("--pending", is_flag=True, help="Use the requests received over HTTP.")
@click.option(
    "--request",
    "file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="A request received as a file.",
)
@click.option("--site", help="With --pending: only requests of this site.")
@click.option("--digest", help="With --pending: only this request, if a site has several.")
@click.option(
    "--fingerprint-checked",
    is_flag=True,
    help="Do not ask: request and fingerprints have already been checked with the site.",
)
@click.pass_context
def rekey(
    context: click.Context,
    pending: bool,
    file: Path | None,
    site: str | None,
    digest: str | None,
    fingerprint_checked: bool,
) -> None:
    """Put a site's reset or rotation in force after checking it with the site: log it and sign the next registry.

    A reset starts a new epoch of the site's chain, ends a freeze, and revokes the keys that it
    omits. Running the command again changes nothing.
    """
    from aggregator.registry.proposals import find_root
    from aggregator.registry.rekeyings import pending_rekeyings
    from aggregator.registry.versions import newest_registry, write_copies

    if (file is None) != pending:
        raise click.UsageError("Specify --pending, or a file with --request.")
    if not pending and (site is not None or digest is not None):
        raise click.UsageError("--site and --digest require --pending.")
    home = open_home(context)
    with home.database.reading() as connection:
        if file is None:
            waiting, _ = pending_rekeyings(connection)
        else:
            waiting = read_request(connection, file)
    waiting = [
        asked
        for asked in waiting
        if site in {None, asked.site_id} and digest in {None, asked.rekeying.digest}
    ]
    if not waiting:
        with home.database.reading() as connection:
            write_copies(
                connection, home.registry_copies
            )  # in case a previous command was killed before this step
        click.echo(
            "No request is waiting."
            if site is None and digest is None
            else "No waiting request matches --site and --digest."
        )
        return
    if fingerprint_checked and len(waiting) > 1:
        raise click.UsageError("Several requests are waiting; choose one with --site or --digest.")
    with home.database.reading() as connection:
        find_root(home, newest_registry(connection))
    done: set[str] = set()
    for asked in waiting:
        if asked.site_id in done:
            continue  # the site's other requests were dropped when one was put in force
        with home.database.reading() as connection:
            is_confirmed = confirm_rekeying(connection, asked, fingerprint_checked)
        if not is_confirmed:
            continue
        _put_in_force(context, asked)
        done.add(asked.site_id)


def confirm_rekeying(
    connection: "Connection", asked: "PendingRekeying", fingerprint_checked: bool
) -> bool:
    """Show a reset or rotation. Return whether the user confirms having checked it with the site."""
    click.echo(_as_text(_rekeying_fields(connection, asked)))
    if fingerprint_checked:
        return True
    click.echo(
        "Ask the site's two people, through a channel that you trust, whether they requested this and why,"
    )
    click.echo("and have them read out the fingerprints of both new keys to you.")
    if click.confirm("Does everything match?", default=False):
        return True
    click.echo("Not put in force. The request remains pending.")
    return False


def read_request(connection: "Connection", file: Path) -> "list[PendingRekeying]":
    """Read a request file. Return an empty list if the request is already in force."""
    from aggregator.log.journal import receipt
    from aggregator.registry.rekeyings import open_request
    from aggregator.small_file import read_small
    from protocol.envelope import decode
    from protocol.errors import ProtocolError

    data = read_small(file)
    try:
        if receipt(connection, decode(data).digest) is not None:
            return []
        return [open_request(connection, data)]
    except ProtocolError as error:
        raise EnrolmentError(
            f"{file.name} is refused: {error.detail} ({error.code})",
            "Nothing was changed. If it is a site's request to replace a key or to start a new epoch, signed by the "
            "steward, the site must create a new one.",
        ) from None


def _put_in_force(context: click.Context, asked: "PendingRekeying") -> None:
    from aggregator.home import today_day
    from aggregator.registry.proposals import Changes, change_now
    from aggregator.registry.versions import write_copies

    home = open_home(context)
    with home.database.writing() as connection:
        registry = change_now(connection, home, Changes(rekeyings=[asked]), today_day=today_day())
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
    after = registry.sites[asked.site_id]
    what = f"epoch {after.epoch} begins" if asked.kind == "reset" else "its key is replaced"
    click.echo(f"Site {asked.site_id}: {what} with registry version {registry.version}.")


def _enrolment_fields(asked: "PendingRequest") -> _Fields:
    return {
        "kind": "enroll",
        "site": asked.site,
        "name": asked.display_name,
        "publication": asked.publication,
        "digest": asked.enrolment.digest,
        "agent_key_now": _NO_KEY_YET,
        "steward_key_now": _NO_KEY_YET,
        "agent_key_after": asked.enrolment.agent.fingerprint,
        "steward_key_after": asked.enrolment.steward.fingerprint,
    }


def _rekeying_fields(connection: "Connection", asked: "PendingRekeying") -> _Fields:
    from sqlalchemy import select

    from aggregator.log import journal
    from aggregator.log.history import read_site_head
    from aggregator.registry.versions import newest_registry
    from aggregator.store.schema import invites

    size = journal.size(connection)
    head = read_site_head(connection, asked.site_id, newest_registry(connection), size)
    assert head is not None, "requests are only read for enrolled sites"
    name = None
    if asked.site.publication == "pooled":  # its name is not in the registry
        name = connection.execute(
            select(invites.c.display_name).where(invites.c.site == asked.site_id)
        ).scalar()
    keys: _Fields = {}
    for role, key in asked.rekeying.keys.items():
        now = asked.key_now(role, size)
        keys[f"{role}_key_now"] = asked.describe_last(role) if now is None else now.fingerprint
        keys[f"{role}_key_after"] = key.fingerprint
    return {
        "kind": asked.kind,
        "site": asked.site_id,
        "name": name or asked.site.display_name,
        "reason": asked.reason,
        "digest": asked.rekeying.digest,
        **keys,
        "ledger_entries": asked.rekeying.header.ledger.length,
        "log": {
            "epoch": head.epoch,
            "seq": head.seq,
            "digest": head.digest,
            "ledger_entries": head.ledger.length,
            "frozen": head.frozen,
        },
    }


_TITLES = {
    "enroll": "asks to be enrolled",
    "reset": "asks to start a new epoch",
    "rotate": "asks to replace a key",
    "stale": "a request that no longer matches the log; the site must create a new one, or --drop it",
}
_LABELS = {
    "name": "name",
    "publication": "publication",
    "reason": "reason",
    "code": "refused as",
    "agent_key_now": "agent key now",
    "agent_key_after": "agent key after",
    "steward_key_now": "steward key now",
    "steward_key_after": "steward key after",
    "ledger_entries": "its ledger",
    "digest": "request",
}


def _as_text(fields: _Fields) -> str:
    from aggregator.command import printable

    lines = [f"Site {fields['site']}: {_TITLES[str(fields['kind'])]}"]
    for name, label in _LABELS.items():
        value = fields.get(name, "")
        if value == "":
            continue
        if name == "ledger_entries":
            value = count(int(str(value)), "entry", "entries")
        if name.endswith("_after") and value == fields.get(name.replace("_after", "_now")):
            value = "the same"
        lines.append(f"  {label:<18} {printable(str(value))}")
    log = fields.get("log")
    if isinstance(log, dict):
        state = "FROZEN after a fork" if log["frozen"] else "not frozen"
        ledger = count(log["ledger_entries"], "entry", "entries")
        lines.append(
            f"  {'the log knows':<18} epoch {log['epoch']}, link {log['seq']} ({str(log['digest'])[:16]}), "
            f"ledger of {ledger}, {state}"
        )
    return "\n".join(lines)
