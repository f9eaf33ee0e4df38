"""The content of a site's statements (section 2): one class for each kind, and the header that all share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

FIRST_EPOCH: Final = 1
START_SEQ: Final = 0  # an enrolment or a reset is link 0 of its epoch; the link after it is 1
NO_LEDGER_HEAD: Final = "0" * 64  # the head of a ledger without entries

RESET_REASONS: Final = ("restored", "fork", "lost_agent_key", "lost_steward_key", "stolen_key")
ABANDON_REASONS: Final = ("not_run", "failed", "superseded")
WITHDRAW_REASONS: Final = ("data_error", "model_error", "scoring_error", "consent", "duplicate")
MODEL_ASSURANCES: Final = ("weights_hashed", "served_claimed")
ORIGINS: Final = ("official", "own")


@dataclass(frozen=True, slots=True)
class LedgerHead:
    """The head of the site's ledger of releases: number and link of its last entry (rule 8.5)."""

    length: int
    head: str


EMPTY_LEDGER: Final = LedgerHead(0, NO_LEDGER_HEAD)


@dataclass(frozen=True, slots=True)
class Header:
    """The header of a statement: its position in the site's chain, and its context.

    Attributes:
        deployment: the aggregator's origin, for example `board.example`.
        site: `s-` and 8 of [0-9a-z].
        epoch, seq: position in the chain. Epochs start at 1, each with an enrolment or a reset as seq 0.
        prev: digest of the previous accepted link, 64 hex digits; `none` for the enrolment.
        registry: version of the registry used.
        ledger: head of the site's ledger of releases, which already includes the content of this statement.
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
    """The start of a new epoch after a roll-back, a fork or a lost key (rule 8.8).

    Attributes:
        agent_key, steward_key: DER of the two keys that sign from now on; both sign this statement. They come into
            force once the root keys have signed a registry that names this statement as the start of the site's chain.
        reason: one of RESET_REASONS.
    """

    header: Header
    agent_key: bytes
    steward_key: bytes
    reason: str


@dataclass(frozen=True, slots=True)
class RotatePredicate:
    """The replacement of one of the site's two keys; signed by both old keys and by the new one (DER)."""

    header: Header
    role: str
    new_key: bytes


@dataclass(frozen=True, slots=True)
class DatasetPredicate:
    """A frozen version of a protected dataset (rule 8.4).

    Attributes:
        definition: digest of the benchmark's definition that it is for, as in a registered scorecard.
        commitment: salted Merkle root over the records.
        lineage: commitment of the first version of its lineage; its own commitment if it is the first.
        origin: `official` if its files are a version listed in the definition, else `own`.
        previous: digest of the previous dataset statement for the same definition, or `none`.
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
    """A site's plan to evaluate a model. Its receipt yields the challenge that seeds what a run may sample.

    Attributes:
        scorecard, model, data, agent, policy: the values that the result will name.
        model_assurance: `weights_hashed` or `served_claimed`.
        expires_day: last day (days since 1970-01-01 UTC) for a result under this plan.
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
    """The end of a plan without a result: the plan's digest, and one of ABANDON_REASONS."""

    header: Header
    plan: str
    reason: str


@dataclass(frozen=True, slots=True)
class WithdrawPredicate:
    """The withdrawal of an earlier result from the board, while the log keeps it: its digest and a reason."""

    header: Header
    result: str
    reason: str


@dataclass(frozen=True, slots=True)
class ResultPredicate:
    """One site's figures for one model and one scorecard.

    Attributes:
        scorecard, model, agent, policy: registered digests.
        data: benchmark id -> digest of the site's dataset statement, or `none`.
        plan, challenge: digests, or `none` for an unplanned result.
        scores_root: salted Merkle root over the score records, 64 hex digits.
        day: days since 1970-01-01 UTC.
        outcome: `complete` or `partial`. A result is partial if a benchmark was not run or was run on part of its
            data, if a run stopped early, or if more than 5 % of a benchmark's questions have no score.
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
"""Statements about a site's keys. They come into force once the root keys have signed a registry that includes them."""

Link = DatasetPredicate | PlanPredicate | AbandonPredicate | WithdrawPredicate | ResultPredicate
"""Statements that the site's agent and steward sign, and that the aggregator accepts without the root keys."""

Statement = Request | Link
