"""The verification of a link of a site's chain, check by check (section 4).

Pure: the aggregator provides the state and appends the link. Requests about keys (enrolment, reset, rotation) are
verified in `protocol.enrolment` and `protocol.rekeying`.
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

# Days; a result may be from today or the 127 days before, and a plan may last as long.
DAY_WINDOW = 128
# Dataset versions per site, enough for 37 benchmarks every month for eleven years. Each makes later checks slower.
MAX_DATASETS = 5_000
# Protected figures with fewer possible outcomes than this may be equal by chance.
COINCIDENCE = 2**32


@dataclass(frozen=True, slots=True)
class Authentic:
    """An envelope signed by the agent and the steward of one site. Its payload has not been parsed yet.

    If `digest` is already in the log, no further check is needed: the answer is the same receipt again.
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
    """A plan in the log; `is_open` is true until it has a result or is abandoned."""

    predicate: PlanPredicate
    challenge: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class History:
    """The aggregator's state when a link arrives. It must be read in the transaction that appends the link.

    Attributes:
        head: last link of this site in its current epoch; None if there is only the epoch's start.
        frozen: whether a fork in the current epoch froze the site.
        ledger: the ledger's head, as in the site's newest statement of any kind.
        roots: every scores_root that was accepted from any site and not withdrawn.
        figures: `Accepted.figures` of the other sites' results, without None.
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
        scorecard: the scorecard of a result or plan; None for other kinds.
        figures: fingerprint of a result's protected figures, to recognise a copy; None if there are too few figures.
    """

    digest: str
    leaf: bytes
    site: str
    statement: Link
    head: ChainHead
    scorecard: Scorecard | None = None
    figures: str | None = None


def authenticate(data: bytes, registry: Registry, *, log_index: int) -> Authentic:
    """Do the first half of the verification: the checks from the file's size to the signatures.

    Exactly one agent and one steward of one site must have signed, with keys valid at `log_index`.

    Args:
        data: the envelope file as received; the caller stops reading after MAX_BYTES + 1.
        registry: the newest registry.
        log_index: the index that the link would get (the log's size).

    Raises:
        ProtocolError: only MALFORMED, UNKNOWN_KEY or BAD_SIGNATURE.
    """
    return authenticate_envelope(decode(data), registry, log_index=log_index)


def authenticate_envelope(envelope: Envelope, registry: Registry, *, log_index: int) -> Authentic:
    """Do the same as `authenticate` for an envelope that `decode` returned. Raises UNKNOWN_KEY or BAD_SIGNATURE."""
    signers = _find_signers(envelope, registry, log_index)
    envelope.verify({key.keyid: key for _, _, key in signers})
    return Authentic(envelope, signers[0][0], envelope.digest)


def check_signers(authentic: Authentic, registry: Registry, *, log_index: int) -> None:
    """Check that the signers of an authenticated envelope may still sign, under this registry and for this log entry.

    The signatures need not be verified again: they do not depend on the registry, as a key id identifies one key.

    Args:
        authentic: from `authenticate`, with any registry.
        registry: the newest registry.
        log_index: the index that the link would get.

    Raises:
        ProtocolError: UNKNOWN_KEY.
    """
    signers = _find_signers(authentic.envelope, registry, log_index)
    if signers[0][0] != authentic.site:
        raise ProtocolError(Code.UNKNOWN_KEY, "the keys now belong to another site")


