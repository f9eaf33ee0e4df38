"""A log and its verification, which must succeed before any of its figures is trusted.

The public log shows only the leaf hashes of a pooled site's statements
(`aggregator.log.publication`). Every statement that it shows is verified in the same way as when
the aggregator accepted it. If a site was pooled for some time, its hidden statements are assumed to
be what the shown ones require. Auditors have the whole log and need no such assumptions.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from aggregator.board.hidden_links import assume_hidden
from aggregator.errors import BoardMismatchError
from aggregator.log.growing_tree import GrowingTree
from aggregator.log.journal import Entry, settled_by
from aggregator.log.publication import HiddenEntry, PublishedEntry, is_public
from aggregator.merge.accepted import Assurances, RegistryChange, Result, Withdrawal
from aggregator.merge.federation import Federation
from aggregator.merge.registry_segments import date_changes, divide_versions
from aggregator.registry.versions import walk
from protocol.checkpoint import Checkpoint, LogKey, verify_checkpoint
from protocol.envelope import REGISTRY_TYPE, Envelope, decode
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE
from protocol.keys import load_public
from protocol.merkle import leaf_hash
from protocol.predicates import (
    EMPTY_LEDGER,
    DatasetPredicate,
    EnrollPredicate,
    LedgerHead,
    Link,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    Statement,
    WithdrawPredicate,
)
from protocol.registry import Registry, RootPins, Site
from protocol.rekeying import answers, only_restricts, open_rekeying
from protocol.statements import parse_statement
from protocol.verification import (
    ChainHead,
    History,
    KnownPlan,
    authenticate,
    plan_challenge,
    verify_link,
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A log as read from files or a database. It must not be trusted before `replay` has verified it.

    Attributes:
        registries: Every registry version as signed, version 1 first.
        entries: The log entries in order. They are read once.
        checkpoint: The signed head of the log.
        is_whole: Whether no entry may be hidden, as in the log of the aggregator and the auditors.
    """

    registries: tuple[bytes, ...]
    entries: Iterable[PublishedEntry]
    checkpoint: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """A log whose signatures, proofs and rules have all been verified.

    Attributes:
        registry: The newest registry version.
        checkpoint: The head of the log.
        results: The results that are shown, including withdrawn ones.
        withdrawals: The withdrawals that are shown.
        hidden: Number of entries of which only the leaf hash is shown.
        roots: Roots of the requested earlier logs, by log size.
        federation: The state after these results and withdrawals, if it has been computed already.
        changes: When keys were revoked, sites left or the policy changed.
        versions: Registry version under which each entry was accepted, by log position.
        shown_until: Number of entries before the first hidden one; None if none is hidden.
        log_keys: The distinct sets of log keys over all registry versions.
    """

    registry: Registry
    checkpoint: Checkpoint
    results: tuple[Result, ...]
    withdrawals: tuple[Withdrawal, ...]
    hidden: int = 0
    roots: Mapping[int, bytes] = field(default_factory=dict)
    federation: Federation | None = None
    changes: tuple[RegistryChange, ...] = ()
    versions: Sequence[int] = ()
    shown_until: int | None = None
    log_keys: tuple[tuple[LogKey, ...], ...] = ()


def replay(
    evidence: Evidence, pins: RootPins | None = None, roots_at: Container[int] = ()
) -> Replayed:
    """Verify a whole log, as the aggregator did when it accepted each entry.

    Args:
        evidence: The log.
        pins: The roots that must have signed the first registry; None trusts the roots that it
            names.
        roots_at: Sizes of earlier logs whose roots are returned.

    Raises:
        BoardMismatchError: names the entry or version that fails, and the reason.
    """
    registries = _walk(evidence.registries, pins)
    newest = registries[-1]
    head = open_checkpoint(evidence.checkpoint, newest)
    log = _Log(registries, is_whole=evidence.is_whole)
    roots = {0: log.tree.root}
    for position, entry in enumerate(evidence.entries):
        try:
            log.follow(position, entry)
        except ProtocolError as error:
            refuse_unreleased(error)
            raise BoardMismatchError(
                f"log entry {position} is not valid: {error.detail} ({error.code})"
            ) from None
        if log.tree.size in roots_at:
            roots[log.tree.size] = log.tree.root
    if head.size != log.tree.size:
        raise BoardMismatchError(
            f"the checkpoint covers {head.size} log entries, but {log.tree.size} are published"
        )
    log.check_unexplained_changes()
    if log.tree.root != head.root:
        raise BoardMismatchError("the published log entries do not match the signed checkpoint")
    payloads = [decode(envelope, REGISTRY_TYPE).payload for envelope in evidence.registries]
    changes = date_changes(divide_versions(payloads, newest), log.versions)
    return Replayed(
        registry=newest,
        checkpoint=head,
        results=tuple(log.results),
        withdrawals=tuple(log.withdrawals),
        hidden=log.hidden,
        roots=roots,
        changes=tuple(changes),
        versions=log.versions,
        shown_until=log.shown_until,
        log_keys=tuple(dict.fromkeys(registry.log_keys for registry in registries)),
    )


