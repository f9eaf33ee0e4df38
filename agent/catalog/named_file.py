"""Files that a definition names: a prompt's text goes to a model server, so none may be a key or lie elsewhere."""

import re
from pathlib import Path

from agent.errors import BenchmarkError

_KEYS = "keys"
_KEY_TEXT = re.compile(rb"PRIVATE KEY|\A\s*[0-9a-fA-F]{64}\s*\Z")
KEY_TEXT_BYTES = 4096
"""Bytes of a file's beginning that `refuse_key_text` needs."""


def find_named_file(name: str, folder: Path, *, absolute: bool = False) -> Path:
    """Find a file that a definition in `folder` names: beside it, else (as MedHELM does) in the working directory.

    Args:
        name: as written; a path with folders may not leave the folder it is looked for in, also not by a link.
        folder: where the definition lies.
        absolute: whether an absolute path may name a file anywhere, because a user named the definition.

    Returns:
        The resolved path. The file need not exist.

    Raises:
        BenchmarkError: it lies outside, below a folder named `keys`, or is no plain file.
    """
    path = Path(name)
    if path.is_absolute():
        if not absolute:
            raise BenchmarkError("expected a path beside the definition, not an absolute one")
        resolved = path.resolve()
        refuse_keys_folder(resolved)
    else:
        if ".." in path.parts:
            raise BenchmarkError("expected a path that stays in its folder")
        root = _choose_root(path, folder).resolve()
        resolved = (root / path).resolve()
        if not resolved.is_relative_to(root):
            raise BenchmarkError(
                "is a link to a file outside its folder; copy the file itself there"
            )
        refuse_keys_folder(resolved, root)
    if resolved.exists() and not resolved.is_file():
        raise BenchmarkError(f"{name!r} is not a plain file")
    return resolved


def _choose_root(path: Path, folder: Path) -> Path:
    working_directory = Path.cwd()
    # Services are started in the root of the file system, which has every file below it.
    if (folder / path).exists() or working_directory.parent == working_directory:
        return folder
    return working_directory


def refuse_keys_folder(path: Path, root: Path | None = None) -> None:
    """Refuse a file below a folder named `keys`; within `root`, only it and the folders below it count.

    Raises:
        BenchmarkError: it is below such a folder.
    """
    resolved = path.resolve()
    if root is not None and resolved.is_relative_to(root.resolve()):
        resolved = resolved.relative_to(root.resolve().parent)
    if any(part.casefold() == _KEYS for part in resolved.parts[:-1]):
        raise BenchmarkError(
            f"files below a folder named {_KEYS} are never read as prompts or data"
        )


def refuse_key_text(data: bytes) -> None:
    """Refuse a file that looks like a private key.

    Raises:
        BenchmarkError: it holds the words of a PEM file, or is 64 hexadecimal digits and nothing else.
    """
    if _KEY_TEXT.search(data):
        raise BenchmarkError("looks like a private key, and is not read")
