"""The folder `submissions/`: what was prepared, approved, sent and receipted. The files are the state.

A submission is any link of the site's chain: a result, a dataset, a plan, or what ends one.

                 prepare              approve              send, export           receipt verified
    (nothing) ----------> prepared ------------> approved ------------> sent -----------------------> receipted
                  |  ^          |                    |                   |
                  +--+ prepare  +-> (nothing)        +------ refused <---+   the aggregator refused
                  again replaces    discard                     |            (send tries again)
                  drafts                                        |
                                                                +--> void    prepare puts another in its place, or
                                                                             itself again if it is the same bytes

With D for the submission's digest (SHA-256 of the PAE of its payload):

    D.draft.dsse.json   the agent's signature           prepared; with D.verdicts.json (what decided each figure)
    D.dsse.json         both signatures                 approved
    D.sent              beside it: the day              sent: from here on the bytes may have left the site
    D.refused           beside it: the signed refusal   refused
    D.receipt           beside it: the proof            receipted
    D.carried           beside it: that proof came as a file, and no network has shown yet that its log is the true one
    D.void.dsse.json    both signatures                 void: not sent, unless it is prepared again

Every step writes whole files and may be repeated after a crash at any point: it finds what is there and goes on. A
file whose bytes no longer give the digest in its name stops everything.
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
    DatasetPredicate,
    EnrollPredicate,
    Header,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    Statement,
)
from protocol.refusal import FIRST_LINE as REFUSAL_LINE
from protocol.statements import kind_name, parse_statement

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_MIN_PREFIX_LENGTH: Final = (
    8  # hexadecimal digits: enough that two submissions of a site hardly ever share them
)
_MAX_NOTE: Final = 4 * 1024 * 1024  # bytes of a verdict file, a receipt or a mark


class State(StrEnum):
    """How far a submission has come."""

    PREPARED = "prepared"
    APPROVED = "approved"
    SENT = "sent"
    REFUSED = "refused"
    RECEIPTED = "receipted"
    VOID = "void"


LIVE: Final = frozenset({State.APPROVED, State.SENT, State.REFUSED, State.RECEIPTED})
"""States of links of the chain: signed twice, and not replaced."""


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission as its files show it.

    Attributes:
        data: the envelope file.
        refusal: the code, where there is one.
        receipt_is_carried: whether its receipt came as a file, and is not proven yet to be of the log that the
            aggregator shows.
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
        """The statement's header: its place in the site's chain."""
        return self.statement.header

    @property
    def kind(self) -> str:
        """The statement's kind, for example `result`."""
        return kind_name(self.statement)

    @property
    def result(self) -> ResultPredicate:
        """The statement of a submission that is known to be a result."""
        assert isinstance(self.statement, ResultPredicate)
        return self.statement

    @property
    def is_result(self) -> bool:
        """Whether it is a result, with figures."""
        return isinstance(self.statement, ResultPredicate)

    @property
    def dataset(self) -> DatasetPredicate | None:
        """The statement of a dataset; None for other kinds."""
        return self.statement if isinstance(self.statement, DatasetPredicate) else None

    @property
    def plan(self) -> PlanPredicate | None:
        """The statement of a plan; None for other kinds."""
        return self.statement if isinstance(self.statement, PlanPredicate) else None

    @property
    def payload(self) -> bytes:
        """The exact bytes that are signed."""
        return self.envelope.payload

    @property
    def place(self) -> tuple[int, int]:
        """Epoch and number of the link: its place in the site's chain."""
        return self.header.epoch, self.header.seq


