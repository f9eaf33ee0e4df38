"""The commands of `registry`: changes that several root keys sign on different machines.

`propose` on the aggregator's host writes a draft, `sign` on each root's machine adds a signature, `commit` on the host
puts the version in force. `sign` and `show` need nothing but the draft.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aggregator.command import format_option, open_home, printable, say

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from aggregator.home import Home
    from aggregator.registry.draft_file import Draft
    from aggregator.registry.invites import PendingRequest
    from aggregator.registry.proposals import Changes, GroupChange
    from aggregator.registry.rekeyings import PendingRekeying
    from protocol.keys import PublicKey

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path, dir_okay=False)
_EXISTING = click.Path(path_type=Path, dir_okay=False, exists=True)

_KEY_HELP = "key id or its first 16 digits or more"

_OPTIONS = (
    click.option("--enroll-pending", is_flag=True, help="Enrol every site whose request waits."),
    click.option(
        "--enroll", "enrolments", multiple=True, type=_EXISTING, help="Enrolment request that came as a file."
    ),
    click.option("--rekey-pending", is_flag=True, help="Grant every reset and rotation that waits."),
    click.option("--rekey", "rekeyings", multiple=True, type=_EXISTING, help="Reset or rotation that came as a file."),
    click.option(
        "--revoke",
        "revoked",
        multiple=True,
        metavar="KEY@INDEX",
        help=f"Revoke a site's key ({_KEY_HELP}) from this log entry on: results it signed from there no longer count.",
    ),
    click.option("--end-key", "ended", multiple=True, metavar="KEY", help="End a site's key; its results stay."),
    click.option(
        "--publication", "publications", multiple=True, metavar="SITE=named|pooled", help="Change a site's publication."
    ),
    click.option("--rename", "names", multiple=True, metavar="SITE=NAME", help="Change the name of a site."),
    click.option("--leave", "leaving", multiple=True, metavar="SITE", help="A site leaves; its results stay."),
    click.option("--models", type=_FILE, help="YAML list of models."),
    click.option(
        "--scorecard", "scorecards", multiple=True, type=_FILE, help="JSON file, or the name of a shipped one."
    ),
    click.option(
        "--retire-scorecard", "retired", multiple=True, metavar="NAME[@VERSION]", help="Take no more results."
    ),
    click.option("--agent-version", "agents", multiple=True, help="Version of the agent that sites may use."),
    click.option("--policy", "policies", multiple=True, type=_FILE, help="Disclosure policy (YAML)."),
    click.option("--add-root", "new_roots", multiple=True, type=_EXISTING, help="Public key file of a new root."),
    click.option("--remove-root", "removed_roots", multiple=True, metavar="KEY", help=f"Remove a root ({_KEY_HELP})."),
    click.option("--threshold", type=click.IntRange(1, 16), help="Number of roots that must sign from then on."),
    click.option("--add-auditor", "auditors", multiple=True, metavar="NAME=FILE", help="Auditor and public key file."),
    click.option("--remove-auditor", "gone_auditors", multiple=True, metavar="NAME", help="Remove an auditor."),
    click.option("--auditor-threshold", type=click.IntRange(1, 16), help="Number of auditors that must sign a board."),
    click.option("--add-witness", "witnesses", multiple=True, metavar="NAME=FILE", help="Witness and public key file."),
    click.option("--remove-witness", "gone_witnesses", multiple=True, metavar="NAME", help="Remove a witness."),
    click.option("--witness-threshold", type=click.IntRange(1, 16), help="Number of witnesses that must cosign."),
    click.option("--rotate-log-key", is_flag=True, help="Make a new log key, and hand the log over to it."),
    click.option(
        "--log-key-from",
        type=click.IntRange(1),
        metavar="SIZE",
        help="With --rotate-log-key: size of the log from which the old key no longer counts, if it was stolen.",
    ),
    click.option("--rotate-receipt-key", is_flag=True, help="Make a new receipt key."),
    click.option(
        "--valid-days", type=click.IntRange(1, 3650), help="Days until the version expires [as the settings]."
    ),
    click.option("--renew", is_flag=True, help="Propose a version even if nothing changes, to move its expiry."),
)


def _change_options(command: _Command) -> _Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group()
def registry() -> None:
    """Change the registry with several root keys on different machines: propose, sign, commit."""


@registry.command("new-key")
@click.argument("path", type=_FILE)
def new_key(path: Path) -> None:
    """Make a key pair for a root, an auditor or a witness: PATH is private, PATH.pub goes to the aggregator.

    Needs no aggregator's directory: run it on the machine where the key will stay.
    """
    from aggregator.key_files import draw_key, write_private, write_public
    from protocol.keys import Ed25519Signer

    key = draw_key()
    public = Ed25519Signer(key).public
    write_private(path, _private_pem(key))
    write_public(path.with_name(f"{path.name}.pub"), public)
    click.echo(
        f"Wrote {path}, which never leaves this machine, and {path.name}.pub. Fingerprint:\n  {public.fingerprint}"
    )


@registry.command()
@click.option("--out", required=True, type=_FILE, help="Where to write the draft.")
@_change_options
@click.option(
    "--fingerprint-checked",
    is_flag=True,
    help="Do not ask: all fingerprints have been compared with the sites already.",
)
@click.pass_context
def propose(context: click.Context, /, out: Path, fingerprint_checked: bool, **options: Any) -> None:
    """Collect changes of the registry in a draft for the root keys to sign. Nothing comes into force.

    Several changes make one version. Where the registry or the chain of a site in the draft moves before `commit`, the
    draft is void and is proposed anew.
    """
    from aggregator.home import today_day
    from aggregator.registry.draft_file import refuse_overwriting, start_draft, write_draft
    from aggregator.registry.proposals import compose

    refuse_overwriting(out)
    home = open_home(context)
    with home.database.reading() as connection:
        changes = _read_changes(connection, home, options, fingerprint_checked)
        days = options["valid_days"] or home.settings.registry_days
        proposal = compose(connection, changes, expires_day=today_day() + days)
    draft = start_draft(proposal)
    if len(draft.explain()) == 1 and not options["renew"]:
        raise click.UsageError("Nothing would change. Name a change, or --renew to move the expiry.")
    _show_changes(draft)
    write_draft(out, draft)
    click.echo(f"Wrote {out}. It needs: {'; '.join(draft.missing())}.")
    click.echo("Each root signs it with `registry sign DRAFT --key FILE`; then `registry commit DRAFT`.")


@registry.command()
@click.argument("draft", type=_EXISTING)
@format_option
def show(draft: Path, form: str) -> None:
    """Show the changes in a draft, and the signatures that it lacks. Needs no aggregator's directory."""
    from aggregator.registry.draft_file import read_draft

    opened = read_draft(draft)
    lines = opened.explain()
    if form == "json":
        signed = [signature.keyid for signature in opened.signatures]
        version = opened.after.version
        say(form, "", {"version": version, "changes": lines, "signed_by": signed, "missing": opened.missing()})
        return
    _show_changes(opened)
    click.echo(f"It still needs: {'; '.join(opened.missing())}." if opened.missing() else "It has enough signatures.")