def _find_signers(
    envelope: Envelope, registry: Registry, log_index: int
) -> list[tuple[str, Role, PublicKey]]:
    """Return site, role and key of each signature; raise unless they are one agent and one steward of one site."""
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
    """Do the second half of the verification: the checks from the payload's depth to the chain.

    After a FORK error, the caller keeps both payloads and freezes the site.

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
            "a request about keys is not appended as a link; the root keys decide on it",
        )
    header = statement.header
    if header.site != authentic.site:
        raise ProtocolError(
            Code.WRONG_SITE, f"the statement is from {header.site}, but signed by {authentic.site}"
        )
    check_context(header, registry)
    if _is_place_taken(header, registry, history):
        # Check for a fork before the content; otherwise a second payload with another fault would leave no evidence.
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
                    Code.UNKNOWN_RESULT,
                    "the withdrawal names a result that this site never submitted or already withdrew",
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
    """Check that a statement is meant for this aggregator and was made with a sufficiently new registry.

    Raises:
        ProtocolError: WRONG_DEPLOYMENT or WRONG_REGISTRY.
    """
    if header.deployment != registry.deployment:
        raise ProtocolError(
            Code.WRONG_DEPLOYMENT,
            f"the statement is meant for {header.deployment}, not for {registry.deployment}",
        )
    if not 0 <= registry.version - header.registry < ACCEPTED_VERSIONS:
        raise ProtocolError(
            Code.WRONG_REGISTRY,
            f"the statement names registry version {header.registry}; the newest is {registry.version}",
        )


def check_chain(header: Header, registry: Registry, history: History) -> None:
    """Check that a link continues the last accepted one, and that its ledger continues the last known one.

    Raises:
        ProtocolError: SITE_FROZEN, WRONG_EPOCH, FORK, WRONG_SEQ, WRONG_PREV or LEDGER_ROLLED_BACK.
    """
    if history.frozen:
        raise ProtocolError(Code.SITE_FROZEN, f"{header.site} is frozen after a fork")
    head = _chain_head(header.site, registry, history)
    if header.epoch != head.epoch:
        raise ProtocolError(Code.WRONG_EPOCH, f"epoch {header.epoch}; expected {head.epoch}")
    if header.seq <= head.seq:
        raise ProtocolError(Code.FORK, f"another payload already has seq {header.seq}")
    if header.seq != head.seq + 1:
        raise ProtocolError(Code.WRONG_SEQ, f"seq {header.seq}; expected {head.seq + 1}")
    if header.prev != head.digest:
        raise ProtocolError(Code.WRONG_PREV, "prev does not name the last accepted link")
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
        raise ProtocolError(
            Code.LEDGER_ROLLED_BACK,
            f"the ledger has {new.length} entries, but it had {known.length} before",
        )
    if new.length == known.length and new.head != known.head:
        raise ProtocolError(
            Code.LEDGER_ROLLED_BACK, f"there are two ledgers of {new.length} entries"
        )


def plan_challenge(deployment: str, log_index: int, log_root: bytes, plan: str) -> str:
    """Return the challenge that a plan's receipt yields, 64 hex digits; it is unknown until the plan is in the log.

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
        raise ProtocolError(
            Code.WRONG_DAY, f"the result is of day {result.day}, but today is day {today_day}"
        )
    if result.approval != "two_person":
        raise ProtocolError(
            Code.NO_EXCEPTIONS,
            "the registry names no terms for exceptions and nobody who may grant them",
        )
    policy = registry.policy_for(result.policy)
    check_result(result, scorecard, policy)
    for entry in scorecard.benchmarks:
        _check_data(result, entry, scorecard, history)
    if result.scores_root == merkle.root([]).hex() or result.scores_root in history.roots:
        raise ProtocolError(
            Code.WRONG_ROOT, "scores_root is that of an empty tree, or was reported before"
        )
    figures = _figures(result, scorecard, policy)
    if figures is not None and figures in history.figures:
        raise ProtocolError(
            Code.COPIED_RESULT, "the protected figures are the same as another site's"
        )
    return scorecard, figures


def _check_named(statement: PlanPredicate | ResultPredicate, registry: Registry) -> Scorecard:
    """Check that every digest in a statement is registered; return the scorecard."""
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
        raise ProtocolError(Code.WRONG_CELLS, "data: the keys are not the scorecard's benchmarks")
    return registered.scorecard