class Outbox:
    """The files of all submissions. Reading needs no lock; `held` is for changes."""

    def __init__(self, directory: Path) -> None:
        """`directory` is the site's `submissions/`; it is made when first written to."""
        self.directory = directory

    @property
    def ledger(self) -> Path:
        """Folder of the ledger of releases."""
        return self.directory / "ledger"

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other commands out for the length of a `with` block. Raises StoreError."""
        with lock_folder(self.directory):
            yield

    def list_submissions(self) -> list[Submission]:
        """Return every submission, in the order of the chain; drafts and void ones included.

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
        """Return one submission by its whole digest. Raises DisclosureError."""
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
        """Return the one submission whose digest begins with `prefix`, at least 8 hex digits.

        Raises:
            DisclosureError: none, or several, or a changed file.
        """
        if len(prefix) < _MIN_PREFIX_LENGTH:
            raise DisclosureError("at least the first 8 characters of the digest are needed")
        matches = [
            submission
            for submission in self.list_submissions()
            if submission.digest.startswith(prefix)
        ]
        if len(matches) == 1:
            return matches[0]
        reason = (
            "several submissions begin like this"
            if matches
            else "there is no submission with this digest"
        )
        raise DisclosureError(reason, "List them with `intramural submission status`.")

    def put_draft(self, digest: str, data: bytes, verdicts: Mapping[str, object]) -> None:
        """Keep what was prepared; the envelope last, because its presence makes the draft."""
        write_atomically(self._path(digest, "verdicts.json"), _encode_json(verdicts))
        write_atomically(self._path(digest, "draft.dsse.json"), data)

    def drop_draft(self, digest: str) -> None:
        """Forget a draft; nothing of it has left the site."""
        self._remove(digest, "draft.dsse.json", "verdicts.json")

    def read_verdicts(self, digest: str) -> dict[str, Any]:
        """Return the verdict file. Raises StoreError if it is missing or damaged."""
        content = read_bounded(
            self._path(digest, "verdicts.json"), _MAX_NOTE, f"the verdicts of {digest[:12]}"
        )
        try:
            verdicts = json.loads(content)
        except ValueError:
            verdicts = None
        if not isinstance(verdicts, dict):
            raise StoreError(
                f"the verdicts of {digest[:12]} are damaged",
                "Run `intramural submission prepare` again.",
            )
        return verdicts

    def put_approved(self, digest: str, data: bytes) -> None:
        """Keep the envelope with both signatures in place of the draft."""
        write_atomically(self._path(digest, "dsse.json"), data)
        self._remove(digest, "draft.dsse.json")

    def mark_sent(self, digest: str, day: int) -> None:
        """Note, before any byte leaves, that from `day` (days since 1970-01-01) on it may have left."""
        if not self._path(digest, "sent").exists():
            write_atomically(self._path(digest, "sent"), str(day).encode())

    def put_refusal(self, digest: str, note: str) -> None:
        """Keep a verified refusal: a note that the log's key has signed (`protocol.refusal`)."""
        write_atomically(self._path(digest, "refused"), note.encode())

    def put_receipt(self, digest: str, text: str) -> None:
        """Keep a verified receipt of a log that is proven to continue the one seen here."""
        write_atomically(self._path(digest, "receipt"), text.encode())
        self._remove(
            digest, "refused", "draft.dsse.json"
        )  # a killed `put_approved` leaves the draft
        self.mark_proven(digest)

    def put_carried_receipt(self, digest: str, text: str) -> None:
        """Keep a verified receipt of a log that nothing shows yet to be the true one; the mark comes first."""
        write_atomically(self._path(digest, "carried"), b"")
        write_atomically(self._path(digest, "receipt"), text.encode())
        self._remove(digest, "refused", "draft.dsse.json")

    def mark_proven(self, digest: str) -> None:
        """Note that a receipt's log is proven to be the one that the aggregator shows."""
        self._remove(digest, "carried")

    def read_receipt(self, digest: str) -> str:
        """Return a receipt that was kept. Raises StoreError."""
        return read_bounded(
            self._path(digest, "receipt"), _MAX_NOTE, f"the receipt of {digest[:12]}"
        ).decode()

    def read_refusals(self) -> dict[str, bytes]:
        """Return the kept refusals by the digest of what was refused, those of void submissions too."""
        refusals: dict[str, bytes] = {}
        for path in sorted(self.directory.glob("*.refused")):
            digest = path.name.partition(".")[0]
            refusals[digest] = read_bounded(path, _MAX_NOTE, "a refusal")
        return refusals

    def make_void(self, digest: str) -> None:
        """Take a link out of the chain: it was refused, or follows one that was."""
        self._path(digest, "dsse.json").replace(self._path(digest, "void.dsse.json"))
        sync_directory(self.directory)

    def restore(self, digest: str) -> bool:
        """Put a void link back as what it was before any refusal; return whether there was one."""
        void = self._path(digest, "void.dsse.json")
        if not void.exists():
            return False
        self._remove(digest, "refused", "draft.dsse.json")
        void.replace(self._path(digest, "dsse.json"))
        sync_directory(self.directory)
        return True

    def _find_file(self, digest: str) -> tuple[Path, State]:
        """Return the envelope's file and its state: the first line whose files exist decides."""
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
    """Return what an envelope file holds; no signature is checked. Raises ProtocolError: it is no submission."""
    envelope = decode(data)
    statement = parse_statement(envelope.payload)
    if isinstance(statement, EnrollPredicate | ResetPredicate):
        raise ProtocolError(Code.WRONG_TYPE, "the start of a chain, not a link of it")
    return Submission(envelope.digest, state, data, envelope, statement, refusal)


def _order_in_chain(submission: Submission) -> tuple[tuple[int, int], bool, str]:
    """Return the sort key of a submission: a void link comes after the one that took its place in the chain."""
    return submission.place, submission.state is State.VOID, submission.digest


def _read_refusal_code(note: bytes) -> str:
    """Return the code that a kept refusal gives; it was verified before it was kept."""
    lines = note.decode("utf-8", "replace").split("\n")
    return lines[2] if lines[0].startswith(REFUSAL_LINE) and len(lines) > 2 else "unknown"


def _changed(digest: str) -> DisclosureError:
    return DisclosureError(
        f"submission {digest[:12]} was changed after it was prepared: its bytes no longer give its digest",
        "Find out who changed it. If it had not been approved, delete its files and prepare again.",
    )


def _encode_json(value: Mapping[str, object]) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"
