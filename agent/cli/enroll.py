"""Commands of belonging to a federation: `enroll`, `registry` and `steward-key`."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.options import FILE, format_option
from agent.cli.output import show_rows, with_site
from agent.errors import ConfigError, DeliveryError
from agent.keys import KeyRole, create_signing_key, load_signer, read_public, write_public
from agent.site.directory import Site
from agent.site.new_keys import adopt_new_agent_key, load_present_agent_key

if TYPE_CHECKING:
    from agent.delivery.membership import Federation, Invite
    from agent.delivery.transport import Aggregator
    from protocol.keys import PublicKey
    from protocol.registry import Registry


@click.command()
@click.option("--invite", "invite_path", type=FILE, help="The invite file.")
@click.option("--steward-key", "key_path", type=FILE, help="Steward's private key, if it is at hand.")
@click.option("--steward-public", "public_path", type=FILE, help="Otherwise its .pub file; the steward signs later.")
@click.option("--request", "request_path", type=FILE, help="An existing request to sign or to send.")
@click.option("--out", type=FILE, help="Write the request to this file instead of sending it.")
@click.pass_obj
def enroll(
    site: Site,
    invite_path: Path | None,
    key_path: Path | None,
    public_path: Path | None,
    request_path: Path | None,
    out: Path | None,
) -> None:
    """Ask to be enrolled with an aggregator.

    The aggregator must have sent an invite. A person there compares the fingerprints of the keys.

    \b
    With the steward's key at hand:  --invite INVITE --steward-key KEY
    Else, at the site:               --invite INVITE --steward-public KEY.pub --out REQUEST
          the steward, anywhere:     --request REQUEST --steward-key KEY --out SIGNED
          at the site:               --invite INVITE --request SIGNED
    """
    from agent.delivery.membership import read_invite, request_keys

    invite = read_invite(invite_path) if invite_path else None
    match invite, key_path, public_path, request_path:
        case None, Path(), None, Path() if out is not None:
            data, next_step = _signed(_read(request_path), key_path), _BACK_AT_THE_SITE
        case None, _, _, _:
            raise click.UsageError("give --invite; only the steward, who signs a --request to --out, needs none")
        case _, Path(), None, None:
            signer = load_signer(key_path, KeyRole.STEWARD)
            data = _signed(_request(site, invite, signer.public, online=out is None), key_path)
            federation_of(site).keep_request(data)
            next_step = _AFTER_ENROLMENT if out is None else _BY_HAND
        case _, None, Path(), None if out is not None:
            data, next_step = _request(site, invite, read_public(public_path), online=False), _STEWARD_SIGNS
        case _, None, None, Path() if out is None:
            data, next_step = _read(request_path), _AFTER_ENROLMENT
            _join(site, invite, online=True)
            _check(site, invite, data)
            federation_of(site).keep_request(data)
        case _:
            raise click.UsageError("these options do not go together; see --help for the ways to enrol")
    keys = request_keys(data)
    if out is not None:
        write_new(out, data)
        click.echo(f"Request written to {out.name}.")
    elif invite is not None:
        _post(site, invite, data)
    click.echo("Fingerprints of the keys in the request:")
    click.echo(f"  agent    {keys[0].fingerprint}")
    click.echo(f"  steward  {keys[1].fingerprint}")
    click.echo(next_step if next_step == _STEWARD_SIGNS else with_site(next_step))  # the steward signs elsewhere


_STEWARD_SIGNS = "The steward signs it next, with `intramural-steward sign-request REQUEST --key KEY --out SIGNED`."
_BACK_AT_THE_SITE = (
    "Take it back to the site, which sends it with `intramural enroll --invite INVITE --request SIGNED`."
)
_READ_THEM = "Read the fingerprints to the aggregator's people, by telephone or face to face. "
_AFTER_ENROLMENT = _READ_THEM + "After they have enrolled the site, run `intramural registry update`."
_BY_HAND = (
    "Hand it to the aggregator's people. " + _READ_THEM + "They give you a registry with the site in it: take it with "
    "`intramural registry update --import FILE`."
)


@click.group()
def registry() -> None:
    """The federation's registry: who may sign and what may be named."""


