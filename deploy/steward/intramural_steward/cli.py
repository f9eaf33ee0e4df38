"""The steward's command line: `intramural-steward`.

Exit codes: 0 success, 1 answered "no" or unexpected error, 2 usage or an unusable file, 3 the
site's request is not valid, 4 key or password, 5 the list of approvals, 6 the site's history
contradicts the list, 130 interrupted.
"""

import json
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import click

from intramural_steward.approval_list import (
    NO_REGISTRY,
    REJECTED,
    ApprovalList,
    Entry,
    RegistryMark,
    make_entry,
    open_list,
)
from intramural_steward.errors import KeyFileError, RequestError, StewardError, UsageError
from intramural_steward.files import check_new, read_file, read_secret_file, write_new
from intramural_steward.html_page import render_html
from intramural_steward.key_files import (
    MIN_PASSWORD_LENGTH,
    create_key_file,
    is_encrypted,
    open_key,
    read_key_file,
)
from intramural_steward.pages import Page, make_key_page, make_pages, name_entry
from intramural_steward.requests import (
    KeyRequest,
    SiteRequest,
    is_single_statement,
    open_key_request,
    open_request,
    read_deployment,
)
from intramural_steward.signing import (
    check_key_for_request,
    check_pages,
    check_steward_key,
    sign_pages,
)
from intramural_steward.smart_cards import open_card
from intramural_steward.text_page import render_text
from protocol.approval_files import (
    MAX_FILE_BYTES,
    REJECTION_REASONS,
    Rejection,
    SignedDrafts,
    write_rejection,
    write_signed_drafts,
)
from protocol.description import format_day
from protocol.keys import Signer
from protocol.statements import kind_name

_FILE: Final = click.Path(dir_okay=False, path_type=Path)
_MIN_DIGEST_LENGTH: Final = 8  # enough characters to distinguish drafts
_Command = TypeVar("_Command", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class _KeyOptions:
    """The options for the steward's key, in a file or on a token."""

    path: Path | None
    password_file: Path | None
    module: Path | None
    token: str | None
    label: str | None


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="intramural-steward")
def cli() -> None:
    """Review, sign or reject what a hospital asks to publish, from the exact bytes, and keep a list
    of your decisions.
    """


def _list_option(command: _Command) -> _Command:
    return click.option(
        "--list",
        "list_path",
        type=_FILE,
        envvar="INTRAMURAL_STEWARD_LIST",
        default=Path("~/.intramural-steward/list.jsonl"),
        show_default=True,
        help="Your list of decisions.",
    )(command)


def _root_option(command: _Command) -> _Command:
    return click.option(
        "--root",
        "roots",
        multiple=True,
        metavar="KEYID",
        help="Fingerprint of a root key that must have signed the registry, with or without spaces; kept in the list.",
    )(command)


def _key_options(command: _Command) -> _Command:
    for option in (
        click.option("--key-label", "label", help="Label of the key on the token."),
        click.option("--token", help="Label of the token."),
        click.option(
            "--pkcs11-module",
            "module",
            type=_FILE,
            help="PKCS #11 library of the token with the key.",
        ),
        click.option(
            "--password-file", type=_FILE, help="File with the password or PIN [default: ask]."
        ),
        click.option("--key", "path", type=_FILE, help="Your key file."),
    ):
        command = option(command)
    return command


@cli.command()
@click.argument("file", type=_FILE)
@click.option(
    "--html",
    "html_path",
    type=_FILE,
    help="Write the pages to this file as HTML, for a browser or printer.",
)
@_root_option
@_list_option
def show(file: Path, html_path: Path | None, roots: tuple[str, ...], list_path: Path) -> None:
    """Show what FILE asks you to sign, and compare it with your list. Nothing is signed."""
    with open_list(list_path.expanduser()) as known:
        pages, _ = _read_pages(file, roots, known)
    if html_path is not None:
        write_new(html_path, render_html(pages))
        click.echo(f"{_count(len(pages), 'page')} written to {html_path.name}")
    else:
        for page in pages:
            click.echo(render_text(page))
    check_pages(pages)


