"""Commands for membership of a federation: `enroll`, `registry` and `steward-key`."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent.cli.federation import connect_aggregator, open_federation, today_day, write_new_file
from agent.cli.options import FILE, format_option
from agent.cli.output import show_rows, with_site
from agent.errors import ConfigError, DeliveryError
from agent.keys import KeyRole, create_signing_key, load_signer, read_public, write_public
from agent.site.directory import Site
from agent.site.new_keys import load_present_agent_key

if TYPE_CHECKING:
    from agent.delivery.membership import Invite
    from protocol.keys import PublicKey
    from protocol.registry import Registry
    from protocol.registry import Site as SiteEntry


@click.command()
@click.option("--invite", "invite_path", type=FILE, help="The invite file.")
@click.option(
    "--steward-key",
    "key_path",
    type=FILE,
    help="The steward's private key, if it is available here.",
)
@click.option(
    "--steward-public",
    "public_path",
    type=FILE,
    help="The steward's .pub file otherwise; the steward signs later.",
)
@click.option(
    "--request", "request_path", type=FILE, help="An existing request to sign or to send."
)
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
    """Request enrolment with an aggregator.

    Requires an invite from the aggregator. A person of the central team compares the fingerprints of the keys.

    \b
    With the steward's key here:     --invite INVITE --steward-key KEY
    Else, at the site:               --invite INVITE --steward-public KEY.pub --out REQUEST
          the steward, anywhere:     --request REQUEST --steward-key KEY --out SIGNED
          at the site:               --invite INVITE --request SIGNED
    """
    from agent.delivery.membership import read_invite, read_request_keys

    invite = read_invite(invite_path) if invite_path else None
    match invite, key_path, public_path, request_path:
        case None, Path(), None, Path() if out is not None:
            data = _sign(_read_request(request_path), key_path)
            next_step = _BACK_AT_THE_SITE
        case None, _, _, _:
            raise click.UsageError(
                "--invite is missing; it can be omitted only if a steward signs a --request and "
                "writes it with --out"
            )
        case _, Path(), None, None:
            data = _make_signed_request(site, invite, key_path, online=out is None)
            next_step = _AFTER_ENROLMENT if out is None else _BY_HAND
        case _, None, Path(), None if out is not None:
            data = _make_request(site, invite, read_public(public_path), online=False)
            next_step = _STEWARD_SIGNS
        case _, None, None, Path() if out is None:
            data = _take_signed_request(site, invite, request_path)
            next_step = _AFTER_ENROLMENT
        case _:
            raise click.UsageError(
                "these options cannot be combined; see --help for the ways to enrol"
            )
    if out is not None:
        write_new_file(out, data)
        click.echo(f"Request written to {out.name}.")
    elif invite is not None:
        _post(site, invite, data)
    agent, steward = read_request_keys(data)
    click.echo("Fingerprints of the keys in the request:")
    click.echo(f"  agent    {agent.fingerprint}")
    click.echo(f"  steward  {steward.fingerprint}")
    # The steward signs on another computer, where this command line's --site does not apply.
    click.echo(next_step if next_step == _STEWARD_SIGNS else with_site(next_step))


_STEWARD_SIGNS = "Next, the steward signs it with `intramural-steward sign-request REQUEST --key KEY --out SIGNED`."
_BACK_AT_THE_SITE = (
    "Take it back to the site, and send it from there with "
    "`intramural enroll --invite INVITE --request SIGNED`."
)
_READ_THEM = "Read the fingerprints to the central team by telephone or face to face. "
_AFTER_ENROLMENT = (
    _READ_THEM + "After they have enrolled the site, run `intramural registry update`."
)
_BY_HAND = (
    "Hand it to the central team. "
    + _READ_THEM
    + "They will give you a registry that contains the site; import it with "
    "`intramural registry update --import FILE`."
)


@click.group()
def registry() -> None:
    """Update and show the federation's registry."""


