"""Checks whether a log continues the one seen before. If not, the error explains it and the evidence is stored."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from aggregator.board.earlier_head import EarlierHead
from aggregator.errors import BoardMismatchError
from protocol.checkpoint import Checkpoint, check_growth
from protocol.errors import Code, ProtocolError

_FAULTS: Final = {
    Code.WRONG_ORIGIN: "the log belongs to another deployment: {detail}",
    Code.LOG_SHRANK: "the log has shrunk {detail}: earlier entries are missing",
    Code.SPLIT_VIEW: "the log shows different readers different entries: {detail}",
    Code.BAD_PROOF: "the log does not continue the log seen before: entries were changed",
}
EVIDENCE_ADVICE: Final = (
    "Keep both checkpoints as evidence, because both are signed with the log's key. Inform the people who run "
    "the aggregator, its sites and its auditors, and trust neither history until they have explained it."
)
STOLEN_KEY_ADVICE: Final = (
    "Keep both checkpoints. Send them to the people who hold the root keys, who declared the key stolen, and to the "
    "auditors, who must find out whether the thief or the aggregator produced the other history. Trust neither until "
    "then."
)


def check_continues(seen: EarlierHead, now: Checkpoint, proof: Sequence[bytes]) -> None:
    """Check that the log `now` continues the `seen` one.

    Args:
        seen: An earlier head of the log.
        now: The newest head.
        proof: The consistency proof between them, which is empty if `seen` is empty or as large as `now`.

    Raises:
        BoardMismatchError: `now` does not continue `seen`; the message names the problem and the evidence to keep.
    """
    try:
        check_growth(seen.checkpoint, now, proof)
    except ProtocolError as error:
        raise _describe(error.code, error.detail, seen) from None


def check_root(seen: EarlierHead, now: Checkpoint, root_then: bytes | None) -> None:
    """Check that the log `now`, with all its entries available, continues the `seen` one.

    Args:
        seen: An earlier head of the log.
        now: The newest head.
        root_then: Current root of the first `seen.checkpoint.size` entries; None if there are fewer.

    Raises:
        BoardMismatchError: as for `check_continues`.
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
    """Store evidence that contradicts an earlier file. Return the error with the names of both files.

    Args:
        seen: The earlier file, which is not changed.
        digest: Digest of the contradicting evidence, used in the new file's name.
        content: Content of the new file.
        error: The error that describes the contradiction.
    """
    beside = seen.with_name(f"{seen.name}.contradicted-by-{digest.hex()[:16]}")
    try:
        with beside.open("xb") as file:
            file.write(content)
    except FileExistsError:
        pass  # stored by an earlier run
    except OSError as failure:
        shown = content.decode("utf-8", "replace")
        fault = f"{error}. {beside} cannot be written ({failure.strerror}). Keep this yourself:\n{shown}"
        return BoardMismatchError(fault, error.advice)
    return BoardMismatchError(f"{error}. The evidence is in {seen} and {beside}", error.advice)
