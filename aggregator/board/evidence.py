"""The published log: what a board is recomputed from, and the verification that comes before any figure is believed.

log/registry/N.dsse.json   every registry version, as signed
log/entries.ndjson         every entry: its envelope, and the registry version it was accepted under
log/checkpoint             the signed head of the log
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from aggregator.errors import BoardMismatchError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.journal import Entry
from aggregator.merge.table import Result
from aggregator.registry.versions import all_envelopes, newest_registry, walk
from protocol.canonical import canonical
from protocol.checkpoint import Checkpoint, verify_checkpoint
from protocol.envelope import Envelope, decode
from protocol.errors import ProtocolError
from protocol.keys import load_public
from protocol.merkle import leaf_hash, root
from protocol.registry import Registry, RootPins
from protocol.statements import EnrollPredicate, ResultPredicate, parse_statement
from protocol.verification import ChainHead, History, authenticate, verify_submission

ENTRIES_FILE = "log/entries.ndjson"
CHECKPOINT_FILE = "log/checkpoint"
REGISTRY_FILE = "log/registry/{version}.dsse.json"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A log as published; nothing in it is believed before `replay`."""

    registries: tuple[bytes, ...]  # version 1 first
    entries: tuple[Entry, ...]
    checkpoint: str

    def files(self) -> dict[str, bytes]:
        """Return the published files by their path in the board's folder."""
        registries = {
            REGISTRY_FILE.format(version=version): envelope for version, envelope in enumerate(self.registries, 1)
        }
        lines = b"".join(entry.line() + b"\n" for entry in self.entries)
        return {**registries, ENTRIES_FILE: lines, CHECKPOINT_FILE: self.checkpoint.encode()}


@dataclass(frozen=True, slots=True)
class Replayed:
    """A log in which every signature, proof and rule was found to hold."""

    registry: Registry  # the newest
    checkpoint: Checkpoint
    results: tuple[Result, ...]


def collect_evidence(connection: Connection, home: Home) -> Evidence:
    """Read the log of this aggregator, in one snapshot."""
    origin = newest_registry(connection).log_name
    return Evidence(
        registries=tuple(all_envelopes(connection)),
        entries=tuple(journal.read_entries(connection)),
        checkpoint=journal.checkpoint(connection, origin=origin, log_key=home.log_key),
    )


def parse_evidence(files: Mapping[str, bytes]) -> Evidence:
    """Read published files, by their path in the board's folder.

    Raises:
        BoardMismatchError: a file is missing or not in its form.
    """
    registries: list[bytes] = []
    while (name := REGISTRY_FILE.format(version=len(registries) + 1)) in files:
        registries.append(files[name])
    if not registries:
        raise BoardMismatchError(f"{REGISTRY_FILE.format(version=1)} is missing")
    for name in (ENTRIES_FILE, CHECKPOINT_FILE):
        if name not in files:
            raise BoardMismatchError(f"{name} is missing")
    try:
        checkpoint = files[CHECKPOINT_FILE].decode("utf-8")
    except UnicodeDecodeError:
        raise BoardMismatchError(f"{CHECKPOINT_FILE} is not UTF-8 text") from None
    entries = tuple(_entry(line, number) for number, line in enumerate(files[ENTRIES_FILE].splitlines(), 1))
    return Evidence(tuple(registries), entries, checkpoint)


def _entry(line: bytes, number: int) -> Entry:
    try:
        fields = json.loads(line)
        entry = Entry(canonical(fields["envelope"]), fields["registry"])
        if entry.line() != line or type(entry.registry) is not int:
            raise ValueError("not in its one form")
    except (ValueError, TypeError, KeyError, RecursionError, ProtocolError):
        raise BoardMismatchError(f"{ENTRIES_FILE}, line {number}, is not a log entry") from None
    return entry


