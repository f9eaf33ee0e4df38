"""What the statements of a site say, as values (section 2): one class for each kind, and the header they share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

FIRST_EPOCH: Final = 1
START_SEQ: Final = 0  # an enrolment or a reset is link 0 of its epoch; the first link after it is 1
NO_LEDGER_HEAD: Final = "0" * 64  # the head of a ledger without entries

RESET_REASONS: Final = ("restored", "fork", "lost_agent_key", "lost_steward_key", "stolen_key")
ABANDON_REASONS: Final = ("not_run", "failed", "superseded")
WITHDRAW_REASONS: Final = ("data_error", "model_error", "scoring_error", "consent", "duplicate")
MODEL_ASSURANCES: Final = ("weights_hashed", "served_claimed")
ORIGINS: Final = ("official", "own")


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """How far the site's ledger of releases has come: number and link of its last entry (rule 8.5)."""

    length: int
    head: str


EMPTY_LEDGER: Final = LedgerHead(0, NO_LEDGER_HEAD)


@dataclass(frozen=True, slots=True)
class Header:
    """A link of the site's chain.

    Attributes:
        deployment: the aggregator's origin, for example `board.example`.
        site: `s-` and 8 of [0-9a-z].
        epoch, seq: place in the chain. Epochs start at 1, each with an enrolment or a reset as seq 0.
        prev: digest of the previous accepted link, 64 hex digits; `none` for the enrolment.
        registry: registry version used.
        ledger: of the site's ledger of releases, with everything that this statement says already in it.
    """

    deployment: str
    site: str
    epoch: int
    seq: int
    prev: str
    registry: int
    ledger: LedgerHead = EMPTY_LEDGER


@dataclass(frozen=True, slots=True)
class EnrollPredicate:
    """A site's two public keys (DER) and the proof that it holds the invite's token (see `protocol.enrolment`)."""

    header: Header
    agent_key: bytes
    steward_key: bytes
    token_signature: str


@dataclass(frozen=True, slots=True)
class ResetPredicate:
    """The site starts a new epoch after a roll-back, a fork or a lost key (rule 8.8).

    Attributes:
        agent_key, steward_key: DER of the two keys that sign from now on; both sign this statement. They are in force
            once the root keys have signed a registry that names this statement as the start of the site's chain.
        reason: one of RESET_REASONS.
    """

    header: Header
    agent_key: bytes
    steward_key: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class RotatePredicate:
    """One of the site's two keys is replaced: signed by both old keys and by the new one (DER)."""

    header: Header
    role: str
    new_key: bytes


@dataclass(frozen=True, slots=True)
class DatasetPredicate:
    """A frozen version of a protected dataset (rule 8.4).

    Attributes:
        definition: digest of the benchmark's definition that reads it, as in a registered scorecard.
        commitment: salted Merkle root over its records.
        lineage: commitment of the first version of its lineage; its own if it is the first.
        origin: `official` if its files are a version that the definition knows, else `own`.
        previous: digest of the dataset statement of the same definition before it, or `none`.
        units: bucket of the number of distinct units.
        added, removed, changed: buckets of the numbers of units that differ from `previous`; 0 for none.
    """

    header: Header
    definition: str
    commitment: str
    lineage: str
    origin: str
    previous: str
    units: int
    added: int
    removed: int
    changed: int


@dataclass(frozen=True, slots=True)
class PlanPredicate:
    """What the site will evaluate; its receipt gives the challenge that seeds what a run may sample.

    Attributes:
        scorecard, model, data, agent, policy: as the result will name them.
        model_assurance: `weights_hashed` or `served_claimed`.
        expires_day: last day (days since 1970-01-01 UTC) of a result under this plan.
    """

    header: Header
    scorecard: str
    model: str
    data: Mapping[str, str]
    agent: str
    policy: str
    model_assurance: str
    expires_day: int


@dataclass(frozen=True, slots=True)
class AbandonPredicate:
    """A plan, by digest, that will have no result, and why (one of ABANDON_REASONS)."""

    header: Header
    plan: str
    reason: str


@dataclass(frozen=True, slots=True)
class WithdrawPredicate:
    """An earlier result, by digest, that leaves the board while the log keeps it (one of WITHDRAW_REASONS)."""

    header: Header
    result: str
    reason: str


@dataclass(frozen=True, slots=True)
class ResultPredicate:
    """One site's figures for one model and one scorecard.

    Attributes:
        scorecard, model, agent, policy: registered digests.
        data: for each benchmark the digest of the site's dataset statement, or `none`.
        plan, challenge: digests, or `none` for an unplanned result.
        scores_root: salted Merkle root over the score records, 64 hex digits.
        day: days since 1970-01-01 UTC.
        outcome: `complete`, or `partial`: a benchmark was not run, or not on its whole data, a run stopped early, or
            more than 5 % of a benchmark's questions have no score.
        approval: `two_person`; `exception` is refused until the registry names its terms and people (rule 8.7).
        groups: group key -> bucket, 0 to 63.
        cells: cell key -> 0 to 1000, or a negative code.
        spreads: key of a non-binary cell -> 0 to 25, or -1.
    """

    header: Header
    scorecard: str
    model: str
    agent: str
    policy: str
    data: Mapping[str, str]
    plan: str
    challenge: str
    scores_root: str
    day: int
    outcome: str
    approval: str
    groups: Mapping[str, int]
    cells: Mapping[str, int]
    spreads: Mapping[str, int]


Request = EnrollPredicate | ResetPredicate | RotatePredicate
"""Statements about a site's keys: in force once the root keys have signed a registry that says so."""

Link = DatasetPredicate | PlanPredicate | AbandonPredicate | WithdrawPredicate | ResultPredicate
"""Statements that the site's agent and steward sign, and the aggregator takes by itself."""

Statement = Request | Link
