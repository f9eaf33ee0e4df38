"""The order in which a submission is verified (section 4). Pure: the aggregator brings the state and appends."""

import math
from collections.abc import Container
from dataclasses import dataclass

from protocol import merkle
from protocol.disclosure import check_result
from protocol.envelope import Envelope, decode
from protocol.errors import Code, ProtocolError
from protocol.identity import NONE, tagged_digest
from protocol.keys import PublicKey
from protocol.policy import DisclosurePolicy, bucket_range, grid_step
from protocol.registry import ACCEPTED_VERSIONS, Registry, Role
from protocol.scorecard import Scorecard
from protocol.statements import ENROLL_SEQ, FIRST_EPOCH, ResultPredicate, parse_statement

DAY_WINDOW = 128  # days: a result may be from today or the 127 days before
COINCIDENCE = 2**32  # protected figures that could have come out in fewer ways than this may be equal by chance


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
class History:
    """What the aggregator knows when the submission arrives; to be read in the transaction that appends.

    Attributes:
        head: last link of this site, None if only its enrolment exists.
        frozen: whether a fork froze the site.
        roots: every scores_root accepted from other sites.
        figures: `Accepted.figures` of the other sites' results (None left out).
    """

    head: ChainHead | None
    frozen: bool = False
    roots: Container[str] = ()
    figures: Container[str] = ()


@dataclass(frozen=True, slots=True)
class Accepted:
    """A submission that may be appended.

    Attributes:
        leaf: the PAE, to be hashed as the log's next leaf.
        head: the site's new chain head.
        figures: fingerprint of the protected figures, to recognise a copied result; None if there are too few to tell.
    """

    digest: str
    leaf: bytes
    site: str
    result: ResultPredicate
    scorecard: Scorecard
    head: ChainHead
    figures: str | None


def authenticate(data: bytes, registry: Registry, *, log_index: int) -> Authentic:
    """First half: size to signatures. Exactly one agent and one steward of one site, both valid at `log_index`.

    Args:
        data: the envelope file as received; the caller stops reading after MAX_BYTES + 1.
        registry: the newest registry.
        log_index: the index the submission would get (the log's size).

    Raises:
        ProtocolError: only MALFORMED, UNKNOWN_KEY or BAD_SIGNATURE.
    """
    envelope = decode(data)
    signers = [_signer(signature.keyid, registry, log_index) for signature in envelope.signatures]
    sites = {site for site, _, _ in signers}
    if len(sites) != 1 or sorted(role for _, role, _ in signers) != ["agent", "steward"]:
        raise ProtocolError(Code.UNKNOWN_KEY, "expected one agent and one steward of one site")
    envelope.verify({key.keyid: key for _, _, key in signers})
    return Authentic(envelope, sites.pop(), envelope.digest)


def _signer(keyid: str, registry: Registry, log_index: int) -> tuple[str, Role, PublicKey]:
    found = registry.site_of(keyid)
    if found is None:
        raise ProtocolError(Code.UNKNOWN_KEY, f"no site has key {keyid}")
    site, entry = found
    if not entry.valid_at(log_index):
        raise ProtocolError(Code.UNKNOWN_KEY, f"key {keyid} of {site} may not sign entry {log_index}")
    return site, entry.role, entry.key


def verify_submission(authentic: Authentic, registry: Registry, history: History, *, today_day: int) -> Accepted:
    """Second half: depth to chain. A FORK means: keep both payloads and freeze the site.

    Args:
        authentic: from `authenticate`, and not yet in the log.
        registry: the same registry.
        history: the state before this submission.
        today_day: days since 1970-01-01 UTC.

    Raises:
        ProtocolError: the code of the first check that fails.
    """
    result = parse_statement(authentic.envelope.payload)
    if not isinstance(result, ResultPredicate):
        raise ProtocolError(Code.WRONG_TYPE, "expected result/v1")
    if result.header.site != authentic.site:
        raise ProtocolError(Code.WRONG_SITE, f"signed by {authentic.site}")
    scorecard = _check_references(result, registry, today_day)
    policy = registry.policy_for(result.policy)
    check_result(result, scorecard, policy)
    if result.scores_root == merkle.root([]).hex() or result.scores_root in history.roots:
        raise ProtocolError(Code.WRONG_ROOT, "scores_root of no records, or of another site")
    figures = _figures(result, scorecard, policy)
    if figures is not None and figures in history.figures:
        raise ProtocolError(Code.COPIED_RESULT, "the protected figures are those of another site")
    _check_chain(result, registry, history)
    if (result.plan, result.challenge) != (NONE, NONE):
        raise ProtocolError(Code.UNKNOWN_PLAN, "no plan of this site is in the log")
    return Accepted(
        digest=authentic.digest,
        leaf=authentic.envelope.pae,
        site=authentic.site,
        result=result,
        scorecard=scorecard,
        head=ChainHead(result.header.epoch, result.header.seq, authentic.digest),
        figures=figures,
    )


def _check_references(result: ResultPredicate, registry: Registry, today_day: int) -> Scorecard:
    """Check deployment, registry version, digests and day; return the scorecard."""
    header = result.header
    if header.deployment != registry.deployment:
        raise ProtocolError(Code.WRONG_DEPLOYMENT, f"meant for {header.deployment}, this is {registry.deployment}")
    if not 0 <= registry.version - header.registry < ACCEPTED_VERSIONS:
        raise ProtocolError(Code.WRONG_REGISTRY, f"made with version {header.registry}, now {registry.version}")
    registered = registry.scorecards.get(result.scorecard)
    if registered is None:
        raise ProtocolError(Code.UNKNOWN_SCORECARD, result.scorecard)
    if registered.retired:
        raise ProtocolError(Code.RETIRED_SCORECARD, result.scorecard)
    if result.model not in registry.models:
        raise ProtocolError(Code.UNKNOWN_MODEL, result.model)
    if result.agent not in registry.agents:
        raise ProtocolError(Code.UNKNOWN_AGENT, result.agent)
    if any(commitment != NONE for commitment in result.data.values()):
        raise ProtocolError(Code.UNKNOWN_DATASET, "no dataset commitment is registered for this site")
    if not 0 <= today_day - result.day < DAY_WINDOW:
        raise ProtocolError(Code.WRONG_DAY, f"day {result.day}, today is {today_day}")
    return registered.scorecard


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


def _check_chain(result: ResultPredicate, registry: Registry, history: History) -> None:
    header = result.header
    if history.frozen:
        raise ProtocolError(Code.SITE_FROZEN, f"{header.site} is frozen after a fork")
    head = history.head or ChainHead(FIRST_EPOCH, ENROLL_SEQ, registry.sites[header.site].enrolment)
    if header.epoch != head.epoch:
        raise ProtocolError(Code.WRONG_EPOCH, f"epoch {header.epoch}; expected {head.epoch}")
    if header.seq <= head.seq:
        raise ProtocolError(Code.FORK, f"seq {header.seq} is taken by another payload")
    if header.seq != head.seq + 1:
        raise ProtocolError(Code.WRONG_SEQ, f"seq {header.seq}; expected {head.seq + 1}")
    if header.prev != head.digest:
        raise ProtocolError(Code.WRONG_PREV, "prev is not the last accepted link")