def _check_data(
    result: ResultPredicate, entry: BenchmarkEntry, scorecard: Scorecard, history: History
) -> None:
    """Check that a benchmark names a registered dataset if and only if it has protected figures (rule 8.4)."""
    cells = scorecard.cells_of_benchmark(entry.id)
    was_run = any(result.cells[cell.key] != NOT_RUN for cell in cells)
    needs_dataset = was_run and entry.id in scorecard.protected_benchmarks
    named = result.data[entry.id]
    if not needs_dataset:
        if named != NONE:
            raise ProtocolError(
                Code.WRONG_DATASET,
                f"{entry.id} names a dataset, but has no protected figure from it",
            )
        return
    dataset = _known_dataset(named, entry, history)
    if result.groups[entry.id] > dataset.units:
        raise ProtocolError(
            Code.WRONG_GROUPS, f"{entry.id} reports more units than its dataset has"
        )


def _known_dataset(digest: str, entry: BenchmarkEntry, history: History) -> DatasetPredicate:
    dataset = history.datasets.get(digest)
    if dataset is None:
        raise ProtocolError(
            Code.UNKNOWN_DATASET, f"{entry.id} names a dataset that this site never registered"
        )
    if dataset.definition != entry.definition:
        raise ProtocolError(
            Code.WRONG_DATASET, f"{entry.id}: the dataset belongs to another benchmark"
        )
    return dataset


def _check_plan(
    plan: PlanPredicate, registry: Registry, history: History, today_day: int
) -> Scorecard:
    scorecard = _check_named(plan, registry)
    if not 0 <= plan.expires_day - today_day < DAY_WINDOW:
        raise ProtocolError(
            Code.WRONG_DAY, f"the plan ends on day {plan.expires_day}, but today is day {today_day}"
        )
    for entry in scorecard.benchmarks:
        named = plan.data[entry.id]
        if named == NONE:
            continue
        if entry.id not in scorecard.protected_benchmarks:
            raise ProtocolError(
                Code.WRONG_DATASET, f"{entry.id} names a dataset, but the benchmark is public"
            )
        _known_dataset(named, entry, history)
    return scorecard


def _check_planned(result: ResultPredicate, history: History) -> None:
    """Check a result against the plan it names, if it names one."""
    if result.plan == NONE:
        if result.challenge != NONE:
            raise ProtocolError(Code.WRONG_PLAN, "the result has a challenge but no plan")
        return
    plan = _open_plan(result.plan, history)
    promised = plan.predicate
    said = (result.scorecard, result.model, result.agent, result.policy)
    if said != (promised.scorecard, promised.model, promised.agent, promised.policy):
        raise ProtocolError(
            Code.WRONG_PLAN, "the scorecard, model, agent or policy differs from the plan's"
        )
    if any(
        named not in (NONE, promised.data[benchmark]) for benchmark, named in result.data.items()
    ):
        raise ProtocolError(Code.WRONG_PLAN, "a dataset differs from the plan's")
    if result.challenge != plan.challenge:
        raise ProtocolError(Code.WRONG_PLAN, "the challenge is not the plan's")
    if result.day > promised.expires_day:
        raise ProtocolError(
            Code.PLAN_EXPIRED,
            f"the result is of day {result.day}, but its plan ended on day {promised.expires_day}",
        )


def _open_plan(digest: str, history: History) -> KnownPlan:
    plan = history.plans.get(digest)
    if plan is None:
        raise ProtocolError(
            Code.UNKNOWN_PLAN, "the log has no plan from this site with this digest"
        )
    if not plan.is_open:
        raise ProtocolError(Code.PLAN_USED, "the plan already has a result, or was abandoned")
    return plan


def _check_dataset(dataset: DatasetPredicate, registry: Registry, history: History) -> None:
    """Check a dataset version against the registry and earlier versions."""
    check_dataset_size(dataset, registry)
    check_dataset_version(dataset, history.datasets, registry.policies[registry.policy_floor])


