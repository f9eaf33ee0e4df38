"""The `registry` commands, for changes that several root keys sign on different machines.

`propose` writes a draft on the aggregator's host, `sign` adds a signature on each root's machine,
and `commit` puts the version in force on the host. `sign` and `show` need only the draft.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from aggregator.command import format_option, open_home, printable, say

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from sqlalchemy import Connection

    from aggregator.registry.draft_file import Draft
    from aggregator.registry.invites import PendingRequest
    from aggregator.registry.proposals import Changes
    from aggregator.registry.rekeyings import PendingRekeying
    from protocol.registry import NamedKey, Publication

_Command = TypeVar("_Command", bound=Callable[..., Any])
_FILE = click.Path(path_type=Path, dir_okay=False)
_EXISTING = click.Path(path_type=Path, dir_okay=False, exists=True)

_KEY_HELP = "key id or its first 16 digits or more"
_NAME_HELP = "the name consists of a-z, 0-9 and .:/-, such as audit.example"

_OPTIONS = (
    click.option(
        "--enroll-pending", is_flag=True, help="Enrol every site whose request is waiting."
    ),
    click.option(
        "--enroll",
        "enrolments",
        multiple=True,
        type=_EXISTING,
        help="Enrolment request received as a file.",
    ),
    click.option(
        "--rekey-pending", is_flag=True, help="Grant every reset and rotation that is waiting."
    ),
    click.option(
        "--rekey",
        "rekeyings",
        multiple=True,
        type=_EXISTING,
        help="Reset or rotation received as a file.",
    ),
    click.option(
        "--revoke",
        "revoked",
        multiple=True,
        metavar="KEY@INDEX",
        help=f"Revoke a site's key ({_KEY_HELP}) from this log entry on. Results that it signed since then no "
        "longer count.",
    ),
    click.option(
        "--end-key",
        "ended",
        multiple=True,
        metavar="KEY",
        help="End a site's key. The results that it signed stay.",
    ),
    click.option(
        "--publication",
        "publications",
        multiple=True,
        metavar="SITE=named|pooled",
        help="Change how a site is published.",
    ),
    click.option(
        "--rename", "names", multiple=True, metavar="SITE=NAME", help="Change the name of a site."
    ),
    click.option(
        "--leave",
        "leaving",
        multiple=True,
        metavar="SITE",
        help="End all keys of a site, which can then submit nothing more. The site's results stay.",
    ),
    click.option("--models", type=_FILE, help="YAML list of models."),
    click.option(
        "--scorecard",
        "scorecards",
        multiple=True,
        type=_FILE,
        help="JSON file, or the name of a built-in scorecard.",
    ),
    click.option(
        "--retire-scorecard",
        "retired",
        multiple=True,
        metavar="NAME[@VERSION]",
        help="Accept no more results for a scorecard.",
    ),
    click.option(
        "--agent-version", "agents", multiple=True, help="Agent version that sites may use."
    ),
    click.option(
        "--policy", "policies", multiple=True, type=_FILE, help="Disclosure policy (YAML)."
    ),
    click.option(
        "--add-root",
        "new_roots",
        multiple=True,
        type=_EXISTING,
        help="Public key file of a new root.",
    ),
    click.option(
        "--remove-root",
        "removed_roots",
        multiple=True,
        metavar="KEY",
        help=f"Remove a root ({_KEY_HELP}).",
    ),
    click.option(
        "--threshold",
        type=click.IntRange(1, 16),
        help="Number of roots that must sign from then on.",
    ),
    click.option(
        "--add-auditor",
        "auditors",
        multiple=True,
        metavar="NAME=FILE",
        help=f"Auditor and public key; {_NAME_HELP}.",
    ),
    click.option(
        "--remove-auditor",
        "gone_auditors",
        multiple=True,
        metavar="NAME",
        help="Remove an auditor.",
    ),
    click.option(
        "--auditor-threshold",
        type=click.IntRange(1, 16),
        help="Number of auditors that must sign a board.",
    ),
    click.option(
        "--add-witness",
        "witnesses",
        multiple=True,
        metavar="NAME=FILE",
        help=f"Witness and public key; {_NAME_HELP}.",
    ),
    click.option(
        "--remove-witness",
        "gone_witnesses",
        multiple=True,
        metavar="NAME",
        help="Remove a witness.",
    ),
    click.option(
        "--witness-threshold",
        type=click.IntRange(1, 16),
        help="Number of witnesses that must cosign.",
    ),
    click.option(
        "--rotate-log-key", is_flag=True, help="Create a new log key and hand the log over to it."
    ),
    click.option(
        "--log-key-from",
        type=click.IntRange(1),
        metavar="SIZE",
        help="With --rotate-log-key, if the old key was stolen: log size from which it is no longer valid.",
    ),
    click.option("--rotate-receipt-key", is_flag=True, help="Create a new receipt key."),
    click.option(
        "--valid-days",
        type=click.IntRange(1, 3650),
        help="Days until the version expires [default: from the settings].",
    ),
    click.option(
        "--renew",
        is_flag=True,
        help="Propose a version even if nothing changes, to extend its expiry.",
    ),
)


def _change_options(command: _Command) -> _Command:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.group()
def registry() -> None:
    """Change the registry with several root keys on different machines: propose, sign and commit."""


@registry.command("new-key")
@click.argument("path", type=_FILE)
def new_key(path: Path) -> None:
    """Create a key pair for a root, an auditor or a witness. PATH is private; PATH.pub goes to the aggregator.

    Run this on the machine where the key will stay; no aggregator's directory is needed. The folder
    of PATH must be accessible only to its owner (0700). If it is missing, it is created with that
    mode.
    """
    from aggregator.key_files import draw_key, keep_pair
    from protocol.keys import Ed25519Signer

    key = draw_key()
    keep_pair(path.absolute(), key)
    click.echo(
        f"Wrote {path}, which must never leave this machine, and {path.name}.pub. Fingerprint:\n"
        f"  {Ed25519Signer(key).public.fingerprint}"
    )


@registry.command()
@click.option("--out", required=True, type=_FILE, help="File to write the draft to.")
@_change_options
@click.option(
    "--fingerprint-checked",
    is_flag=True,
    help="Do not ask: all fingerprints have already been compared with the sites.",
)
@click.pass_context
def propose(
    context: click.Context, /, out: Path, fingerprint_checked: bool, **options: Any
) -> None:
    """Collect changes to the registry in a draft for the root keys to sign. Nothing comes into force yet.

    A draft can combine several changes in one version. If the registry, or the chain of a site in
    the draft, changes before `commit`, the draft becomes void and must be proposed again.
    """
    from aggregator.home import today_day
    from aggregator.key_files import draw_key, kept_keys
    from aggregator.registry.draft_file import refuse_overwriting, start_draft, write_draft
    from aggregator.registry.proposals import compose

    if options["log_key_from"] is not None and not options["rotate_log_key"]:
        raise click.UsageError("--log-key-from requires --rotate-log-key.")
    refuse_overwriting(out)
    home = open_home(context)
    new_keys = {kind: draw_key() for kind in ("log", "receipt") if options[f"rotate_{kind}_key"]}
    with home.database.reading() as connection:
        changes = _read_changes(connection, options, new_keys, fingerprint_checked)
        days = options["valid_days"] or home.settings.registry_days
        proposal = compose(connection, changes, expires_day=today_day() + days)
    draft = start_draft(proposal)
    if not draft.explain_changes() and not options["renew"]:
        raise click.UsageError(
            "Nothing would change. Specify a change, or --renew to extend the expiry."
        )
    _show_changes(draft)
    # New keys cannot sign until the registry names them. They are stored now for use after `commit`.
    with kept_keys(home.keys, new_keys) as key_files:
        write_draft(out, draft)
    for path in key_files:
        click.echo(
            f"Wrote {path}, which is not used before `commit`. Remove it if you discard the draft."
        )
    click.echo(f"Wrote {out}. {draft.describe_signatures()}")
    click.echo(
        "Each root must sign it with `registry sign DRAFT --key FILE`. Then run `registry commit DRAFT`."
    )


@registry.command()
@click.argument("draft", type=_EXISTING)
@format_option
def show(draft: Path, form: str) -> None:
    """Show the changes in a draft and its missing signatures. No aggregator's directory is needed."""
    from aggregator.registry.draft_file import read_draft

    opened = read_draft(draft)
    lines = opened.explain()
    if form == "json":
        signed = [signature.keyid for signature in opened.signatures]
        version = opened.after.version
        say(
            form,
            "",
            {
                "version": version,
                "changes": lines,
                "signed_by": signed,
                "missing": opened.missing(),
            },
        )
        return
    _show_changes(opened)
    click.echo(opened.describe_signatures())
    click.echo("\n".join(opened.describe_roots()))


