"""The order in which a link of a site's chain is verified (section 4). Pure: the aggregator brings the state, appends.

Requests about keys (enrolment, reset, rotation) have an order of their own: `protocol.enrolment`, `protocol.rekeying`.
"""

import math
from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from protocol import merkle
from protocol.cell_codes import NOT_RUN
from protocol.disclosure import check_result, is_too_large
from protocol.envelope import Envelope, decode
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE, tagged_digest
from protocol.keys import PublicKey
from protocol.policy import DisclosurePolicy, bucket_range, grid_step
from protocol.predicates import (
    EMPTY_LEDGER,
    START_SEQ,
    AbandonPredicate,
    DatasetPredicate,
    EnrollPredicate,
    Header,
    LedgerHead,
    Link,
    PlanPredicate,
    ResetPredicate,
    ResultPredicate,
    RotatePredicate,
    WithdrawPredicate,
)
from protocol.registry import ACCEPTED_VERSIONS, Registry, Role
from protocol.scorecard import BenchmarkEntry, Scorecard
from protocol.statements import parse_statement

DAY_WINDOW = 128  # days: a result may be from today or the 127 days before, a plan may last as long
MAX_DATASETS = 5_000  # versions of one site: 37 benchmarks every month for eleven years; each costs every later link
COINCIDENCE = (
    2**32
)  # protected figures that could have come out in fewer ways than this may be equal by chance


@dataclass(frozen=True, slots=True)
class Authentic:
    """An envelope that the agent and the steward of one site have signed. The payload has not been read yet.

    If `digest` is already in the log, the answer is its receipt again, and nothing more is to be checked.
    """

    envelope: Envelope
    site: str
    digest: str


@dataclass(frozen=True, slots=True)
class ChainHead:
    """The last accepted link of a site's chain."""

    epoch: int
    seq: int
    digest: str


@dataclass(frozen=True, slots=True)
class KnownPlan:
    """A plan in the log. `is_open` until it has a result or is abandoned."""

    predicate: PlanPredicate
    challenge: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class History:
    """What the aggregator knows when a link arrives; to be read in the transaction that appends.

    Attributes:
        head: last link of this site in its present epoch, None if only the epoch's start exists.
        frozen: whether a fork in the present epoch froze the site.
        ledger: as the site's newest statement of any kind gives it.
        roots: every scores_root accepted from any site and not withdrawn.
        figures: `Accepted.figures` of the other sites' results (None left out).
        datasets: this site's dataset statements by digest, oldest first.
        plans: this site's plans by digest.
        results: digests of this site's results that were not withdrawn.
    """

    head: ChainHead | None
    frozen: bool = False
    ledger: LedgerHead = EMPTY_LEDGER
    roots: Container[str] = ()
    figures: Container[str] = ()
    datasets: Mapping[str, DatasetPredicate] = field(default_factory=dict)
    plans: Mapping[str, KnownPlan] = field(default_factory=dict)
    results: Container[str] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """A link that may be appended.

    Attributes:
        leaf: the PAE, to be hashed as the log's next leaf.
        head: the site's new chain head.
        scorecard: of a result or plan; None for other kinds.
        figures: fingerprint of a result's protected figures, to recognise a copy; None if there are too few to tell.
    """

    digest: str
    leaf: bytes
    site: str
    statement: Link
    head: ChainHead
    scorecard: Scorecard | None = None
    figures: str | None = None


def authenticate(data: bytes, registry: Registry, *, log_index: int) -> Authentic:
    """First half: size to signatures. Exactly one agent and one steward of one site, both valid at `log_index`.

    Args:
        data: the envelope file as received; the caller stops reading after MAX_BYTES + 1.
        registry: the newest registry.
        log_index: the index the link would get (the log's size).

    Raises:
        ProtocolError: only MALFORMED, UNKNOWN_KEY or BAD_SIGNATURE.
    """
    return authenticate_envelope(decode(data), registry, log_index=log_index)


def authenticate_envelope(envelope: Envelope, registry: Registry, *, log_index: int) -> Authentic:
    """Do what `authenticate` does, with an envelope that `decode` has read. Raises UNKNOWN_KEY or BAD_SIGNATURE."""
    signers = _find_signers(envelope, registry, log_index)
    envelope.verify({key.keyid: key for _, _, key in signers})
    return Authentic(envelope, signers[0][0], envelope.digest)