@registry.command()
@click.argument("draft", type=_EXISTING)
@click.option("--key", required=True, type=_EXISTING, help="Private key file of a root.")
@click.option("--yes", is_flag=True, help="Do not ask: the changes have been read already.")
def sign(draft: Path, key: Path, yes: bool) -> None:
    """Read the changes in a draft and add a root key's signature to it. Needs no aggregator's directory."""
    from aggregator.key_files import load_key
    from aggregator.registry.draft_file import read_draft, remember_base, remembered_base, sign_draft, write_draft

    opened = read_draft(draft)
    signer = load_key(key.absolute())
    opened.check_root(signer.public.keyid)
    remembered = remembered_base(key)
    if remembered is not None:
        opened.check_remembered(remembered)
    _show_changes(opened)
    if remembered is None:
        click.echo("This key signs here for the first time. Compare with the other roots, by telephone:")
        click.echo("\n".join(opened.describe_base()))
    if not yes and not click.confirm("Sign these changes?", default=False):
        click.echo("Not signed.")
        return
    signed = sign_draft(opened, signer)
    write_draft(draft, signed)
    remember_base(key, opened)
    click.echo(f"Signed. It still needs: {'; '.join(signed.missing())}." if signed.missing() else "Signed by enough.")


@registry.command()
@click.argument("drafts", nargs=-1, required=True, metavar="DRAFT...", type=_EXISTING)
@click.pass_context
def commit(context: click.Context, drafts: Sequence[Path]) -> None:
    """Put a signed draft in force: its requests enter the log, the new version follows, in one transaction.

    Several files are copies of one draft that different roots have signed.
    """
    from aggregator.home import today_day
    from aggregator.registry import proposals
    from aggregator.registry.draft_file import merge_signatures, read_draft
    from aggregator.registry.versions import newest_envelope, write_copies

    draft = read_draft(drafts[0])
    for path in drafts[1:]:
        draft = merge_signatures(draft, read_draft(path))
    envelope = draft.envelope()
    home = open_home(context)
    with home.database.reading() as connection:
        is_done = newest_envelope(connection) == envelope
    if not is_done:
        with home.database.writing() as connection:
            proposals.commit(connection, home, draft.proposal, envelope, today_day=today_day())
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
    click.echo(f"Registry version {draft.after.version} is in force.")


def _show_changes(draft: "Draft") -> None:
    click.echo(f"Registry of {draft.after.deployment}, version {draft.after.version}:")
    for line in draft.explain():
        click.echo(f"- {printable(line)}")


def _private_pem(key: Any) -> bytes:
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

    pem: bytes = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    return pem