@registry.command()
@click.argument("draft", type=_EXISTING)
@click.option("--key", required=True, type=_EXISTING, help="Private key file of a root.")
@click.option("--yes", is_flag=True, help="Do not ask: the changes have already been read.")
def sign(draft: Path, key: Path, yes: bool) -> None:
    """Show the changes in a draft and add a root key's signature. No aggregator's directory is needed."""
    from aggregator.home import today_day
    from aggregator.key_files import load_key
    from aggregator.registry.draft_file import (
        read_draft,
        remember_base,
        remembered_base,
        sign_draft,
        write_draft,
    )
    from aggregator.registry.explanations import check_expiry

    opened = read_draft(draft)
    signer = load_key(key.absolute())
    opened.check_root(signer.public.keyid)
    check_expiry(opened.after, today_day=today_day())
    remembered = remembered_base(key)
    if remembered is not None:
        opened.check_remembered(remembered)
    _show_changes(opened)
    if sign_draft(opened, signer) is opened:
        click.echo(f"This key has already signed. {opened.describe_signatures()}")
        return
    if remembered is None:
        click.echo(
            "This key signs on this machine for the first time. Compare with the other root key holders by telephone:"
        )
        click.echo("\n".join(opened.describe_base()))
    if not yes and not click.confirm("Sign these changes?", default=False):
        click.echo("Not signed.")
        return
    signed = sign_draft(opened, signer)
    write_draft(draft, signed)
    remember_base(key, opened)
    click.echo(f"Signed. {signed.describe_signatures()}")


