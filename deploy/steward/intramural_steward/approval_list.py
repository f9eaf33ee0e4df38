"""The steward's own list of approved and rejected statements, one per line, chained by hash.

A line is canonical JSON. It contains the whole envelope, so that an approval can be repeated byte
for byte and the next release can be compared with the last one without asking the site. A line that
was changed, moved or removed from the middle breaks the chain, and then nothing is signed. Removal
of lines at the end can only be detected by comparing with a noted head, as printed by
`intramural-steward list`.
"""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from intramural_steward.errors import ListError
from intramural_steward.files import replace_file
from protocol import envelope, schema
from protocol.approval_files import NO_AUDIT, REJECTION_REASONS, AuditHead
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import decode_base64, encode_base64
from protocol.errors import ProtocolError
from protocol.identity import NONE
from protocol.predicates import Header, Statement
from protocol.statements import kind_name, parse_statement

APPROVED: Final = "approved"
REJECTED: Final = "rejected"
NO_LINK: Final = "0" * 64  # link before the first line

_DECISIONS = (APPROVED, REJECTED)
_NO_REASON = ""
_REGISTRY = frozenset({"version", "digest", "roots", "threshold"})
_AUDIT = frozenset({"number", "link"})
_ENTRY = frozenset(
    {
        *("number", "before", "decision", "reason", "day", "key", "registry", "audit", "envelope"),
        *("digest", "deployment", "site", "kind", "epoch", "seq", "prev", "ledger"),
    }
)


@dataclass(frozen=True, slots=True)
class RegistryMark:
    """The registry used for a decision, and its root keys.

    `version` is 0 and `digest` is `none` for a request about keys, which needs no registry, and for
    a rejection without known root keys.
    """

    version: int
    digest: str
    roots: tuple[str, ...]
    threshold: int


NO_REGISTRY: Final = RegistryMark(0, NONE, (), 0)


@dataclass(frozen=True, slots=True)
class Entry:
    """A decision on the list.

    Attributes:
        number: From 1; 0 for an entry that is not on the list yet.
        before: Link of the previous line; NO_LINK for the first.
        decision: APPROVED or REJECTED.
        reason: One of REJECTION_REASONS; empty for an approval.
        day: Day of the decision, in days since 1970-01-01 UTC.
        key: Key id of the steward's key that signed; `none` for a rejection.
        envelope: With the steward's signature if approved; as the site sent it if rejected.
        statement, digest: Read from the envelope.
    """

    decision: str
    reason: str
    day: int
    key: str
    registry: RegistryMark
    audit: AuditHead
    envelope: bytes
    statement: Statement
    digest: str
    number: int = 0
    before: str = NO_LINK

    @property
    def header(self) -> Header:
        """The statement's header."""
        return self.statement.header

    @property
    def line(self) -> bytes:
        """The entry's line in the file, without its line break. The header is repeated for human readers."""
        header = self.header
        return canonical(
            {
                "number": self.number,
                "before": self.before,
                "decision": self.decision,
                "reason": self.reason,
                "day": self.day,
                "key": self.key,
                "registry": {
                    "version": self.registry.version,
                    "digest": self.registry.digest,
                    "roots": list(self.registry.roots),
                    "threshold": self.registry.threshold,
                },
                "audit": {"number": self.audit.number, "link": self.audit.link},
                "envelope": encode_base64(self.envelope),
                "digest": self.digest,
                "deployment": header.deployment,
                "site": header.site,
                "kind": kind_name(self.statement),
                "epoch": header.epoch,
                "seq": header.seq,
                "prev": header.prev,
                "ledger": {"length": header.ledger.length, "head": header.ledger.head},
            }
        )

    @property
    def link(self) -> str:
        """The digest of the line, which the next line names."""
        return hashlib.sha256(self.line).hexdigest()


def make_entry(
    signed: bytes,
    *,
    decision: str,
    day: int,
    reason: str = _NO_REASON,
    key: str = NONE,
    registry: RegistryMark = NO_REGISTRY,
    audit: AuditHead = NO_AUDIT,
) -> Entry:
    """Return an entry that is not on the list yet. The parameters are attributes of `Entry`.

    Raises:
        ProtocolError: the envelope does not contain a statement.
    """
    opened = envelope.decode(signed)
    statement = parse_statement(opened.payload)
    return Entry(decision, reason, day, key, registry, audit, signed, statement, opened.digest)