def open_checkpoint(note: str, registry: Registry) -> Checkpoint:
    """Verify and return a checkpoint of the log that `registry` names.

    Raises:
        BoardMismatchError: it is malformed, belongs to another log, or lacks the log key's
            signature.
    """
    try:
        return verify_checkpoint(note, registry.log_keys, registry.log_name)
    except ProtocolError as error:
        raise BoardMismatchError(f"the published checkpoint is not valid: {error.detail}") from None


def refuse_unreleased(error: ProtocolError) -> None:
    """Raise BoardMismatchError if `error` reports a file of an unreleased version."""
    if error.code is Code.OLD_SCHEMA:
        raise BoardMismatchError(
            "the board was made by an unreleased version of intramural, which later versions cannot read",
            "Start over: publish a board from an aggregator that was set up with this version.",
        ) from None


def _walk(versions: Sequence[bytes], pins: RootPins | None) -> list[Registry]:
    try:
        return walk(versions, pins)
    except ProtocolError as error:
        refuse_unreleased(error)
        raise BoardMismatchError(f"the published registry is not valid: {error.detail}") from None


@dataclass(slots=True)
class _SiteState:
    """The log's record of one site before the next entry.

    Attributes:
        head: Last link of the current epoch; None right after its start.
        ledger: The ledger as reported by the newest statement of any kind.
        datasets, plans: By digest, oldest first. A plan is open until a result or another statement
            closes it.
        results: The scores_root of each result that has not been withdrawn, by digest.
        is_partly_hidden: Whether the log may hide statements from the site, so that the state may be
            incomplete.
    """

    head: ChainHead | None = None
    ledger: LedgerHead = EMPTY_LEDGER
    datasets: dict[str, DatasetPredicate] = field(default_factory=dict)
    plans: dict[str, KnownPlan] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    is_partly_hidden: bool = False