@registry.command()
@click.argument("drafts", nargs=-1, required=True, metavar="DRAFT...", type=_EXISTING)
@click.pass_context
def commit(context: click.Context, drafts: Sequence[Path]) -> None:
    """Put a signed draft in force. Its requests and the new version are recorded in one transaction.

    If different roots have signed copies of one draft, name all copies.
    """
    from aggregator.home import today_day
    from aggregator.registry import proposals
    from aggregator.registry.draft_file import merge_signatures, read_draft
    from aggregator.registry.versions import newest_envelope, write_copies

    draft = read_draft(drafts[0])
    for path in drafts[1:]:
        draft = merge_signatures(draft, read_draft(path))
    home = open_home(context)
    with home.database.reading() as connection:
        is_done = draft.is_content_of(newest_envelope(connection))
        if not is_done:
            # Report an outdated draft before missing signatures, because further signatures would not make it valid.
            proposals.refuse_outdated(connection, draft.proposal)
    if not is_done:
        envelope = draft.envelope()
        with home.database.writing() as connection:
            proposals.commit(connection, home, draft.proposal, envelope, today_day=today_day())
    with home.database.reading() as connection:
        write_copies(connection, home.registry_copies)
    click.echo(f"Registry version {draft.after.version} is in force.")


def _show_changes(draft: "Draft") -> None:
    click.echo(f"Registry of {draft.after.deployment}, version {draft.after.version}:")
    for line in draft.explain():
        click.echo(f"- {printable(line)}")


def _read_revocations(texts: Sequence[str], site_keys: Sequence[str]) -> dict[str, int]:
    """Return the log index from which each revoked key is no longer valid, by key id."""
    revoked: dict[str, int] = {}
    for text in texts:
        key, separator, index = text.rpartition("@")
        if not separator or not index.isascii() or not index.isdigit():
            raise click.UsageError(
                f"--revoke {text}: expected KEY@INDEX, for example 1a2b3c4d5e6f7081@120."
            )
        keyid = _find_key(key, site_keys)
        if keyid in revoked:
            raise click.UsageError(f"--revoke {text}: this key is specified twice.")
        revoked[keyid] = int(index)
    return revoked