def replay(evidence: Evidence, pins: RootPins | None = None) -> Replayed:
    """Verify a log from its first byte, as the aggregator did when it accepted each entry.

    Args:
        evidence: the log.
        pins: the roots that must have signed the first registry; None takes the first registry at its word.

    Raises:
        BoardMismatchError: says which entry or version fails, and why.
    """
    try:
        registries = walk(evidence.registries, pins)
        newest = registries[-1]
        head = verify_checkpoint(evidence.checkpoint, newest.log_key, newest.log_name)
    except ProtocolError as error:
        raise BoardMismatchError(
            f"the published registry or checkpoint is not what it should be: {error.detail}"
        ) from None
    if head.size != len(evidence.entries):
        raise BoardMismatchError(
            f"the checkpoint is for {head.size} log entries, {len(evidence.entries)} are published"
        )
    chains = _Chains()
    hashes, results = [], []
    for position, entry in enumerate(evidence.entries):
        try:
            envelope = decode(entry.envelope)
            result = chains.follow(position, entry, envelope, registries)
        except ProtocolError as error:
            raise BoardMismatchError(f"log entry {position} does not hold: {error.detail} ({error.code})") from None
        hashes.append(leaf_hash(envelope.pae))
        if result is not None:
            results.append(result)
    if root(hashes) != head.root:
        raise BoardMismatchError("the published log entries are not those that the checkpoint was signed for")
    return Replayed(newest, head, tuple(results))


class _Chains:
    """The state that the aggregator had before each entry."""

    def __init__(self) -> None:
        self._registry = 1
        self._enrolled: set[str] = set()
        self._heads: dict[str, ChainHead] = {}
        self._roots: set[str] = set()
        self._figures: dict[str, set[str]] = {}

    def follow(self, position: int, entry: Entry, envelope: Envelope, registries: Sequence[Registry]) -> Result | None:
        """Verify the next entry; an enrolment has no result. Raises ProtocolError or BoardMismatchError."""
        if not self._registry <= entry.registry <= len(registries):
            raise BoardMismatchError(
                f"log entry {position} names registry version {entry.registry}, which was not in force"
            )
        self._registry = entry.registry
        statement = parse_statement(envelope.payload)
        if isinstance(statement, EnrollPredicate):
            self._enroll(position, statement, envelope, registries[entry.registry :])
            return None
        return self._accept(position, entry, envelope, statement, registries[entry.registry - 1])

    def _enroll(self, position: int, statement: EnrollPredicate, envelope: Envelope, later: Sequence[Registry]) -> None:
        """Check possession of both keys, and that the next registry took the site in by this very statement."""
        keys = {key.keyid: key for key in (load_public(statement.agent_key), load_public(statement.steward_key))}
        envelope.verify(keys)
        header = statement.header
        site = later[0].sites.get(header.site) if later else None
        if (
            not later
            or header.site in self._enrolled
            or header.deployment != later[0].deployment
            or site is None
            or site.enrolment != envelope.digest
            or {entry.key.keyid for entry in site.keys} != set(keys)
            or {signature.keyid for signature in envelope.signatures} != set(keys)
        ):
            raise BoardMismatchError(f"log entry {position} is an enrolment that the registry does not know")
        self._enrolled.add(header.site)

    def _accept(
        self, position: int, entry: Entry, envelope: Envelope, statement: ResultPredicate, registry: Registry
    ) -> Result:
        authentic = authenticate(entry.envelope, registry, log_index=position)
        if authentic.site not in self._enrolled:
            raise BoardMismatchError(f"log entry {position} is of a site whose enrolment is not in the log")
        others: Iterable[str] = (figures for figures, sites in self._figures.items() if sites - {authentic.site})
        history = History(self._heads.get(authentic.site), roots=self._roots, figures=frozenset(others))
        # The log does not say on which day an entry came; a result is never older than the day it names.
        accepted = verify_submission(authentic, registry, history, today_day=statement.day)
        self._heads[accepted.site] = accepted.head
        self._roots.add(accepted.result.scores_root)
        if accepted.figures is not None:
            self._figures.setdefault(accepted.figures, set()).add(accepted.site)
        keyids = tuple(signature.keyid for signature in envelope.signatures)
        return Result(position, keyids, accepted.result)