class ApprovalList:
    """The entries of a list, oldest first, as of when it was opened; see `open_list`."""

    def __init__(self, path: Path, entries: tuple[Entry, ...]) -> None:
        self._path = path
        self.entries = entries

    @property
    def head(self) -> str:
        """The link of the last line."""
        return self.entries[-1].link if self.entries else NO_LINK

    def of_site(self, deployment: str, site: str) -> list[Entry]:
        """Return the decisions about a site."""
        return [
            entry
            for entry in self.entries
            if (entry.header.deployment, entry.header.site) == (deployment, site)
        ]

    def append(self, added: Sequence[Entry]) -> None:
        """Add decisions atomically: after a crash either all of them or none are on the list.

        Raises:
            ListError: the list cannot be written. It is unchanged.
        """
        entries = list(self.entries)
        for entry in added:
            before = entries[-1].link if entries else NO_LINK
            entries.append(replace(entry, number=len(entries) + 1, before=before))
        try:
            replace_file(self._path, b"".join(entry.line + b"\n" for entry in entries))
        except OSError as error:
            raise ListError(
                f"the list cannot be written ({error.strerror})", "Nothing was signed."
            ) from None
        self.entries = tuple(entries)


@contextmanager
def open_list(path: Path) -> Iterator[ApprovalList]:
    """Open, lock and check a list for one command. A missing list is empty.

    Raises:
        ListError: another command is using the list, it cannot be read, or it is damaged.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(
            path.with_name(path.name + ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
        )
    except OSError as error:
        raise ListError(
            f"the list's folder cannot be used ({error.strerror})", "Nothing was signed."
        ) from None
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise ListError(
                "another command is using the list", "Wait until it has finished, then try again."
            ) from None
        yield ApprovalList(path, _read_entries(path))
    finally:
        os.close(handle)


def _read_entries(path: Path) -> tuple[Entry, ...]:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise ListError(
            f"the list cannot be read ({error.strerror})", "Nothing was signed."
        ) from None
    lines = content.split(b"\n")
    if lines.pop():
        raise _damaged(len(lines) + 1, "is truncated")
    entries: list[Entry] = []
    before = NO_LINK
    for number, line in enumerate(lines, 1):
        try:
            entry = _read_entry(line)
        except ProtocolError:
            raise _damaged(number, "cannot be read") from None
        if (entry.number, entry.before) != (number, before):
            raise _damaged(number, "does not follow the previous line")
        if entry.line != line:
            raise _damaged(number, "contradicts the statement that it contains")
        entries.append(entry)
        before = entry.link
    return tuple(entries)


def _read_entry(line: bytes) -> Entry:
    found = schema.record(parse_canonical(line), _ENTRY, "entry")
    registry = schema.record(found["registry"], _REGISTRY, "registry")
    audit = schema.record(found["audit"], _AUDIT, "audit")
    roots = schema.array(registry["roots"], "roots", 0, 16)
    entry = make_entry(
        decode_base64(found["envelope"], "envelope"),
        decision=schema.choice(found["decision"], "decision", _DECISIONS),
        day=schema.integer(found["day"], "day"),
        reason=schema.choice(found["reason"], "reason", (_NO_REASON, *REJECTION_REASONS)),
        key=schema.text(found["key"], "key", schema.HEX64_OR_NONE),
        registry=RegistryMark(
            version=schema.integer(registry["version"], "version"),
            digest=schema.text(registry["digest"], "digest", schema.HEX64_OR_NONE),
            roots=tuple(schema.text(root, "roots", schema.HEX64) for root in roots),
            threshold=schema.integer(registry["threshold"], "threshold"),
        ),
        audit=AuditHead(
            number=schema.integer(audit["number"], "number"),
            link=schema.text(audit["link"], "link", schema.HEX64),
        ),
    )
    return replace(
        entry,
        number=schema.integer(found["number"], "number"),
        before=schema.text(found["before"], "before", schema.HEX64),
    )


def _damaged(line: int, how: str) -> ListError:
    return ListError(
        f"the list of approvals is damaged: line {line} {how}",
        "Nothing was signed. Restore the list from a backup that includes your last decision. Without one, keep "
        "the damaged file, inform the central team, and begin a new list with --list, which has no history.",
    )