def _read_publications(texts: Sequence[str]) -> "dict[str, Publication]":
    """Return the publication setting of each site, by site."""
    publications = _pairs(texts, "--publication")
    if set(publications.values()) - {"named", "pooled"}:
        raise click.UsageError("--publication: expected SITE=named or SITE=pooled.")
    return publications  # type: ignore[return-value]  # checked above


def _read_changes(
    connection: "Connection",
    options: dict[str, Any],
    new_keys: "Mapping[str, Ed25519PrivateKey]",
    fingerprint_checked: bool,
) -> "Changes":
    from aggregator.key_files import load_public_key
    from aggregator.registry.changes import Additions, read_models, read_scorecard
    from aggregator.registry.policies import read_policy
    from aggregator.registry.proposals import Changes, GroupChange
    from aggregator.registry.versions import newest_registry
    from protocol.keys import Ed25519Signer

    before = newest_registry(connection)
    public_keys = {kind: Ed25519Signer(key).public for kind, key in new_keys.items()}
    site_keys = [entry.key.keyid for site in before.sites.values() for entry in site.keys]
    root_keys = [key.keyid for key in before.roots]
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
        revoked=_read_revocations(options["revoked"], site_keys),
        ended=[_find_key(key, site_keys) for key in options["ended"]],
        publications=_read_publications(options["publications"]),
        names=_pairs(options["names"], "--rename"),
        leaving=options["leaving"],
        new_roots=[load_public_key(path) for path in options["new_roots"]],
        removed_roots=[_find_key(key, root_keys) for key in options["removed_roots"]],
        threshold=options["threshold"],
        auditors=GroupChange(
            _named_keys(options["auditors"], "--add-auditor"),
            options["gone_auditors"],
            options["auditor_threshold"],
        ),
        witnesses=GroupChange(
            _named_keys(options["witnesses"], "--add-witness"),
            options["gone_witnesses"],
            options["witness_threshold"],
        ),
        log_key=public_keys.get("log"),
        log_key_from=options["log_key_from"],
        receipt_key=public_keys.get("receipt"),
    )


def _find_key(text: str, keyids: Sequence[str]) -> str:
    """Return the only key id that starts with `text`, ignoring spaces."""
    start = text.replace(" ", "").lower()
    matching = [keyid for keyid in keyids if keyid.startswith(start)]
    if len(start) < 16 or len(matching) != 1:
        raise click.UsageError(
            f"{text!r} does not identify exactly one key. Use its first 16 digits (see `list keys`)."
        )
    return matching[0]


def _pair(text: str, option: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name or not value:
        raise click.UsageError(
            f"{option} {text}: expected two parts separated by =, as shown in `--help`."
        )
    return name, value


def _pairs(texts: Sequence[str], option: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, value = _pair(text, option)
        if name in pairs:
            raise click.UsageError(f"{option} {text}: {name} is specified twice.")
        pairs[name] = value
    return pairs


def _named_keys(texts: Sequence[str], option: str) -> "list[NamedKey]":
    from aggregator.key_files import load_public_key
    from protocol import schema
    from protocol.errors import ProtocolError
    from protocol.registry import NamedKey

    keys = []
    for name, path in _pairs(texts, option).items():
        try:
            schema.text(name, "the name", schema.ORIGIN)
        except ProtocolError as error:
            raise click.UsageError(f"{option} {name}={path}: {error.detail}.") from None
        keys.append(NamedKey(name, load_public_key(Path(path))))
    return keys


def _approved_enrolments(
    connection: "Connection", options: dict[str, Any], fingerprint_checked: bool
) -> "list[PendingRequest]":
    from aggregator.home import today_day
    from aggregator.registry.invites import pending_requests
    from aggregator.registry_commands import confirm_enrolment, read_enrolment

    waiting = [read_enrolment(connection, path) for path in options["enrolments"]]
    if options["enroll_pending"]:
        waiting += pending_requests(connection, today_day=today_day())
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
        if asked.site_id not in approved and confirm_rekeying(
            connection, asked, fingerprint_checked
        ):
            approved[asked.site_id] = asked
    return list(approved.values())
