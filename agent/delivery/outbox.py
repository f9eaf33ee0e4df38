"""The folder `submissions/`, whose files record the state of every submission.

A submission is any link of the site's chain: a result, a dataset, a plan, or a statement that ends one of these.

                 prepare              approve              send, export           receipt verified
    (nothing) ----------> prepared ------------> approved ------------> sent -----------------------> receipted
                  |  ^          |                    |                   |
                  +--+ prepare  +-> (nothing)        +------ refused <---+   the aggregator refused
                  again replaces    discard                     |            (send tries again)
                  drafts                                        |
                                                                +--> void    prepare replaces it, or restores it
                                                                             if the bytes would be the same

D is the submission's digest (SHA-256 of the PAE of its payload):

    D.draft.dsse.json   envelope, the agent's signature prepared; with D.verdicts.json (the rule for each figure)
    D.dsse.json         envelope, both signatures       approved, or one of the four states below
    D.sent              the day of sending              sent: from now on the bytes may have left the site
    D.refused           the signed refusal              refused
    D.receipt           the proof                       receipted
    D.carried           (empty)                         receipted: the proof came as a file, and no network command has
                                                        shown yet that its log is the aggregator's
    D.void.dsse.json    envelope, both signatures       void: not sent, unless it is prepared again

Files are written atomically. Every step can be repeated after a crash at any point and resumes from the files that
exist. A file whose content does not match the digest in its name is an error for every command.
"""

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from agent.errors import DisclosureError, StoreError
from agent.io.atomic_files import lock_folder, read_bounded, sync_directory, write_atomically
from protocol.envelope import MAX_BYTES, STATEMENT_TYPE, Envelope, decode
from protocol.errors import Code, ProtocolError
from protocol.predicates import (
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    Header,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.refusal import FIRST_LINE as REFUSAL_LINE
from protocol.statements import kind_name, parse_statement

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
# Minimum number of hexadecimal digits of a digest: two submissions of a site hardly ever share the first eight.
_MIN_PREFIX_LENGTH: Final = 8
_MAX_NOTE: Final = 4 * 1024 * 1024  # bytes; maximum size of a verdict file, receipt or refusal


class State(StrEnum):
    """The state of a submission."""

    PREPARED = "prepared"
    APPROVED = "approved"
    SENT = "sent"
    REFUSED = "refused"
    RECEIPTED = "receipted"
    VOID = "void"


LIVE: Final = frozenset({State.APPROVED, State.SENT, State.REFUSED, State.RECEIPTED})
"""States of the links that form the chain: approved and not replaced."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission, as read from its files.

    Attributes:
        digest: SHA-256 of the PAE of its payload, as 64 hex digits.
        state: its state.
        data: content of the envelope file.
        envelope: the decoded envelope.
        statement: the parsed statement.
        refusal: code of the refusal, if it was refused.
        receipt_is_carried: whether its receipt came as a file and its log has not been proven yet to be the
            aggregator's.
    """

    digest: str
    state: State
    data: bytes
    envelope: Envelope
    statement: Statement
    refusal: str | None = None
    receipt_is_carried: bool = False

    @property
    def header(self) -> Header:
        """The statement's header, with its position in the site's chain."""
        return self.statement.header

    @property
    def kind(self) -> str:
        """The kind of statement, for example `result`."""
        return kind_name(self.statement)

    @property
    def result(self) -> ResultPredicate:
        """The statement of a result; use it only if `is_result`."""
        assert isinstance(self.statement, ResultPredicate)
        return self.statement

    @property
    def is_result(self) -> bool:
        """Whether the statement is a result."""
        return isinstance(self.statement, ResultPredicate)

    @property
    def dataset(self) -> DatasetPredicate | None:
        """The statement if it registers a dataset, else None."""
        return self.statement if isinstance(self.statement, DatasetPredicate) else None

    @property
    def plan(self) -> PlanPredicate | None:
        """The statement if it is a plan, else None."""
        return self.statement if isinstance(self.statement, PlanPredicate) else None

    @property
    def about(self) -> str:
        """The digest of the model, definition or statement that this one is about, or the owner of the key it replaces.

        Empty for a new epoch, which is about the site as a whole.
        """
        match self.statement:
            case ResultPredicate(model=model) | PlanPredicate(model=model):
                return model
            case DatasetPredicate(definition=definition):
                return definition
            case WithdrawPredicate(result=result):
                return result
            case AbandonPredicate(plan=plan):
                return plan
            case RotatePredicate(role=role):
                return role
        return ""

    @property
    def payload(self) -> bytes:
        """The bytes that are signed."""
        return self.envelope.payload

    @property
    def place(self) -> tuple[int, int]:
        """The link's position in the site's chain: its epoch and sequence number."""
        return self.header.epoch, self.header.seq


class Outbox:
    """The files of all submissions. Hold the lock (`held`) to change them; reading does not need it."""

    def __init__(self, directory: Path) -> None:
        """Use the site's folder `submissions/`, which is created by the first write."""
        self.directory = directory

    @property
    def ledger(self) -> Path:
        """The folder of the ledger of releases."""
        return self.directory / "ledger"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the outbox against other commands during a `with` block. Raises StoreError."""
        with lock_folder(self.directory):
            yield

    def list_submissions(self) -> list[Submission]:
        """Return all submissions in the order of the chain, including drafts and void submissions.

        Raises:
            DisclosureError: a file was changed.
        """
        digests: set[str] = set()
        for path in self.directory.glob("*.dsse.json"):
            digest = path.name[:64]
            if _DIGEST.fullmatch(digest):
                digests.add(digest)
        submissions = [self.get(digest) for digest in digests]
        submissions.sort(key=_order_in_chain)
        return submissions

    def get(self, digest: str) -> Submission:
        """Return the submission with this (full) digest. Raises DisclosureError."""
        path, state = self._find_file(digest)
        data = read_bounded(path, MAX_BYTES[STATEMENT_TYPE], f"submission {digest[:12]}")
        refusal = None
        if state is State.REFUSED:
            refusal = _read_refusal_code(
                read_bounded(self._path(digest, "refused"), _MAX_NOTE, "a refusal")
            )
        try:
            submission = open_submission(data, state, refusal)
        except ProtocolError:
            raise _changed(digest) from None
        if submission.digest != digest:
            raise _changed(digest)
        is_carried = state is State.RECEIPTED and self._path(digest, "carried").exists()
        return replace(submission, receipt_is_carried=is_carried)

    def find(self, prefix: str) -> Submission:
        """Return the only submission whose digest begins with `prefix`, at least 8 hex digits.

        Raises:
            DisclosureError: no submission or several submissions match, or a file was changed.
        """
        if len(prefix) < _MIN_PREFIX_LENGTH:
            raise DisclosureError("give at least the first 8 characters of the digest")
        matches = [
            submission
            for submission in self.list_submissions()
            if submission.digest.startswith(prefix)
        ]
        if len(matches) == 1:
            return matches[0]
        reason = (
            "several submissions have digests that begin like this"
            if matches
            else "there is no submission with this digest"
        )
        raise DisclosureError(reason, "List them with `intramural submission status`.")

    def put_draft(self, digest: str, data: bytes, verdicts: Mapping[str, object]) -> None:
        """Store a draft. The envelope is written last, because it is the file that makes the draft exist."""
        write_atomically(self._path(digest, "verdicts.json"), _encode_json(verdicts))
        write_atomically(self._path(digest, "draft.dsse.json"), data)

    def drop_draft(self, digest: str) -> None:
        """Delete a draft, which has not left the site."""
        self._remove(digest, "draft.dsse.json", "verdicts.json")

    def read_verdicts(self, digest: str) -> dict[str, Any]:
        """Return the content of the verdict file. Raises StoreError if it is missing or damaged."""
        content = read_bounded(
            self._path(digest, "verdicts.json"), _MAX_NOTE, f"the verdicts of {digest[:12]}"
        )
        try:
            verdicts = json.loads(content)
        except ValueError:
            verdicts = None
        if not isinstance(verdicts, dict):
            raise StoreError(
                f"submissions/{digest}.verdicts.json is damaged",
                "Run `intramural submission prepare` again.",
            )
        return verdicts

    def put_approved(self, digest: str, data: bytes) -> None:
        """Replace the draft by the envelope with both signatures."""
        write_atomically(self._path(digest, "dsse.json"), data)
        self._remove(digest, "draft.dsse.json")

    def mark_sent(self, digest: str, day: int) -> None:
        """Record, before sending, that the bytes may have left the site on `day` (days since 1970-01-01) or later."""
        if not self._path(digest, "sent").exists():
            write_atomically(self._path(digest, "sent"), str(day).encode())

    def put_refusal(self, digest: str, note: str) -> None:
        """Store a verified refusal: a note signed by the aggregator's receipt key (`protocol.refusal`)."""
        write_atomically(self._path(digest, "refused"), note.encode())

    def put_receipt(self, digest: str, text: str) -> None:
        """Store a verified receipt whose log is proven to continue the one that this site has seen."""
        write_atomically(self._path(digest, "receipt"), text.encode())
        # A draft may remain if `put_approved` was interrupted.
        self._remove(digest, "refused", "draft.dsse.json")
        self.mark_proven(digest)

    def put_carried_receipt(self, digest: str, text: str) -> None:
        """Store a verified receipt whose log has not been proven yet; `carried` is written before the receipt."""
        write_atomically(self._path(digest, "carried"), b"")
        write_atomically(self._path(digest, "receipt"), text.encode())
        self._remove(digest, "refused", "draft.dsse.json")

    def mark_proven(self, digest: str) -> None:
        """Record that a receipt's log is proven to be the aggregator's."""
        self._remove(digest, "carried")

    def read_receipt(self, digest: str) -> str:
        """Return a stored receipt. Raises StoreError."""
        return read_bounded(
            self._path(digest, "receipt"), _MAX_NOTE, f"the receipt of {digest[:12]}"
        ).decode()

    def read_refusals(self) -> dict[str, bytes]:
        """Return the stored refusals, including those of void submissions, by the digest of the submission."""
        refusals: dict[str, bytes] = {}
        for path in sorted(self.directory.glob("*.refused")):
            digest = path.name.partition(".")[0]
            refusals[digest] = read_bounded(path, _MAX_NOTE, "a refusal")
        return refusals

    def make_void(self, digest: str) -> None:
        """Remove from the chain a link that was refused or that follows a refused one."""
        self._path(digest, "dsse.json").replace(self._path(digest, "void.dsse.json"))
        sync_directory(self.directory)

    def restore(self, digest: str) -> bool:
        """Restore a void link to its state before any refusal; return whether there was a void link."""
        void = self._path(digest, "void.dsse.json")
        if not void.exists():
            return False
        self._remove(digest, "refused", "draft.dsse.json")
        void.replace(self._path(digest, "dsse.json"))
        sync_directory(self.directory)
        return True

    def _find_file(self, digest: str) -> tuple[Path, State]:
        """Return the envelope's file and the state; the first row below whose files exist determines the state."""
        for suffix, mark, state in (
            ("dsse.json", "receipt", State.RECEIPTED),
            ("dsse.json", "refused", State.REFUSED),
            ("dsse.json", "sent", State.SENT),
            ("dsse.json", None, State.APPROVED),
            ("void.dsse.json", None, State.VOID),
            ("draft.dsse.json", None, State.PREPARED),
        ):
            path = self._path(digest, suffix)
            if path.exists() and (mark is None or self._path(digest, mark).exists()):
                return path, state
        raise DisclosureError("there is no submission with this digest")

    def _path(self, digest: str, suffix: str) -> Path:
        return self.directory / f"{digest}.{suffix}"

    def _remove(self, digest: str, *suffixes: str) -> None:
        for suffix in suffixes:
            with suppress(FileNotFoundError):
                self._path(digest, suffix).unlink()
        sync_directory(self.directory)


def open_submission(data: bytes, state: State, refusal: str | None = None) -> Submission:
    """Parse an envelope file without checking signatures. Raises ProtocolError if it is not a submission."""
    envelope = decode(data)
    statement = parse_statement(envelope.payload)
    if isinstance(statement, EnrollPredicate | ResetPredicate):
        raise ProtocolError(
            Code.WRONG_TYPE, "this statement starts a chain; it is not a link of one"
        )
    return Submission(envelope.digest, state, data, envelope, statement, refusal)


def _order_in_chain(submission: Submission) -> tuple[tuple[int, int], bool, str]:
    """Return the sort key of a submission: a void link follows the link that replaced it in the chain."""
    return submission.place, submission.state is State.VOID, submission.digest


def _read_refusal_code(note: bytes) -> str:
    """Return the code in a stored refusal, which was verified before it was stored."""
    lines = note.decode("utf-8", "replace").split("\n")
    return lines[2] if lines[0].startswith(REFUSAL_LINE) and len(lines) > 2 else "unknown"


def _changed(digest: str) -> DisclosureError:
    return DisclosureError(
        f"submission {digest[:12]} was changed after it was prepared: its content no longer matches its digest",
        "Find out who changed it. If it had not been approved yet, delete its files and prepare it again.",
    )


def _encode_json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"