class _Log:
    """The state of the aggregator before each entry, and the results collected so far."""

    def __init__(self, registries: Sequence[Registry], *, is_whole: bool) -> None:
        self.tree = GrowingTree()
        self.hidden = 0
        self.shown_until: int | None = None
        self._is_whole = is_whole
        self._pooled_from = {} if is_whole else _find_pooled(registries)
        self._with_pooled = {registry.version for registry in registries if _has_pooled(registry)}
        self.results: list[Result] = []
        self.withdrawals: list[Withdrawal] = []
        self._assurances = Assurances()
        self.versions: list[
            int
        ] = []  # the registry under which each entry was accepted, by log position
        self._registries = registries
        self._in_force = 1
        self._answered_by = 1  # registry version that answers the most recent requests
        self._sites: dict[str, _SiteState] = {}
        self._roots: set[str] = set()
        self._figures: dict[str, set[str]] = {}  # fingerprint -> sites that reported it
        self._explained: dict[tuple[int, str], Site] = {}
        """The registry entry that a statement in the log requests, by registry version and site."""

    def follow(self, position: int, entry: PublishedEntry) -> None:
        """Verify the next entry and add it to the state. Raises ProtocolError or BoardMismatchError."""
        self.versions.append(entry.registry)
        if isinstance(entry, HiddenEntry):
            self._enter_registry(position, entry.registry, is_request=False)
            if self._is_whole:
                raise BoardMismatchError(
                    f"log entry {position} is hidden, but the log must be complete"
                )
            if entry.registry not in self._with_pooled:
                raise BoardMismatchError(
                    f"log entry {position} is hidden, but no site had chosen pooled publication at that point",
                    "Tell the people who run the board: a named site's statement is missing.",
                )
            if self.shown_until is None:
                self.shown_until = position
            self.tree.add(entry.leaf_hash)
            self.hidden += 1
            return
        envelope = decode(entry.envelope)
        statement = parse_statement(envelope.payload)
        is_request = isinstance(statement, EnrollPredicate | ResetPredicate | RotatePredicate)
        self._enter_registry(position, entry.registry, is_request=is_request)
        if not self._is_whole and not is_public(statement, self._registries[entry.registry - 1]):
            raise BoardMismatchError(
                f"log entry {position} shows a statement from a site that chose pooled publication",
                "Tell the people who run the board: the statement should not have been published.",
            )
        self.tree.add(leaf_hash(envelope.pae))
        match statement:
            case EnrollPredicate():
                self._enroll(position, entry, envelope, statement)
            case ResetPredicate() | RotatePredicate():
                self._rekey(position, entry, statement)
            case _:
                self._accept(position, entry, envelope, statement)

    def _enter_registry(self, position: int, version: int, *, is_request: bool) -> None:
        """Check that the registry version named by an entry was in force. One version may answer several requests."""
        is_answered_together = is_request and version == self._in_force
        lowest = self._in_force if is_answered_together else max(self._in_force, self._answered_by)
        if not lowest <= version <= len(self._registries):
            raise BoardMismatchError(
                f"log entry {position} names registry version {version}, which was not in force"
            )
        self._in_force = version

    def check_unexplained_changes(self) -> None:
        """Check that every key and epoch that a registry gives a site was requested by a statement in the log.

        A registry may end or revoke keys, and rename or remove a site, without a statement by the
        site.
        """
        if self._registries[0].sites:
            raise BoardMismatchError(
                "registry version 1 names sites, but sites can only be added by log entries"
            )
        for before, after in zip(self._registries, self._registries[1:], strict=False):
            for site_id, site in after.sites.items():
                explained = self._explained.get((after.version, site_id)) or before.sites.get(
                    site_id
                )
                if explained is None or not only_restricts(explained, site):
                    raise BoardMismatchError(
                        f"registry version {after.version} gives site {site_id} keys or an epoch that no log entry "
                        "requests"
                    )

    def _next_registry(self, entry: Entry) -> Registry | None:
        """Return the registry version after the one in force at an entry, which answers a request."""
        return self._registries[entry.registry] if entry.registry < len(self._registries) else None

    def _enroll(
        self, position: int, entry: Entry, envelope: Envelope, statement: EnrollPredicate
    ) -> None:
        """Check that the site holds both keys and that the next registry enrols it by this statement."""
        agent, steward = load_public(statement.agent_key), load_public(statement.steward_key)
        keys = {agent.keyid: agent, steward.keyid: steward}
        envelope.verify(keys)
        header = statement.header
        after = self._next_registry(entry)
        site = None if after is None else after.sites.get(header.site)
        if (
            after is None
            or site is None
            or header.site in self._sites
            or header.deployment != after.deployment
            or (site.start, site.epoch) != (envelope.digest, header.epoch)
            or {entry.key.keyid: entry.role for entry in site.keys}
            != {agent.keyid: "agent", steward.keyid: "steward"}
            or {signature.keyid for signature in envelope.signatures} != set(keys)
        ):
            raise BoardMismatchError(
                f"log entry {position} is an enrolment that the registry does not contain"
            )
        self._sites[header.site] = _SiteState(ledger=header.ledger)
        self._take_registry(after, header.site, site)

    def _rekey(
        self, position: int, entry: Entry, statement: ResetPredicate | RotatePredicate
    ) -> None:
        """Check a reset or rotation, and that the next registry grants exactly what it requests."""
        registry = self._registries[entry.registry - 1]
        state = self._state(position, statement, entry.registry)
        history = self._history(statement, state, registry)
        rekeying = open_rekeying(entry.envelope, registry, history, log_index=position)
        after = self._next_registry(entry)
        site = None if after is None else after.sites.get(statement.header.site)
        before = registry.sites[statement.header.site]
        if after is None or site is None or not answers(before, site, rekeying, position):
            raise BoardMismatchError(
                f"log entry {position} changes a site's keys in a different way than the registry"
            )
        state.head = None if isinstance(statement, ResetPredicate) else rekeying.head
        state.ledger = statement.header.ledger
        self._take_registry(after, statement.header.site, site)

    def _take_registry(self, registry: Registry, site_id: str, site: Site) -> None:
        """Record that a registry came into force with the entry that it answers."""
        self._explained[registry.version, site_id] = site
        self._answered_by = registry.version

    def _accept(self, position: int, entry: Entry, envelope: Envelope, statement: Link) -> None:
        registry = self._registries[entry.registry - 1]
        authentic = authenticate(entry.envelope, registry, log_index=position)
        state = self._state(position, statement, entry.registry)
        history = self._history(statement, state, registry)
        accepted = verify_link(authentic, registry, history, today_day=_day_of(statement))
        keyids = tuple(signature.keyid for signature in envelope.signatures)
        publication = registry.sites[accepted.site].publication
        is_hidden = publication == "pooled"
        settled = settled_by(statement)
        if settled is not None and settled in history.plans:
            state.plans[settled] = replace(history.plans[settled], is_open=False)
        match statement:
            case DatasetPredicate():
                state.datasets[accepted.digest] = statement
            case PlanPredicate():
                challenge = plan_challenge(
                    registry.deployment, position, self.tree.root, accepted.digest
                )
                state.plans[accepted.digest] = KnownPlan(statement, challenge, is_open=True)
                self._assurances.note(accepted.digest, statement, is_hidden=is_hidden)
            case WithdrawPredicate():
                self._roots.discard(state.results.pop(statement.result, NONE))
                self.withdrawals.append(Withdrawal(position, keyids, statement, publication))
            case ResultPredicate():
                state.results[accepted.digest] = statement.scores_root
                self._roots.add(statement.scores_root)
                if accepted.figures is not None:
                    self._figures.setdefault(accepted.figures, set()).add(accepted.site)
                assurance = self._assurances.find(statement, is_hidden=is_hidden)
                result = Result(
                    position, keyids, statement, accepted.digest, publication, assurance
                )
                self.results.append(result)
        state.head, state.ledger = accepted.head, statement.header.ledger

    def _state(self, position: int, statement: Statement, version: int) -> _SiteState:
        state = self._sites.get(statement.header.site)
        if state is None:
            raise BoardMismatchError(
                f"log entry {position} belongs to a site whose enrolment is not in the log"
            )
        if version >= self._pooled_from.get(statement.header.site, version + 1):
            state.is_partly_hidden = True
        return state

    def _history(self, statement: Statement, state: _SiteState, registry: Registry) -> History:
        history = History(
            head=state.head,
            ledger=state.ledger,
            roots=self._roots,
            figures=_FiguresOfOthers(self._figures, statement.header.site),
            datasets=state.datasets,
            plans=state.plans,
            results=state.results,
        )
        if state.is_partly_hidden and self.hidden:
            return assume_hidden(statement, history, registry)
        return history


def _has_pooled(registry: Registry) -> bool:
    return any(site.publication == "pooled" for site in registry.sites.values())


def _find_pooled(registries: Iterable[Registry]) -> dict[str, int]:
    """Return the first registry version in which each site is pooled, for all sites that ever were."""
    pooled: dict[str, int] = {}
    for registry in registries:
        for site_id, site in registry.sites.items():
            if site.publication == "pooled":
                pooled.setdefault(site_id, registry.version)
    return pooled


class _FiguresOfOthers(Container[str]):
    """The fingerprints of figures reported by any site other than the given one."""

    def __init__(self, reported: Mapping[str, set[str]], site: str) -> None:
        self._reported, self._site = reported, site

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and bool(self._reported.get(value, set()) - {self._site})


def _day_of(statement: Link) -> int:
    """Return a day on which a link could have been accepted. The log does not record the actual day."""
    match statement:
        case ResultPredicate(day=day):
            return day
        case PlanPredicate(expires_day=day):
            return day
    return 0