def check_dataset_size(dataset: DatasetPredicate, registry: Registry) -> None:
    """Check that a scorecard accepts figures from a dataset, and that it does not exceed its published size (rule 8.6).

    The site applies this before anyone signs.

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
            "no scorecard has a gated or private benchmark with this definition",
        )
    # Scorecards may disagree, since a later one may correct a size. The largest applies, unless one gives no size.
    size = 0 if any(not entry.units for entry in entries) else max(entry.units for entry in entries)
    if is_too_large(dataset.units, size):
        raise ProtocolError(
            Code.WRONG_DATASET,
            f"the dataset has at least {bucket_range(dataset.units)[0]} units, which "
            f"exceeds the published size of {size} units",
        )


def _protected_entries(scorecard: Scorecard) -> list[BenchmarkEntry]:
    protected = {cell.benchmark for cell in scorecard.cells if cell.protected}
    return [entry for entry in scorecard.benchmarks if entry.id in protected]


def check_dataset_version(
    dataset: DatasetPredicate, known: Mapping[str, DatasetPredicate], policy: DisclosurePolicy
) -> None:
    """Check one version of a dataset against earlier versions; the site applies this before anyone signs.

    Args:
        dataset: the new version.
        known: the site's dataset statements by digest, oldest first.
        policy: the federation's policy, or a stricter one.

    Raises:
        ProtocolError: BELOW_THRESHOLD or WRONG_DATASET.
    """
    if len(known) >= MAX_DATASETS:
        raise ProtocolError(
            Code.WRONG_DATASET,
            f"the site has already registered {MAX_DATASETS} versions, the maximum",
        )
    if bucket_range(dataset.units)[0] < policy.min_units:
        raise ProtocolError(
            Code.BELOW_THRESHOLD, f"the dataset has fewer than {policy.min_units} units"
        )
    differences = (dataset.added, dataset.removed, dataset.changed)
    for bucket in differences:
        if bucket and bucket_range(bucket)[0] < policy.changed_units:
            raise ProtocolError(
                Code.BELOW_THRESHOLD,
                f"the version differs from the previous one by fewer than {policy.changed_units} units",
            )
    if dataset.commitment == merkle.root([]).hex():
        raise ProtocolError(Code.WRONG_DATASET, "the commitment is to an empty dataset")
    if any(dataset.commitment == other.commitment for other in known.values()):
        raise ProtocolError(Code.WRONG_DATASET, "this version is already registered")
    lineages = {other.lineage for other in known.values()}
    if dataset.lineage != dataset.commitment and dataset.lineage not in lineages:
        raise ProtocolError(
            Code.WRONG_DATASET,
            "the lineage is neither the dataset's own commitment nor one in the log",
        )
    alike = [
        digest
        for digest, other in known.items()
        if (other.definition, other.lineage) == (dataset.definition, dataset.lineage)
    ]
    last = alike[-1] if alike else NONE
    # A site that was reset may have lost its latest versions; it names the last version that it knows, if any.
    was_reset = alike and known[last].header.epoch < dataset.header.epoch
    acceptable = {*alike, NONE} if was_reset else {last}
    if dataset.previous not in acceptable:
        raise ProtocolError(
            Code.WRONG_DATASET,
            "previous does not name the latest version for this benchmark and lineage",
        )
    if (dataset.previous == NONE) == any(differences):
        raise ProtocolError(
            Code.WRONG_DATASET,
            "expected numbers of differing units if, and only if, the statement names a previous version",
        )
    before = known[dataset.previous].units if dataset.previous != NONE else 0
    if max(dataset.added, dataset.changed) > dataset.units or dataset.removed > before:
        raise ProtocolError(Code.WRONG_DATASET, "more units differ than the datasets have")


def _figures(result: ResultPredicate, scorecard: Scorecard, policy: DisclosurePolicy) -> str | None:
    """Return a fingerprint of the printed protected figures; None if there are so few that two sites may well agree.

    Figures of public benchmarks are left out, since honest sites get the same answers there from the same model.
    """
    printed = [cell for cell in scorecard.cells if cell.protected and result.cells[cell.key] >= 0]
    steps = (grid_step(bucket_range(result.groups[cell.group])[0], policy) for cell in printed)
    if math.prod(1000 // step for step in steps) < COINCIDENCE:
        return None
    figures = [[cell.key, result.groups[cell.group], result.cells[cell.key]] for cell in printed]
    return tagged_digest("figures", [result.scorecard, result.model, figures])
