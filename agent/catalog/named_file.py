"""Find the files that a definition names, and refuse private keys and files outside the permitted folders.

The text of a prompt is sent to a model server, so a definition must not be able to name arbitrary files.
"""

import re
from pathlib import Path

from agent.errors import BenchmarkError

_KEYS = "keys"
_KEY_TEXT = re.compile(rb"PRIVATE KEY|\A\s*[0-9a-fA-F]{64}\s*\Z")
KEY_TEXT_BYTES = 4096
"""The number of bytes at the beginning of a file that `refuse_key_text` needs."""


def find_named_file(name: str, folder: Path, *, absolute: bool = False) -> Path:
    """Find a file that a definition names, in the definition's folder or else (as in MedHELM) in the working directory.

    Args:
        name: the name in the definition. A relative path must not lead out of the folder, not even by a link.
        folder: the definition's folder.
        absolute: whether absolute paths are allowed, because a user named the definition.

    Returns:
        The resolved path. The file need not exist.

    Raises:
        BenchmarkError: the file is outside the folder, inside a folder named `keys`, or not a regular file.
    """
    path = Path(name)
    if path.is_absolute():
        if not absolute:
            raise BenchmarkError("expected a path relative to the definition, not an absolute path")
        resolved = path.resolve()
        refuse_keys_folder(resolved)
    else:
        if ".." in path.parts:
            raise BenchmarkError("expected a path that stays in its folder")
        root = _choose_root(path, folder).resolve()
        resolved = (root / path).resolve()
        if not resolved.is_relative_to(root):
            raise BenchmarkError(
                "is a link that leads out of its folder; replace it with a copy of the file"
            )
        refuse_keys_folder(resolved, root)
    if resolved.exists() and not resolved.is_file():
        raise BenchmarkError(f"{name!r} is not a regular file")
    return resolved


def _choose_root(path: Path, folder: Path) -> Path:
    working_directory = Path.cwd()
    # Services run in the root folder, which contains all files, so it cannot be used as a limit.
    if (folder / path).exists() or working_directory.parent == working_directory:
        return folder
    return working_directory


def refuse_keys_folder(path: Path, root: Path | None = None) -> None:
    """Refuse a file inside a folder named `keys`. For files in `root`, folders above `root` are ignored.

    Raises:
        BenchmarkError: the file is inside such a folder.
    """
    resolved = path.resolve()
    if root is not None and resolved.is_relative_to(root.resolve()):
        resolved = resolved.relative_to(root.resolve().parent)
    if any(part.casefold() == _KEYS for part in resolved.parts[:-1]):
        raise BenchmarkError(
            f"files inside a folder named {_KEYS} are never read as prompts or data"
        )


def refuse_key_text(data: bytes) -> None:
    """Refuse a file that looks like a private key.

    Raises:
        BenchmarkError: the data contains "PRIVATE KEY", or consists of 64 hexadecimal digits.
    """
    if _KEY_TEXT.search(data):
        raise BenchmarkError("looks like a private key, so it is not read")