@cli.command()
@click.argument("file", type=_FILE)
@_key_options
@click.option(
    "--out", type=_FILE, required=True, help="File to write the signed drafts to, for the site."
)
@click.option("--digest", help="Select one draft by at least the first 8 characters of its digest.")
@click.option(
    "--yes",
    is_flag=True,
    help="Do not ask. Requires --digest of the page that you have read, and known root keys.",
)
@_root_option
@_list_option
def approve(
    file: Path,
    path: Path | None,
    password_file: Path | None,
    module: Path | None,
    token: str | None,
    label: str | None,
    out: Path,
    digest: str | None,
    yes: bool,
    roots: tuple[str, ...],
    list_path: Path,
) -> None:
    """Show each draft in FILE and sign it after you have agreed. Approving again gives the same bytes."""
    key = _check_key_options(_KeyOptions(path, password_file, module, token, label))
    if yes and digest is None:
        raise UsageError(
            "--yes requires --digest: at least the first 8 characters of the digest on the page you read"
        )
    with open_list(list_path.expanduser()) as known:
        pages, request = _read_pages(file, roots, known)
        if not isinstance(request, SiteRequest):
            raise UsageError(
                "this is a request about keys", "Sign it with `intramural-steward sign-request`."
            )
        if yes and not (roots or _remembered_roots(known, request.registry.deployment)):
            raise UsageError("--yes requires --root until your list contains the root keys")
        chosen = _choose(pages, digest)
        _check_order(pages, chosen)
        check_pages(chosen)
        if any(page.continuity.approved_before is None for page in chosen):
            check_new(out)
        _agree(chosen, "Let these bytes leave the site", yes=yes)
        with _open_signer(key) as signer:
            check_steward_key(signer.public, request)
            envelopes = sign_pages(chosen, signer, known)
    write_new(out, write_signed_drafts(SignedDrafts(tuple(envelopes))))
    click.echo(
        f"{_count(len(envelopes), 'draft')} signed to {out.name}. Return it to the site: by the page of the outbox, or"
    )
    click.echo(f"  intramural submission approve --signed {out.name}")


@cli.command("sign-request")
@click.argument("file", type=_FILE)
@_key_options
@click.option(
    "--out", type=_FILE, required=True, help="File to write the signed request to, for the site."
)
@click.option("--yes", is_flag=True, help="Do not ask.")
@_list_option
def sign_request(
    file: Path,
    path: Path | None,
    password_file: Path | None,
    module: Path | None,
    token: str | None,
    label: str | None,
    out: Path,
    yes: bool,
    list_path: Path,
) -> None:
    """Sign a request about keys: enrolment, reset or rotation.

    To rotate your own key, sign twice: first the request with the old key, then the result with the
    new key.
    """
    key = _check_key_options(_KeyOptions(path, password_file, module, token, label))
    with open_list(list_path.expanduser()) as known:
        pages, request = _read_pages(file, (), known)
        if not isinstance(request, KeyRequest):
            raise UsageError(
                "this is a request for approval", "Sign it with `intramural-steward approve`."
            )
        check_pages(pages)
        _agree(pages, "Sign this request", yes=yes)
        with _open_signer(key) as signer:
            check_key_for_request(signer.public, request)
            (envelope,) = sign_pages(pages, signer, known)
    write_new(out, envelope)
    click.echo(
        f"Signed to {out.name}. Return it to the site, and read the fingerprints out to the central team."
    )