@registry.command()
@click.option("--import", "path", type=FILE, help="Import a registry from a file.")
@click.pass_obj
def update(site: Site, path: Path | None) -> None:
    """Take the newest registry.

    It is verified from the invite's root keys on, and never older than the one that is here. The aggregator's log must
    continue the last head of it that this site has seen.
    """
    from agent.delivery.outbox import Outbox
    from agent.delivery.proven_log import follow_newest_checkpoint
    from agent.io.atomic_files import read_bounded
    from protocol.envelope import MAX_BYTES, REGISTRY_TYPE

    federation = federation_of(site)
    if path is not None:
        taken = federation.take(read_bounded(path, MAX_BYTES[REGISTRY_TYPE], "the registry"), today_day())
    else:
        with _may_fail("registry update"):
            aggregator = aggregator_of(site, federation.membership().url)
            taken = federation.update(aggregator, today_day())
            follow_newest_checkpoint(Outbox(site.submissions), taken, aggregator)
    if adopt_new_agent_key(site.keys, taken, federation.membership().site):
        click.echo("the new agent key is in force, and in place")
    click.echo(
        f"registry {taken.version} of {taken.deployment}; {_standing(site, taken, federation.membership().site)}"
    )


@registry.command("show")
@format_option()
@click.pass_obj
def show_registry(site: Site, form: str) -> None:
    """Show the registry's entry of this site, and what may be submitted."""
    from agent.delivery.membership import is_enrolled

    federation = federation_of(site)
    current = federation.registry(today_day())
    site_id = federation.membership().site
    rows = [_registry_row("registry", f"version {current.version} of {current.deployment}", "")]
    if is_enrolled(current, site_id, _agent_key(site).keyid):
        entry = current.sites[site_id]
        rows.append(_registry_row("site", entry.display_name, site_id))
        for site_key in entry.keys:
            rows.append(_registry_row(f"{site_key.role} key", site_key.key.fingerprint, site_key.key.keyid))
    else:
        rows.append(_registry_row("site", _standing(site, current, site_id), site_id))
    for digest, registered in current.scorecards.items():
        if not registered.retired:
            scorecard = registered.scorecard
            rows.append(_registry_row("scorecard", f"{scorecard.name} version {scorecard.version}", digest))
    rows += [_registry_row("model", model.name, digest) for digest, model in current.models.items()]
    rows += [_registry_row("agent", version, digest) for digest, version in current.agents.items()]
    rows += [_registry_row("policy", policy.name, digest) for digest, policy in current.policies.items()]
    if form == "table":  # JSON has the whole ids
        rows = [{**row, "id": row["id"][:12]} for row in rows]
    show_rows(rows, {"kind": "Kind", "name": "Name", "id": "Id"}, form)


def _registry_row(kind: str, name: str, identity: str) -> dict[str, str]:
    return {"kind": kind, "name": name, "id": identity}


@click.command("steward-key")
@click.option(
    "--out", type=FILE, required=True, help="File for the private key; the public key is written to FILE.pub."
)
def steward_key(out: Path) -> None:
    """Make a steward's key pair. The steward runs it on their own computer, which the key never leaves."""
    signer = create_signing_key(out, KeyRole.STEWARD)
    write_public(out.with_name(out.name + ".pub"), signer.public)
    click.echo(f"key         {out.name} (keep it to yourself)")
    click.echo(f"public key  {out.name}.pub (for `intramural enroll`)")
    click.echo(f"fingerprint {signer.public.fingerprint}")


@contextmanager
def _may_fail(command: str) -> Iterator[None]:
    """Say in errors of the network what to try again: no submission was on its way."""
    try:
        yield
    except DeliveryError as error:
        again = f"Nothing was changed. Try `intramural {command}` again later."
        error.advice = error.advice.replace(DeliveryError.advice, again)
        raise


def today_day() -> int:
    """Return the days since 1970-01-01 UTC."""
    return (datetime.now(UTC).date() - date(1970, 1, 1)).days


def federation_of(site: Site) -> "Federation":
    """Return the site's membership, after checking that this is a site at all."""
    from agent.delivery.membership import Federation

    _ = site.settings
    return Federation(site.submissions)


