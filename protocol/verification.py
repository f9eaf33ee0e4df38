"""The order in which a submission is verified (section 4). Pure: the aggregator brings the state and appends."""

from collections.abc import Container
from dataclasses import dataclass

from protocol.envelope import Envelope
from protocol.registry import Registry
from protocol.scorecard import Scorecard
from protocol.statements import ResultPredicate

DAY_WINDOW = 128  # days: a result may be from today or the 127 days before


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
        roots: every scores_root accepted so far, of any site.
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
    raise NotImplementedError


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
    raise NotImplementedError