@registry.command()
@click.option("--import", "path", type=FILE, help="Import a registry from a file.")
@click.pass_obj
def update(site: Site, path: Path | None) -> None:
    """Fetch or import the newest registry.

    The registry is verified starting from the invite's root keys. A version older than the stored one is refused. The
    aggregator's log must extend the log that this site has seen.
    """
    from agent.disclosure.registry_update import describe_enrolment, take_registry, update_registry
    from agent.io.atomic_files import read_given
    from protocol.envelope import MAX_BYTES, REGISTRY_TYPE

    site_id = open_federation(site).read_membership().site
    if path is not None:
        data = read_given(path, MAX_BYTES[REGISTRY_TYPE], "the registry")
        done = take_registry(site, data, today_day(site))
    else:
        with _advise_trying_again("registry update"):
            done = update_registry(site, today_day(site))
    newest = done.registry
    if done.has_new_agent_key:
        click.echo("the new agent key is in force and installed")
    click.echo(
        f"registry {newest.version} of {newest.deployment}; {describe_enrolment(site, newest, site_id)}"
    )


@registry.command("show")
@format_option()
@click.pass_obj
def show_registry(site: Site, form: str) -> None:
    """Show the registry's entry of this site, and what may be submitted."""
    from agent.delivery.membership import is_enrolled
    from agent.disclosure.registry_update import describe_enrolment

    federation = open_federation(site)
    current = federation.read_registry(today_day(site))
    site_id = federation.read_membership().site
    rows = [_build_row("registry", f"version {current.version} of {current.deployment}", "")]
    if is_enrolled(current, site_id, _load_agent_key(site).keyid):
        rows += _build_site_rows(current.sites[site_id], site_id)
    else:
        rows.append(_build_row("site", describe_enrolment(site, current, site_id), site_id))
    rows += _build_registered_rows(current)
    if form == "table":  # JSON has the full ids
        rows = [{**row, "id": row["id"][:12]} for row in rows]
    show_rows(rows, {"kind": "Kind", "name": "Name", "id": "Id"}, form)


def _build_site_rows(entry: "SiteEntry", site_id: str) -> list[dict[str, str]]:
    rows = [_build_row("site", entry.display_name, site_id)]
    for site_key in entry.keys:
        rows.append(
            _build_row(f"{site_key.role} key", site_key.key.fingerprint, site_key.key.keyid)
        )
    return rows


def _build_registered_rows(current: "Registry") -> list[dict[str, str]]:
    """Return a row for each scorecard, model, agent and policy that a submission may name."""
    rows: list[dict[str, str]] = []
    for digest, registered in current.scorecards.items():
        if not registered.retired:
            scorecard = registered.scorecard
            rows.append(
                _build_row("scorecard", f"{scorecard.name} version {scorecard.version}", digest)
            )
    for digest, model in current.models.items():
        rows.append(_build_row("model", model.name, digest))
    for digest, version in current.agents.items():
        rows.append(_build_row("agent", version, digest))
    for digest, policy in current.policies.items():
        rows.append(_build_row("policy", policy.name, digest))
    return rows


def _build_row(kind: str, name: str, identity: str) -> dict[str, str]:
    return {"kind": kind, "name": name, "id": identity}


@click.command("steward-key")
@click.option(
    "--out",
    type=FILE,
    required=True,
    help="File for the private key; the public key is written to FILE.pub.",
)
def steward_key(out: Path) -> None:
    """Make a steward's key pair. The steward does this on their own computer, which the key never leaves."""
    signer = create_signing_key(out, KeyRole.STEWARD)
    write_public(out.with_name(out.name + ".pub"), signer.public)
    click.echo(f"key         {out.name} (never give it to anyone)")
    click.echo(f"public key  {out.name}.pub (for `intramural enroll`)")
    click.echo(f"fingerprint {signer.public.fingerprint}")


