"""Statements: the in-toto payloads of a site's chain (section 2). Closed schema, no free text, no float."""

from collections.abc import Mapping
from dataclasses import dataclass

STATEMENT_SCHEMA = "https://in-toto.io/Statement/v1"
ENROLL = "https://intramural.dev/enroll/v1"
RESULT = "https://intramural.dev/result/v1"

FIRST_EPOCH = 1
ENROLL_SEQ = 0  # the enrolment is link 0 of the chain; the first result is link 1


@dataclass(frozen=True, slots=True)
class Header:
    """A link of the site's chain.

    Attributes:
        deployment: the aggregator's origin, for example `board.example`.
        site: `s-` and 8 of [0-9a-z].
        epoch, seq: place in the chain; epoch starts at 1, the enrolment is seq 0.
        prev: digest of the previous accepted link, 64 hex digits; `none` for the enrolment.
        registry: registry version used.
    """

    deployment: str
    site: str
    epoch: int
    seq: int
    prev: str
    registry: int


@dataclass(frozen=True, slots=True)
class EnrollPredicate:
    """A site's two public keys (DER) and the proof that it holds the invite's token (see `protocol.enrolment`)."""

    header: Header
    agent_key: bytes
    steward_key: bytes
    token_mac: str


@dataclass(frozen=True, slots=True)
class ResultPredicate:
    """One site's figures for one model and one scorecard.

    Attributes:
        scorecard, model, agent, policy: registered digests.
        data: for each benchmark the registered commitment of the site's dataset, or `none`.
        plan, challenge: digests, or `none` for an unplanned result.
        scores_root: salted Merkle root over the score records, 64 hex digits.
        day: days since 1970-01-01 UTC.
        outcome: `complete` or `partial` (a benchmark not run, or a run that stopped early).
        approval: `two_person` or `exception`.
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


Statement = EnrollPredicate | ResultPredicate


def build_statement(predicate: Statement) -> bytes:
    """Return the canonical payload. The subject (model and scorecard, or the two keys) follows from the predicate."""
    raise NotImplementedError


def parse_statement(payload: bytes) -> Statement:
    """Read a payload: strict canonical JSON, closed schema.

    Raises:
        ProtocolError: TOO_DEEP, BAD_JSON, DUPLICATE_NAME, BAD_NUMBER, BAD_TEXT, NOT_CANONICAL, SCHEMA, WRONG_TYPE or
            WRONG_SUBJECT.
    """
    raise NotImplementedError