def check_signers(authentic: Authentic, registry: Registry, *, log_index: int) -> None:
    """Check that an envelope authenticated before may still sign: under this registry, for this entry of the log.

    Its signatures need no second look. They are right whatever the registry says, since a key id names one key.

    Args:
        authentic: from `authenticate`, with whatever registry.
        registry: the newest registry.
        log_index: the index the link would get.

    Raises:
        ProtocolError: UNKNOWN_KEY.
    """
    signers = _find_signers(authentic.envelope, registry, log_index)
    if signers[0][0] != authentic.site:
        raise ProtocolError(Code.UNKNOWN_KEY, "the keys have become another site's")


def _find_signers(
    envelope: Envelope, registry: Registry, log_index: int
) -> list[tuple[str, Role, PublicKey]]:
    """Return site, role and key of each signature: one agent's and one steward's of one site. Raises ProtocolError."""
    signers = [_signer(signature.keyid, registry, log_index) for signature in envelope.signatures]
    sites = {site for site, _, _ in signers}
    if len(sites) != 1 or sorted(role for _, role, _ in signers) != ["agent", "steward"]:
        raise ProtocolError(Code.UNKNOWN_KEY, "expected one agent and one steward of one site")
    return signers


def _signer(keyid: str, registry: Registry, log_index: int) -> tuple[str, Role, PublicKey]:
    found = registry.site_of(keyid)
    if found is None:
        raise ProtocolError(Code.UNKNOWN_KEY, f"no site has key {keyid}")
    site, entry = found
    if not entry.valid_at(log_index):
        raise ProtocolError(
            Code.UNKNOWN_KEY, f"key {keyid} of {site} may not sign entry {log_index}"
        )
    return site, entry.role, entry.key


def verify_link(
    authentic: Authentic, registry: Registry, history: History, *, today_day: int
) -> Accepted:
    """Second half: depth to chain. A FORK means: keep both payloads and freeze the site.

    Args:
        authentic: from `authenticate`, and not yet in the log.
        registry: the same registry.
        history: the state before this link.
        today_day: days since 1970-01-01 UTC.

    Raises:
        ProtocolError: the code of the first check that fails.
    """
    statement = parse_statement(authentic.envelope.payload)
    if isinstance(statement, EnrollPredicate | ResetPredicate | RotatePredicate):
        raise ProtocolError(
            Code.WRONG_TYPE,
            "a request about keys, which the root keys answer, is no link by itself",
        )
    header = statement.header
    if header.site != authentic.site:
        raise ProtocolError(Code.WRONG_SITE, f"signed by {authentic.site}")
    check_context(header, registry)
    if _is_place_taken(header, registry, history):
        # A fork is one whatever its content: else a second payload with a fault of its own would leave no evidence.
        check_chain(header, registry, history)
    scorecard, figures = None, None
    match statement:
        case ResultPredicate():
            scorecard, figures = _check_result(statement, registry, history, today_day)
        case PlanPredicate():
            scorecard = _check_plan(statement, registry, history, today_day)
        case DatasetPredicate():
            _check_dataset(statement, registry, history)
        case AbandonPredicate():
            _open_plan(statement.plan, history)
        case WithdrawPredicate():
            if statement.result not in history.results:
                raise ProtocolError(
                    Code.UNKNOWN_RESULT, "no result of this site, or withdrawn already"
                )
    check_chain(header, registry, history)
    if isinstance(statement, ResultPredicate):
        _check_planned(statement, history)
    return Accepted(
        digest=authentic.digest,
        leaf=authentic.envelope.pae,
        site=authentic.site,
        statement=statement,
        head=ChainHead(header.epoch, header.seq, authentic.digest),
        scorecard=scorecard,
        figures=figures,
    )


def check_context(header: Header, registry: Registry) -> None:
    """Check that a statement is meant for this aggregator and was made with a registry that is new enough.

    Raises:
        ProtocolError: WRONG_DEPLOYMENT or WRONG_REGISTRY.
    """
    if header.deployment != registry.deployment:
        raise ProtocolError(
            Code.WRONG_DEPLOYMENT, f"meant for {header.deployment}, this is {registry.deployment}"
        )
    if not 0 <= registry.version - header.registry < ACCEPTED_VERSIONS:
        raise ProtocolError(
            Code.WRONG_REGISTRY, f"made with version {header.registry}, now {registry.version}"
        )


