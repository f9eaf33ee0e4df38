"""Read small text files that people write: definitions, prompts, run entries."""

from pathlib import Path

from agent.errors import AgentError
from agent.io.atomic_files import open_plain

_MAX_BYTES = 2**20


def read_bytes(path: Path, error: type[AgentError]) -> bytes:
    """Read a small file.

    Raises:
        AgentError: the file is missing or too large, raised as the type `error`.
    """
    try:
        with open_plain(path) as file:
            data = file.read(_MAX_BYTES + 1)
    except (OSError, ValueError) as why:
        raise error(
            f"{path}: cannot be read ({getattr(why, 'strerror', None) or 'not a path'})"
        ) from None
    if len(data) > _MAX_BYTES:
        raise error(f"{path}: is larger than {_MAX_BYTES} bytes")
    return data


def decode_text(data: bytes, path: Path, error: type[AgentError]) -> str:
    """Decode UTF-8, with or without a byte order mark; `path` is used in messages only.

    Raises:
        AgentError: a line is not UTF-8, raised as the type `error`; the message names the line.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as why:
        line = data.count(b"\n", 0, why.start) + 1
        raise error(f"{path}: line {line} is not UTF-8; save the file as UTF-8") from None