@cli.command()
@click.argument("file", type=_FILE)
@click.option(
    "--reason",
    type=click.Choice(REJECTION_REASONS),
    required=True,
    help="Reason, the only information returned to the site.",
)
@click.option("--out", type=_FILE, required=True, help="File to write the reply to, for the site.")
@click.option("--digest", help="Select one draft by at least the first 8 characters of its digest.")
@_root_option
@_list_option
def reject(
    file: Path, reason: str, out: Path, digest: str | None, roots: tuple[str, ...], list_path: Path
) -> None:
    """Reject the drafts in FILE, or one of them, and record the rejection on your list."""
    check_new(out)
    with open_list(list_path.expanduser()) as known:
        pages, _ = _read_pages(file, roots, known)
        chosen = _choose(pages, digest)
        for page in chosen:
            if page.continuity.approved_before is not None:
                raise UsageError(
                    f"draft {page.description.digest[:12]} was approved before, which cannot be undone",
                    "If the draft has not left the site yet, ask the site not to send it.",
                )
        entries = []
        for page in chosen:
            asked = page.asked
            entries.append(
                make_entry(
                    asked.envelope,
                    decision=REJECTED,
                    reason=reason,
                    day=asked.day,
                    registry=asked.registry if page.is_from_site else NO_REGISTRY,
                    audit=asked.audit,
                )
            )
        known.append(entries)
    digests = tuple(page.description.digest for page in chosen)
    write_new(out, write_rejection(Rejection(digests, reason)))
    click.echo(f"{_count(len(digests), 'draft')} rejected; return {out.name} to the site.")


@cli.command("list")
@click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True
)
@_list_option
def list_command(form: str, list_path: Path) -> None:
    """Show your decisions, oldest first, after checking the integrity of the list."""
    with open_list(list_path.expanduser()) as known:
        entries, head = known.entries, known.head
    if form == "json":
        click.echo(
            json.dumps(
                {"head": head, "entries": [_entry_row(entry) for entry in entries]}, indent=2
            )
        )
        return
    for entry in entries:
        reason = f" ({entry.reason})" if entry.reason else ""
        click.echo(
            f"{entry.number:>5}  {format_day(entry.day)}  {entry.decision}{reason}  {entry.digest[:12]}  "
            f"{entry.header.site}  {name_entry(entry)}"
        )
    click.echo(f"{_count(len(entries), 'decision')}; head {head}")
    click.echo(
        "Keep a copy of the list, and note the head: otherwise removal of lines at the end cannot be detected."
    )


@cli.group()
def key() -> None:
    """Create your key."""


@key.command()
@click.option(
    "--out",
    type=_FILE,
    required=True,
    help="File to write the key to. The public key is written to FILE.pub.",
)
@click.option("--password-file", type=_FILE, help="File with the password [default: ask twice].")
def new(out: Path, password_file: Path | None) -> None:
    """Create an Ed25519 key, encrypted with a password. Keep the file private, and not on the site's machine."""
    check_new(out)
    check_new(out.with_name(out.name + ".pub"))
    if password_file is not None:
        password = _read_password(password_file)
    else:
        question = f"Password for the new key, at least {MIN_PASSWORD_LENGTH} characters"
        password = click.prompt(question, hide_input=True, confirmation_prompt=True, err=True)
    public = create_key_file(out, password.encode())
    click.echo(f"key         {out.name} (keep it private, with a copy in a safe place)")
    click.echo(f"public key  {out.name}.pub (for the site's enrolment)")
    click.echo(f"fingerprint {public.fingerprint}")


def _read_pages(
    file: Path, roots: tuple[str, ...], known: ApprovalList
) -> tuple[list[Page], SiteRequest | KeyRequest]:
    """Return a page for each statement in a file, and the verified file."""
    data, today = read_file(file, MAX_FILE_BYTES), _today_day()
    if is_single_statement(data):
        key_request = open_key_request(data)
        return [make_key_page(key_request, known, today)], key_request
    named = {"".join(root.split()).lower() for root in roots}
    threshold = len(named)
    if not named:
        mark = _remembered_roots(known, read_deployment(data))
        if mark is not None:
            named, threshold = set(mark.roots), mark.threshold
    request = open_request(data, named, threshold, today)
    return make_pages(request, known, today, roots_are_known=bool(named)), request


def _remembered_roots(known: ApprovalList, deployment: str) -> RegistryMark | None:
    """Return the newest registry used for an approval for an aggregator; None if there is none."""
    for entry in reversed(known.entries):
        if (
            entry.header.deployment == deployment
            and entry.registry.version
            and entry.decision != REJECTED
        ):
            return entry.registry
    return None


def _choose(pages: list[Page], digest: str | None) -> list[Page]:
    if digest is None:
        return pages
    chosen = [page for page in pages if page.description.digest.startswith(digest)]
    if len(digest) < _MIN_DIGEST_LENGTH or len(chosen) != 1:
        raise RequestError(
            "the file has no draft with this digest",
            f"Specify at least its first {_MIN_DIGEST_LENGTH} characters.",
        )
    return chosen