def check_chain(header: Header, registry: Registry, history: History) -> None:
    """Check that a link follows the last accepted one, and its ledger the last known one.

    Raises:
        ProtocolError: SITE_FROZEN, WRONG_EPOCH, FORK, WRONG_SEQ, WRONG_PREV or LEDGER_ROLLED_BACK.
    """
    if history.frozen:
        raise ProtocolError(Code.SITE_FROZEN, f"{header.site} is frozen after a fork")
    head = _chain_head(header.site, registry, history)
    if header.epoch != head.epoch:
        raise ProtocolError(Code.WRONG_EPOCH, f"epoch {header.epoch}; expected {head.epoch}")
    if header.seq <= head.seq:
        raise ProtocolError(Code.FORK, f"seq {header.seq} is taken by another payload")
    if header.seq != head.seq + 1:
        raise ProtocolError(Code.WRONG_SEQ, f"seq {header.seq}; expected {head.seq + 1}")
    if header.prev != head.digest:
        raise ProtocolError(Code.WRONG_PREV, "prev is not the last accepted link")
    check_ledger(header.ledger, history.ledger)


def _is_place_taken(header: Header, registry: Registry, history: History) -> bool:
    head = _chain_head(header.site, registry, history)
    return header.epoch == head.epoch and header.seq <= head.seq


def _chain_head(site_id: str, registry: Registry, history: History) -> ChainHead:
    site = registry.sites[site_id]
    return history.head or ChainHead(site.epoch, START_SEQ, site.start)


def check_ledger(new: LedgerHead, known: LedgerHead) -> None:
    """Check that a ledger has not lost entries (rule 8.5). Raises ProtocolError LEDGER_ROLLED_BACK."""
    if new.length < known.length:
        raise ProtocolError(Code.LEDGER_ROLLED_BACK, f"{new.length} entries after {known.length}")
    if new.length == known.length and new.head != known.head:
        raise ProtocolError(Code.LEDGER_ROLLED_BACK, f"two ledgers of {new.length} entries")


def plan_challenge(deployment: str, log_index: int, log_root: bytes, plan: str) -> str:
    """Return the value that a plan's receipt yields, 64 hex digits; nobody knew it before the plan was in the log.

    Args:
        deployment: the aggregator's origin.
        log_index: index of the plan's entry.
        log_root: root of the log that ends with the plan, as in its receipt.
        plan: digest of the plan.
    """
    return tagged_digest("challenge", [deployment, log_index, log_root.hex(), plan])


def _check_result(
    result: ResultPredicate, registry: Registry, history: History, today_day: int
) -> tuple[Scorecard, str | None]:
    scorecard = _check_named(result, registry)
    if not 0 <= today_day - result.day < DAY_WINDOW:
        raise ProtocolError(Code.WRONG_DAY, f"day {result.day}, today is {today_day}")
    if result.approval != "two_person":
        raise ProtocolError(
            Code.NO_EXCEPTIONS, "the registry names no terms and people of exceptions"
        )
    policy = registry.policy_for(result.policy)
    check_result(result, scorecard, policy)
    for entry in scorecard.benchmarks:
        _check_data(result, entry, scorecard, history)
    if result.scores_root == merkle.root([]).hex() or result.scores_root in history.roots:
        raise ProtocolError(Code.WRONG_ROOT, "scores_root of no records, or reported before")
    figures = _figures(result, scorecard, policy)
    if figures is not None and figures in history.figures:
        raise ProtocolError(Code.COPIED_RESULT, "the protected figures are those of another site")
    return scorecard, figures


def _check_named(statement: PlanPredicate | ResultPredicate, registry: Registry) -> Scorecard:
    """Check that everything a statement names by digest is registered; return the scorecard."""
    registered = registry.scorecards.get(statement.scorecard)
    if registered is None:
        raise ProtocolError(Code.UNKNOWN_SCORECARD, statement.scorecard)
    if registered.retired:
        raise ProtocolError(Code.RETIRED_SCORECARD, statement.scorecard)
    if statement.model not in registry.models:
        raise ProtocolError(Code.UNKNOWN_MODEL, statement.model)
    if statement.agent not in registry.agents:
        raise ProtocolError(Code.UNKNOWN_AGENT, statement.agent)
    registry.policy_for(statement.policy)
    ids = {entry.id for entry in registered.scorecard.benchmarks}
    if statement.data.keys() != ids:
        raise ProtocolError(Code.WRONG_CELLS, "data: its keys are not the scorecard's benchmarks")
    return registered.scorecard