@contextmanager
def _advise_trying_again(command: str) -> Iterator[None]:
    """Replace the advice in network errors, which is about submissions, with the command to try again."""
    try:
        yield
    except DeliveryError as error:
        again = f"Nothing was changed. Try `intramural {command}` again later."
        error.advice = error.advice.replace(DeliveryError.advice, again)
        raise


def _load_agent_key(site: Site) -> "PublicKey":
    return load_present_agent_key(site.keys).public


def _join(site: Site, invite: "Invite", *, online: bool) -> None:
    from agent.delivery.membership import Membership

    membership = Membership(
        deployment=invite.deployment,
        site=invite.site,
        url=invite.url if online else "",
        root_keys=tuple(invite.root_keys),
        root_threshold=invite.root_threshold,
    )
    open_federation(site).join(membership, _load_agent_key(site).keyid)


def _make_request(site: Site, invite: "Invite", steward: "PublicKey", *, online: bool) -> bytes:
    """Return the site's earlier enrolment request, or a new one with the agent's signature."""
    from agent.delivery.membership import make_request, read_request_keys

    _join(site, invite, online=online)
    federation = open_federation(site)
    agent = load_signer(site.keys / "agent.key", KeyRole.AGENT)
    earlier = federation.read_request()
    if earlier is not None:
        keyids = [key.keyid for key in read_request_keys(earlier)]
        if keyids == [agent.public.keyid, steward.keyid]:
            return earlier
    version = 1  # of the registry; without a network no newer version is known
    if online:
        with _advise_trying_again("enroll"):
            version = federation.update(
                connect_aggregator(site, invite.url), today_day(site)
            ).version
    data = make_request(invite, agent, steward, version)
    federation.keep_request(data)
    return data


def _make_signed_request(site: Site, invite: "Invite", key_path: Path, *, online: bool) -> bytes:
    """Store and return the site's enrolment request with the signatures of agent and steward."""
    steward = load_signer(key_path, KeyRole.STEWARD)
    data = _sign(_make_request(site, invite, steward.public, online=online), key_path)
    open_federation(site).keep_request(data)
    return data


def _take_signed_request(site: Site, invite: "Invite", request_path: Path) -> bytes:
    """Read, check and store a request that the steward signed. Raises ConfigError if it is not this site's."""
    from agent.delivery.membership import check_request
    from protocol.registry import Registry

    data = _read_request(request_path)
    _join(site, invite, online=True)
    federation = open_federation(site)
    trusted = federation.read_trusted()
    version = trusted.version if isinstance(trusted, Registry) else 1
    check_request(data, invite, _load_agent_key(site), version)
    federation.keep_request(data)
    return data


def _read_request(path: Path) -> bytes:
    from agent.io.atomic_files import read_given
    from protocol.envelope import MAX_BYTES, STATEMENT_TYPE

    return read_given(path, MAX_BYTES[STATEMENT_TYPE], "the request")


def _sign(data: bytes, key_path: Path) -> bytes:
    from agent.delivery.membership import sign_request

    return sign_request(data, load_signer(key_path, KeyRole.STEWARD))


def _post(site: Site, invite: "Invite", data: bytes) -> None:
    """Send the request. Delete the stored request if it is refused for good, unless the site is enrolled already."""
    from agent.delivery.membership import is_enrolled, post_request
    from agent.delivery.transport import SubmissionRefusedError

    aggregator, federation = connect_aggregator(site, invite.url), open_federation(site)
    try:
        with _advise_trying_again("enroll"):
            post_request(aggregator, data)
    except SubmissionRefusedError as error:
        if error.final:
            newest = federation.update(aggregator, today_day(site))
            if is_enrolled(newest, invite.site, _load_agent_key(site).keyid):
                raise ConfigError(
                    "this site is enrolled already", "There is nothing more to do."
                ) from None
            federation.leave()
        raise
    click.echo(f"Request sent to {invite.deployment}; a person there decides on it.")