def aggregator_of(site: Site, invited_to: str) -> "Aggregator":
    """Return the way to the aggregator: the address of site.yaml, else the one of the invite."""
    from agent.delivery.transport import Aggregator, AggregatorConnection

    settings = site.settings
    url = settings.aggregator_url or invited_to
    if not url:
        raise ConfigError(
            "this site has no address of the aggregator",
            "Set `aggregator_url` in site.yaml, or exchange files with --export and --import-receipt.",
        )
    return Aggregator(
        AggregatorConnection(
            url=url,
            proxy=settings.proxy,
            ca_bundle=settings.ca_bundle,
            connect_timeout_s=settings.connect_timeout_s,
            total_timeout_s=settings.attempt_timeout_s,
        )
    )


def _agent_key(site: Site) -> "PublicKey":
    return load_present_agent_key(site.keys).public


def _standing(site: Site, taken: "Registry", own: str) -> str:
    """Say whether the registry names this very site: its id alone may stand there for another hospital's keys."""
    from agent.delivery.membership import is_enrolled

    if is_enrolled(taken, own, _agent_key(site).keyid):
        return "this site is enrolled"
    if own in taken.sites:
        return (
            f"this site is not enrolled: {own} stands there with other keys. Was the invite used by another site? "
            "Ask the central team for a new one"
        )
    return "this site is not yet enrolled"


def _join(site: Site, invite: "Invite", *, online: bool) -> None:
    from agent.delivery.membership import Membership

    url = invite.url if online else ""
    membership = Membership(invite.deployment, invite.site, url, tuple(invite.root_keys), invite.root_threshold)
    federation_of(site).join(membership, _agent_key(site).keyid)


def _request(site: Site, invite: "Invite", steward: "PublicKey", *, online: bool) -> bytes:
    """Return the site's enrolment request: the one made before, or a new one with the agent's signature."""
    from agent.delivery.membership import make_request, request_keys

    _join(site, invite, online=online)
    federation = federation_of(site)
    agent = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    before = federation.enrolment_request()
    if before is not None and [key.keyid for key in request_keys(before)] == [agent.public.keyid, steward.keyid]:
        return before
    version = 1
    if online:
        with _may_fail("enroll"):
            version = federation.update(aggregator_of(site, invite.url), today_day()).version
    data = make_request(invite, agent, steward, version)
    federation.keep_request(data)
    return data


def _check(site: Site, invite: "Invite", data: bytes) -> None:
    """Check a request that was away to be signed, before it is kept or sent. Raises ConfigError."""
    from agent.delivery.membership import check_request
    from protocol.registry import Registry

    trusted = federation_of(site).trusted()
    version = trusted.version if isinstance(trusted, Registry) else 1
    check_request(data, invite, _agent_key(site), version)


def _signed(data: bytes, key_path: Path) -> bytes:
    from agent.delivery.membership import sign_request

    return sign_request(data, load_signer(key_path, KeyRole.STEWARD))


def _post(site: Site, invite: "Invite", data: bytes) -> None:
    """Send the request. One that is refused for good leaves nothing behind, unless this site is enrolled already."""
    from agent.delivery.membership import is_enrolled, post_request
    from agent.delivery.transport import SubmissionRefusedError

    aggregator, federation = aggregator_of(site, invite.url), federation_of(site)
    try:
        with _may_fail("enroll"):
            post_request(aggregator, data)
    except SubmissionRefusedError as error:
        if error.final:
            taken = federation.update(aggregator, today_day())
            if is_enrolled(taken, invite.site, _agent_key(site).keyid):
                raise ConfigError("this site is enrolled already", "There is nothing more to do.") from None
            federation.leave()
        raise
    click.echo(f"Request sent to {invite.deployment}; it waits for a person there.")


def _read(path: Path) -> bytes:
    from agent.io.atomic_files import read_bounded
    from protocol.envelope import MAX_BYTES, STATEMENT_TYPE

    return read_bounded(path, MAX_BYTES[STATEMENT_TYPE], "the request")


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is to be carried elsewhere, whole or not at all; one with the same content stays as it is.

    Raises:
        ConfigError: another file is there, which is not overwritten, or the disk refuses.
    """
    from agent.errors import StoreError
    from agent.io.atomic_files import write_atomically

    try:
        if path.is_file() and path.read_bytes() == data:
            return
        if path.exists() or path.is_symlink():
            raise ConfigError(f"{path.name} is there already; nothing is overwritten", "Name another file.")
        write_atomically(path, data, mode=0o666)  # as far as the account's umask lets others read
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be written ({error.strerror})") from None
    except StoreError as error:
        raise ConfigError(f"{path.name}: {error}") from None