def _check_data(
    result: ResultPredicate, entry: BenchmarkEntry, scorecard: Scorecard, history: History
) -> None:
    """Check that a benchmark's protected figures are of a registered dataset, and others of none (rule 8.4)."""
    cells = scorecard.cells_of_benchmark(entry.id)
    was_run = any(result.cells[cell.key] != NOT_RUN for cell in cells)
    needs_dataset = was_run and entry.id in scorecard.protected_benchmarks
    named = result.data[entry.id]
    if not needs_dataset:
        if named != NONE:
            raise ProtocolError(
                Code.WRONG_DATASET, f"{entry.id}: names a dataset, but no protected figure of it"
            )
        return
    dataset = _known_dataset(named, entry, history)
    if result.groups[entry.id] > dataset.units:
        raise ProtocolError(Code.WRONG_GROUPS, f"{entry.id}: more units than its dataset has")


def _known_dataset(digest: str, entry: BenchmarkEntry, history: History) -> DatasetPredicate:
    dataset = history.datasets.get(digest)
    if dataset is None:
        raise ProtocolError(
            Code.UNKNOWN_DATASET, f"{entry.id}: no dataset statement of this site in the log"
        )
    if dataset.definition != entry.definition:
        raise ProtocolError(Code.WRONG_DATASET, f"{entry.id}: the dataset is another benchmark's")
    return dataset


def _check_plan(
    plan: PlanPredicate, registry: Registry, history: History, today_day: int
) -> Scorecard:
    scorecard = _check_named(plan, registry)
    if not 0 <= plan.expires_day - today_day < DAY_WINDOW:
        raise ProtocolError(
            Code.WRONG_DAY, f"the plan ends on day {plan.expires_day}, today is {today_day}"
        )
    for entry in scorecard.benchmarks:
        named = plan.data[entry.id]
        if named == NONE:
            continue
        if entry.id not in scorecard.protected_benchmarks:
            raise ProtocolError(Code.WRONG_DATASET, f"{entry.id}: names a dataset, but is public")
        _known_dataset(named, entry, history)
    return scorecard


def _check_planned(result: ResultPredicate, history: History) -> None:
    """Check a result against the plan it names, if it names one."""
    if result.plan == NONE:
        if result.challenge != NONE:
            raise ProtocolError(Code.WRONG_PLAN, "a challenge without a plan")
        return
    plan = _open_plan(result.plan, history)
    promised = plan.predicate
    said = (result.scorecard, result.model, result.agent, result.policy)
    if said != (promised.scorecard, promised.model, promised.agent, promised.policy):
        raise ProtocolError(Code.WRONG_PLAN, "scorecard, model, agent or policy are not the plan's")
    if any(
        named not in (NONE, promised.data[benchmark]) for benchmark, named in result.data.items()
    ):
        raise ProtocolError(Code.WRONG_PLAN, "a dataset is not the plan's")
    if result.challenge != plan.challenge:
        raise ProtocolError(Code.WRONG_PLAN, "the challenge is another plan's")
    if result.day > promised.expires_day:
        raise ProtocolError(
            Code.PLAN_EXPIRED, f"day {result.day}; the plan ended on day {promised.expires_day}"
        )


def _open_plan(digest: str, history: History) -> KnownPlan:
    plan = history.plans.get(digest)
    if plan is None:
        raise ProtocolError(
            Code.UNKNOWN_PLAN, "no plan of this site is in the log under this digest"
        )
    if not plan.is_open:
        raise ProtocolError(Code.PLAN_USED, "the plan has a result, or was abandoned")
    return plan


def _check_dataset(dataset: DatasetPredicate, registry: Registry, history: History) -> None:
    """Check a dataset version against the registry and the versions before it."""
    check_dataset_size(dataset, registry)
    check_dataset_version(dataset, history.datasets, registry.policies[registry.policy_floor])


