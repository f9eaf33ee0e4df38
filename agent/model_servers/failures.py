"""Say in plain words why an engine did not start, from what it wrote to its log before it served anything."""

import re
from pathlib import Path

from agent.io.plain_text import printable

_TAIL = 200_000  # bytes
_SHOWN = 200  # characters of a line
_ENDED = re.compile(r"^guardian: the engine ended with status (-?\d+)$", re.MULTILINE)
_CAUSES = (
    (
        re.compile(r"file bounds|corrupted or incomplete|truncated"),
        "the file of the weights is truncated",
    ),
    (
        re.compile(r"(?i)address already in use|couldn't bind|bind.*failed"),
        "its port was taken by another program",
    ),
    (
        re.compile(
            r"(?i)out of memory|insufficient memory|failed to allocate|cannot allocate|unable to allocate|bad_alloc"
            r"|MemoryError|mem_buffer != NULL"
        ),
        "there is too little memory",
    ),
    (
        re.compile(r"(?i)failed to initialize chat template|chat template parsing error"),
        "the engine cannot read the chat template",
    ),
    (
        re.compile(r"(?i)unknown model architecture|not supported for now"),
        "the engine does not know this kind of model",
    ),
)
_NO_REASON = re.compile(r"^guardian:|^\s*$|^Traceback|^  ")


def explain_failure(log: Path) -> str | None:
    """Return why the engine ended, or None if it has not ended."""
    try:
        text = log.read_bytes()[-_TAIL:].decode("utf-8", "replace")
    except OSError:
        return None
    ended = _ENDED.search(text)
    if ended is None:
        return None
    before = text[: ended.start()]
    for pattern, cause in _CAUSES:
        if pattern.search(before):
            return cause
    if ended[1] == "-9":
        return "it was killed, which the system does if there is too little memory"
    lines = [line for line in before.splitlines() if not _NO_REASON.search(line)]
    return printable(lines[-1])[:_SHOWN] if lines else f"it ended with status {ended[1]}"