def _read_changes(
    connection: "Connection", home: "Home", options: dict[str, Any], fingerprint_checked: bool
) -> "Changes":
    from aggregator.key_files import load_public_key
    from aggregator.registry.changes import Additions, read_models, read_scorecard
    from aggregator.registry.policies import read_policy
    from aggregator.registry.proposals import Changes
    from aggregator.registry.versions import newest_registry

    before = newest_registry(connection)
    site_keys = [entry.key.keyid for site in before.sites.values() for entry in site.keys]
    root_keys = [key.keyid for key in before.roots]
    revoked = {}
    for text in options["revoked"]:
        key, separator, index = text.rpartition("@")
        if not separator or not index.isascii() or not index.isdigit():
            raise click.UsageError(f"--revoke {text}: expected KEY@INDEX, for example 1a2b3c4d5e6f7081@120.")
        revoked[_find_key(key, site_keys)] = int(index)
    publications = dict(_pair(text, "--publication") for text in options["publications"])
    if set(publications.values()) - {"named", "pooled"}:
        raise click.UsageError("--publication: expected SITE=named or SITE=pooled.")
    return Changes(
        enrolments=_approved_enrolments(connection, options, fingerprint_checked),
        rekeyings=_approved_rekeyings(connection, options, fingerprint_checked),
        additions=Additions(
            models=read_models(options["models"]) if options["models"] else (),
            scorecards=[read_scorecard(path) for path in options["scorecards"]],
            retired=options["retired"],
            agents=options["agents"],
            policies=[read_policy(path) for path in options["policies"]],
        ),
        revoked=revoked,
        ended=[_find_key(key, site_keys) for key in options["ended"]],
        publications=publications,  # type: ignore[arg-type]  # checked above
        names=dict(_pair(text, "--rename") for text in options["names"]),
        leaving=options["leaving"],
        new_roots=[load_public_key(path) for path in options["new_roots"]],
        removed_roots=[_find_key(key, root_keys) for key in options["removed_roots"]],
        threshold=options["threshold"],
        auditors=_group_change(options["auditors"], options["gone_auditors"], options["auditor_threshold"]),
        witnesses=_group_change(options["witnesses"], options["gone_witnesses"], options["witness_threshold"]),
        log_key=_make_key(home, "log") if options["rotate_log_key"] else None,
        log_key_from=options["log_key_from"],
        receipt_key=_make_key(home, "receipt") if options["rotate_receipt_key"] else None,
    )


def _make_key(home: "Home", kind: str) -> "PublicKey":
    """Make a new key of the aggregator in its folder; it signs nothing before the registry names it."""
    from aggregator.key_files import draw_key, keep_key
    from protocol.keys import Ed25519Signer

    key = draw_key()
    public = Ed25519Signer(key).public
    keep_key(home.keys / f"{kind}-{public.keyid[:8]}.key", key)
    return public


def _find_key(text: str, keyids: Sequence[str]) -> str:
    """Return the key id that starts with `text`, in which spaces do not count."""
    start = text.replace(" ", "").lower()
    matching = [keyid for keyid in keyids if keyid.startswith(start)]
    if len(start) < 16 or len(matching) != 1:
        raise click.UsageError(f"{text!r} names no key, or not one alone; give its first 16 digits (`list keys`).")
    return matching[0]


def _pair(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name or not value:
        raise click.UsageError(f"{option} {text}: expected two parts with = between them.")
    return name, value


def _group_change(added: Sequence[str], removed: Sequence[str], threshold: int | None) -> "GroupChange":
    from aggregator.key_files import load_public_key
    from aggregator.registry.proposals import GroupChange
    from protocol.registry import NamedKey

    keys = []
    for text in added:
        name, path = _pair(text, "--add-auditor or --add-witness")
        keys.append(NamedKey(name, load_public_key(Path(path))))
    return GroupChange(keys, removed, threshold)


def _approved_enrolments(
    connection: "Connection", options: dict[str, Any], fingerprint_checked: bool
) -> "list[PendingRequest]":
    from aggregator.errors import EnrolmentError
    from aggregator.home import today_day
    from aggregator.registry import invites
    from aggregator.registry_commands import confirm_enrolment
    from aggregator.small_file import read_small
    from protocol.errors import ProtocolError

    today = today_day()
    try:
        waiting = [
            invites.open_request(connection, read_small(path), today_day=today) for path in options["enrolments"]
        ]
        if options["enroll_pending"]:
            waiting += invites.pending_requests(connection, today_day=today)
    except ProtocolError as error:
        raise EnrolmentError(f"the request is refused: {error.detail} ({error.code})") from None
    return [asked for asked in waiting if confirm_enrolment(asked, fingerprint_checked)]


def _approved_rekeyings(
    connection: "Connection", options: dict[str, Any], fingerprint_checked: bool
) -> "list[PendingRekeying]":
    from aggregator.registry.rekeyings import pending_rekeyings
    from aggregator.request_commands import confirm_rekeying, read_request

    waiting = [asked for path in options["rekeyings"] for asked in read_request(connection, path)]
    if options["rekey_pending"]:
        waiting += pending_rekeyings(connection)[0]
    approved: dict[str, PendingRekeying] = {}
    for asked in waiting:
        if asked.site_id not in approved and confirm_rekeying(connection, asked, fingerprint_checked):
            approved[asked.site_id] = asked
    return list(approved.values())