def check_dataset_size(dataset: DatasetPredicate, registry: Registry) -> None:
    """Check that a scorecard takes figures of a dataset, and that it is no larger than was published (rule 8.6).

    The site applies this before anybody signs.

    Raises:
        ProtocolError: UNKNOWN_BENCHMARK or WRONG_DATASET.
    """
    entries = [
        entry
        for registered in registry.scorecards.values()
        if not registered.retired
        for entry in _protected_entries(registered.scorecard)
        if entry.definition == dataset.definition
    ]
    if not entries:
        raise ProtocolError(
            Code.UNKNOWN_BENCHMARK,
            "no scorecard has a gated or private benchmark of this definition",
        )
    # Scorecards may disagree about a size that a later one corrects: the largest decides, unless one gives none.
    size = 0 if any(not entry.units for entry in entries) else max(entry.units for entry in entries)
    if is_too_large(dataset.units, size):
        raise ProtocolError(
            Code.WRONG_DATASET,
            f"bucket {dataset.units} is above the {size} units that were published",
        )


def _protected_entries(scorecard: Scorecard) -> list[BenchmarkEntry]:
    protected = {cell.benchmark for cell in scorecard.cells if cell.protected}
    return [entry for entry in scorecard.benchmarks if entry.id in protected]


def check_dataset_version(
    dataset: DatasetPredicate, known: Mapping[str, DatasetPredicate], policy: DisclosurePolicy
) -> None:
    """Check one version of a dataset against those before it; the site applies this before anybody signs.

    Args:
        dataset: the new version.
        known: the site's dataset statements by digest, oldest first.
        policy: the federation's, or a stricter one.

    Raises:
        ProtocolError: BELOW_THRESHOLD or WRONG_DATASET.
    """
    if len(known) >= MAX_DATASETS:
        raise ProtocolError(
            Code.WRONG_DATASET,
            f"the site has registered {MAX_DATASETS} versions, which is the limit",
        )
    if bucket_range(dataset.units)[0] < policy.min_units:
        raise ProtocolError(
            Code.BELOW_THRESHOLD, f"a dataset of fewer than {policy.min_units} units"
        )
    differences = (dataset.added, dataset.removed, dataset.changed)
    for bucket in differences:
        if bucket and bucket_range(bucket)[0] < policy.changed_units:
            raise ProtocolError(
                Code.BELOW_THRESHOLD,
                f"a version that differs by fewer than {policy.changed_units} units",
            )
    if dataset.commitment == merkle.root([]).hex():
        raise ProtocolError(Code.WRONG_DATASET, "the commitment to no records")
    if any(dataset.commitment == other.commitment for other in known.values()):
        raise ProtocolError(Code.WRONG_DATASET, "this version is registered already")
    lineages = {other.lineage for other in known.values()}
    if dataset.lineage != dataset.commitment and dataset.lineage not in lineages:
        raise ProtocolError(
            Code.WRONG_DATASET, "lineage is neither its own commitment nor one that the log knows"
        )
    alike = [
        digest
        for digest, other in known.items()
        if (other.definition, other.lineage) == (dataset.definition, dataset.lineage)
    ]
    last = alike[-1] if alike else NONE
    # A site that was reset since may have lost its last versions: it names the last one that it knows, if any.
    was_reset = alike and known[last].header.epoch < dataset.header.epoch
    acceptable = {*alike, NONE} if was_reset else {last}
    if dataset.previous not in acceptable:
        raise ProtocolError(
            Code.WRONG_DATASET, "previous is not the last version of this benchmark and lineage"
        )
    if (dataset.previous == NONE) == any(differences):
        raise ProtocolError(
            Code.WRONG_DATASET,
            "numbers of different units without a version before, or none with one",
        )
    before = known[dataset.previous].units if dataset.previous != NONE else 0
    if max(dataset.added, dataset.changed) > dataset.units or dataset.removed > before:
        raise ProtocolError(Code.WRONG_DATASET, "more units differ than there are")


def _figures(result: ResultPredicate, scorecard: Scorecard, policy: DisclosurePolicy) -> str | None:
    """Return a fingerprint of the printed protected figures, None if they are so few that two sites may well agree.

    Figures of public benchmarks are left out: there, honest sites get the same answers from the same model.
    """
    printed = [cell for cell in scorecard.cells if cell.protected and result.cells[cell.key] >= 0]
    steps = (grid_step(bucket_range(result.groups[cell.group])[0], policy) for cell in printed)
    if math.prod(1000 // step for step in steps) < COINCIDENCE:
        return None
    figures = [[cell.key, result.groups[cell.group], result.cells[cell.key]] for cell in printed]
    return tagged_digest("figures", [result.scorecard, result.model, figures])
