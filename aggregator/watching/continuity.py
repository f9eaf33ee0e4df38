"""Whether a log continues the one that was seen before; if not, in words, with advice on evidence."""

from collections.abc import Sequence
from typing import Final

from aggregator.errors import BoardMismatchError
from protocol.checkpoint import Checkpoint, check_growth
from protocol.errors import Code, ProtocolError

_FAULTS: Final = {
    Code.WRONG_ORIGIN: "the log is another one: {detail}",
    Code.LOG_SHRANK: "the log has shrunk {detail}: entries that were there before are gone",
    Code.SPLIT_VIEW: "the log shows different readers different entries: {detail}",
    Code.BAD_PROOF: "the log does not continue the one that was seen before: entries were changed",
}
EVIDENCE_ADVICE: Final = (
    "Keep both checkpoints: the log's key has signed them, so together they prove it. Tell the people who run the "
    "aggregator, its sites and its auditors, and believe neither history until they have explained it."
)


def check_continues(seen: Checkpoint, now: Checkpoint, proof: Sequence[bytes]) -> None:
    """Return if the log `now` continues the one that was `seen`.

    Args:
        seen: an earlier head of the log.
        now: the newest.
        proof: the consistency proof between them; empty where `seen` is empty or as large as `now`.

    Raises:
        BoardMismatchError: says what is wrong, and what to keep.
    """
    try:
        check_growth(seen, now, proof)
    except ProtocolError as error:
        fault = _FAULTS[error.code].format(detail=error.detail)
        raise BoardMismatchError(fault, EVIDENCE_ADVICE) from None


def check_root(seen: Checkpoint, now: Checkpoint, root_then: bytes | None) -> None:
    """Return if the log `now`, of which all entries are at hand, continues the one that was `seen`.

    Args:
        seen: an earlier head of the log.
        now: the newest.
        root_then: root of the first `seen.size` entries now; None where there are not so many.

    Raises:
        BoardMismatchError: as `check_continues`.
    """
    if seen.origin != now.origin or root_then is None or seen.size >= now.size:
        check_continues(seen, now, [])
    elif root_then != seen.root:
        raise BoardMismatchError(_FAULTS[Code.BAD_PROOF], EVIDENCE_ADVICE)
