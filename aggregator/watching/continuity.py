"""Whether a log continues the one that was seen before; if not, in words, with the evidence kept and advice on it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aggregator.board.earlier_head import EarlierHead
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
STOLEN_KEY_ADVICE: Final = (
    "Keep both checkpoints. Send them to the people who hold the root keys, who declared the key stolen, and to the "
    "auditors: they find out whether the thief or the aggregator made the other history. Believe neither until then."
)


def check_continues(seen: EarlierHead, now: Checkpoint, proof: Sequence[bytes]) -> None:
    """Return if the log `now` continues the one that was `seen`.

    Args:
        seen: an earlier head of the log.
        now: the newest.
        proof: the consistency proof between them; empty where `seen` is empty or as large as `now`.

    Raises:
        BoardMismatchError: says what is wrong, and what to keep.
    """
    try:
        check_growth(seen.checkpoint, now, proof)
    except ProtocolError as error:
        raise _describe(error.code, error.detail, seen) from None


def check_root(seen: EarlierHead, now: Checkpoint, root_then: bytes | None) -> None:
    """Return if the log `now`, of which all entries are at hand, continues the one that was `seen`.

    Args:
        seen: an earlier head of the log.
        now: the newest.
        root_then: root of the first `seen.checkpoint.size` entries now; None where there are not so many.

    Raises:
        BoardMismatchError: as `check_continues`.
    """
    before = seen.checkpoint
    if before.origin != now.origin or root_then is None or before.size >= now.size:
        check_continues(seen, now, [])
    elif root_then != before.root:
        raise _describe(Code.BAD_PROOF, "", seen)


def _describe(code: Code, detail: str, seen: EarlierHead) -> BoardMismatchError:
    fault = _FAULTS[code].format(detail=detail)
    if seen.remark:
        return BoardMismatchError(f"{fault}. {seen.remark}", STOLEN_KEY_ADVICE)
    return BoardMismatchError(fault, EVIDENCE_ADVICE)


def keep_beside(
    seen: Path, digest: bytes, content: bytes, error: BoardMismatchError
) -> BoardMismatchError:
    """Keep what contradicts a file that was kept before, and return the error with the names of both.

    Args:
        seen: the file that was kept before; it stays as it is.
        digest: of that which contradicts it, for the name of the new file.
        content: of the new file.
        error: the contradiction.
    """
    beside = seen.with_name(f"{seen.name}.contradicted-by-{digest.hex()[:16]}")
    try:
        with beside.open("xb") as file:
            file.write(content)
    except FileExistsError:
        pass  # kept the last time
    except OSError as failure:
        shown = content.decode("utf-8", "replace")
        fault = f"{error}. {beside} cannot be written ({failure.strerror}); keep this yourself:\n{shown}"
        return BoardMismatchError(fault, error.advice)
    return BoardMismatchError(f"{error}. The evidence is in {seen} and {beside}", error.advice)