def _check_order(pages: list[Page], chosen: list[Page]) -> None:
    """Check that all drafts before the first chosen one are already approved, since each draft
    names its predecessor.
    """
    for page in pages:
        if page is chosen[0]:
            return
        if page.continuity.approved_before is None:
            raise UsageError(
                f"draft {page.description.digest[:12]} comes before it in the site's chain",
                "Nothing was signed. Approve the drafts in order.",
            )


def _agree(pages: list[Page], question: str, *, yes: bool) -> None:
    for page in pages:
        click.echo(render_text(page))
        if not (yes or click.confirm(f"{question} ({page.description.digest[:8]})?", err=True)):
            click.echo("Nothing was signed.")
            if page is not pages[0]:
                click.echo("To sign only the drafts before this one, name each with --digest.")
            raise click.exceptions.Exit(1)


def _check_key_options(key: _KeyOptions) -> _KeyOptions:
    on_token = (key.module, key.token, key.label)
    if key.path is not None and not any(on_token):
        return key
    if key.path is None and all(on_token):
        return key
    raise UsageError(
        "specify your key with --key FILE, or with --pkcs11-module, --token and --key-label"
    )


@contextmanager
def _open_signer(key: _KeyOptions) -> Iterator[Signer]:
    if key.path is None:
        if key.module is None or key.token is None or key.label is None:
            raise UsageError("--pkcs11-module, --token and --key-label must be used together")
        pin = _ask_password(key.password_file, "PIN of the token")
        with open_card(key.module, key.token, key.label, pin) as signer:
            yield signer
        return
    pem = read_key_file(key.path)
    if is_encrypted(pem):
        yield open_key(pem, _ask_password(key.password_file, "Password of your key").encode())
        return
    click.echo(
        "warning: your key file has no password; create an encrypted key with `intramural-steward key new`",
        err=True,
    )
    yield open_key(pem, None)


def _ask_password(password_file: Path | None, question: str) -> str:
    if password_file is not None:
        return _read_password(password_file)
    return str(click.prompt(question, hide_input=True, err=True))


def _read_password(path: Path) -> str:
    """Return the first line of a password file."""
    content = read_secret_file(path, "the password file")
    try:
        return content.decode().splitlines()[0]
    except (UnicodeDecodeError, IndexError):
        raise KeyFileError("the password file does not begin with a line of text") from None


def _entry_row(entry: Entry) -> dict[str, object]:
    header = entry.header
    return {
        "number": entry.number,
        "day": format_day(entry.day),
        "decision": entry.decision,
        "reason": entry.reason,
        "digest": entry.digest,
        "deployment": header.deployment,
        "site": header.site,
        "kind": kind_name(entry.statement),
        "epoch": header.epoch,
        "seq": header.seq,
        "ledger": {"length": header.ledger.length, "head": header.ledger.head},
        "audit": {"number": entry.audit.number, "link": entry.audit.link},
        "key": entry.key,
    }


def _today_day() -> int:
    """Return the days since 1970-01-01 UTC."""
    return (datetime.now(UTC).date() - date(1970, 1, 1)).days


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def main() -> None:
    """Run the command line. Every error is reported as a readable message with its exit code."""
    try:
        # In non-standalone mode, click returns the exit code that a command has set.
        sys.exit(cli.main(standalone_mode=False, prog_name="intramural-steward") or 0)
    except StewardError as error:
        click.secho(f"error: {error}", fg="red", err=True)
        click.echo(f"  {error.advice}", err=True)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; every signature that was released is on your list", err=True)
        sys.exit(130)
    except Exception as error:  # noqa: BLE001 (last resort: the message may quote a file)
        click.secho(
            f"unexpected error: {type(error).__name__} (its message is withheld because it may quote a file)",
            err=True,
        )
        for frame in traceback.extract_tb(error.__traceback__):
            click.echo(f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}", err=True)
        click.echo("This is a bug in intramural-steward. Please report the lines above.", err=True)
        sys.exit(1)
