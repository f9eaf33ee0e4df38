"""A log, and the verification that comes before any figure of it is believed.

The public log shows of a pooled site's statements the leaf hash alone (`aggregator.log.publication`). All that it does
show is verified as the aggregator did when it accepted it; of a site that was pooled for a time the hidden statements
are taken as they would have to be. The whole log, which auditors have, leaves nothing to be taken.
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
    """A log as somebody has it; nothing in it is believed before `replay`.

    Attributes:
        registries: every version as signed, version 1 first.
        entries: in order; read once.
        checkpoint: the signed head of the log.
        is_whole: whether no entry may be hidden: the log as the aggregator and the auditors have it.
    """

    registries: tuple[bytes, ...]
    entries: Iterable[PublishedEntry]
    checkpoint: str
    is_whole: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """A log in which every signature, proof and rule was found to hold.

    Attributes:
        registry: the newest.
        checkpoint: the head of the log.
        results: as far as they are shown; withdrawn ones too.
        withdrawals: as far as they are shown.
        hidden: number of entries that are shown as a leaf hash alone.
        roots: of the earlier logs that were asked for, by their size.
        federation: the same results and withdrawals, followed already; None where they are not.
        changes: when keys were revoked, sites left or the policy changed.
        versions: by log position, the registry version that the entry was accepted under.
        shown_until: number of entries before the first hidden one; None if none is hidden.
        log_keys: the log's keys in every version, each set of them once.
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
    """Verify a log from its first byte, as the aggregator did when it accepted each entry.

    Args:
        evidence: the log.
        pins: the roots that must have signed the first registry; None takes the first registry at its word.
        roots_at: sizes of earlier logs whose roots the answer has.

    Raises:
        BoardMismatchError: says which entry or version fails, and why.
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
                f"log entry {position} does not hold: {error.detail} ({error.code})"
            ) from None
        if log.tree.size in roots_at:
            roots[log.tree.size] = log.tree.root
    if head.size != log.tree.size:
        raise BoardMismatchError(
            f"the checkpoint is for {head.size} log entries, {log.tree.size} are published"
        )
    log.check_unexplained_changes()
    if log.tree.root != head.root:
        raise BoardMismatchError(
            "the published log entries are not those that the checkpoint was signed for"
        )
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
    """Read a checkpoint of the log that `registry` names.

    Raises:
        BoardMismatchError: it is not in its form, of another log, or the log's key has not signed it.
    """
    try:
        return verify_checkpoint(note, registry.log_keys, registry.log_name)
    except ProtocolError as error:
        raise BoardMismatchError(
            f"the published checkpoint is not what it should be: {error.detail}"
        ) from None


def refuse_unreleased(error: ProtocolError) -> None:
    """Raise BoardMismatchError if `error` says that a file is of an unreleased version."""
    if error.code is Code.OLD_SCHEMA:
        raise BoardMismatchError(
            "the board was made by an unreleased version of intramural, which no version after it reads",
            "Start anew: publish a board of an aggregator that this version made.",
        ) from None


def _walk(versions: Sequence[bytes], pins: RootPins | None) -> list[Registry]:
    try:
        return walk(versions, pins)
    except ProtocolError as error:
        refuse_unreleased(error)
        raise BoardMismatchError(
            f"the published registry is not what it should be: {error.detail}"
        ) from None


@dataclass(slots=True)
class _SiteState:
    """What the log holds of one site before the next entry.

    Attributes:
        head: last link of the present epoch, None right after its start.
        ledger: as the newest statement of any kind gives it.
        datasets, plans: by digest, oldest first; a plan is open until a statement settles it.
        results: digests of results that stand, with their scores_root.
        is_partly_hidden: whether the log may hide statements of it, so that the state may lack some of them.
    """

    head: ChainHead | None = None
    ledger: LedgerHead = EMPTY_LEDGER
    datasets: dict[str, DatasetPredicate] = field(default_factory=dict)
    plans: dict[str, KnownPlan] = field(default_factory=dict)
    results: dict[str, str] = field(default_factory=dict)
    is_partly_hidden: bool = False


class _Log:
    """The state that the aggregator had before each entry, and what the entries add up to."""

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
        ] = []  # by log position, the registry that the entry was accepted under
        self._registries = registries
        self._in_force = 1
        self._answered_by = 1  # the version that answers the requests among the last entries
        self._sites: dict[str, _SiteState] = {}
        self._roots: set[str] = set()
        self._figures: dict[str, set[str]] = {}  # fingerprint -> sites that reported it
        self._explained: dict[tuple[int, str], Site] = {}
        """By registry version and site: the entry that a statement in the log asks for."""

    def follow(self, position: int, entry: PublishedEntry) -> None:
        """Verify the next entry and take it in. Raises ProtocolError or BoardMismatchError."""
        self.versions.append(entry.registry)
        if isinstance(entry, HiddenEntry):
            self._enter_registry(position, entry.registry, is_request=False)
            if self._is_whole:
                raise BoardMismatchError(
                    f"log entry {position} is hidden, in a log that must be whole"
                )
            if entry.registry not in self._with_pooled:
                raise BoardMismatchError(
                    f"log entry {position} is hidden, but no site had chosen pooled publication by then",
                    "Tell the people who run it: a named site's statement is missing.",
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
                f"log entry {position} shows a statement of a site that chose pooled publication",
                "Tell the people who run it: the statement should not have been published.",
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
        """Check that the version an entry names was in force: several requests may be answered by one version."""
        is_answered_together = is_request and version == self._in_force
        lowest = self._in_force if is_answered_together else max(self._in_force, self._answered_by)
        if not lowest <= version <= len(self._registries):
            raise BoardMismatchError(
                f"log entry {position} names registry version {version}, which was not in force"
            )
        self._in_force = version

    def check_unexplained_changes(self) -> None:
        """Check that no registry gives a site a key or an epoch that no statement in the log asks for.

        Without a statement of the site a registry may end or revoke keys, rename a site or drop it.
        """
        if self._registries[0].sites:
            raise BoardMismatchError(
                "registry version 1 names sites, which only log entries can bring in"
            )
        for before, after in zip(self._registries, self._registries[1:], strict=False):
            for site_id, site in after.sites.items():
                explained = self._explained.get((after.version, site_id)) or before.sites.get(
                    site_id
                )
                if explained is None or not only_restricts(explained, site):
                    raise BoardMismatchError(
                        f"registry version {after.version} gives site {site_id} keys or an epoch that no log entry "
                        "asks for"
                    )

    def _next_registry(self, entry: Entry) -> Registry | None:
        """Return the registry that followed the one in force at an entry: what a request brought about."""
        return self._registries[entry.registry] if entry.registry < len(self._registries) else None

    def _enroll(
        self, position: int, entry: Entry, envelope: Envelope, statement: EnrollPredicate
    ) -> None:
        """Check possession of both keys, and that the next registry took the site in by this very statement."""
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
                f"log entry {position} is an enrolment that the registry does not know"
            )
        self._sites[header.site] = _SiteState(ledger=header.ledger)
        self._take_registry(after, header.site, site)

    def _rekey(
        self, position: int, entry: Entry, statement: ResetPredicate | RotatePredicate
    ) -> None:
        """Check a reset or rotation, and that the next registry gave the site what it asks for and no more."""
        registry = self._registries[entry.registry - 1]
        state = self._state(position, statement, entry.registry)
        history = self._history(statement, state, registry)
        rekeying = open_rekeying(entry.envelope, registry, history, log_index=position)
        after = self._next_registry(entry)
        site = None if after is None else after.sites.get(statement.header.site)
        before = registry.sites[statement.header.site]
        if after is None or site is None or not answers(before, site, rekeying, position):
            raise BoardMismatchError(
                f"log entry {position} changes a site's keys otherwise than the registry does"
            )
        state.head = None if isinstance(statement, ResetPredicate) else rekeying.head
        state.ledger = statement.header.ledger
        self._take_registry(after, statement.header.site, site)

    def _take_registry(self, registry: Registry, site_id: str, site: Site) -> None:
        """Note that a registry came into force together with the entry that it answers."""
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
                f"log entry {position} is of a site whose enrolment is not in the log"
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
    """Return for each site that was ever pooled the first registry version that says so."""
    pooled: dict[str, int] = {}
    for registry in registries:
        for site_id, site in registry.sites.items():
            if site.publication == "pooled":
                pooled.setdefault(site_id, registry.version)
    return pooled


class _FiguresOfOthers(Container[str]):
    """Fingerprints of figures that a site other than the named one has reported."""

    def __init__(self, reported: Mapping[str, set[str]], site: str) -> None:
        self._reported, self._site = reported, site

    def __contains__(self, value: object) -> bool:
        return isinstance(value, str) and bool(self._reported.get(value, set()) - {self._site})


def _day_of(statement: Link) -> int:
    """Return a day on which a link could have come: the log does not say on which day one came."""
    match statement:
        case ResultPredicate(day=day):
            return day
        case PlanPredicate(expires_day=day):
            return day
    return 0
