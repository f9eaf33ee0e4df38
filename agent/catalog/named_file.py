"""Files that a definition names: a prompt's text goes to a model server, so none may be a key or lie elsewhere."""

import re
from pathlib import Path

from agent.errors import BenchmarkError

_KEYS = "keys"
_KEY_TEXT = re.compile(rb"PRIVATE KEY|\A\s*[0-9a-fA-F]{64}\s*\Z")
KEY_TEXT_BYTES = 4096
"""How much of a file's beginning `refuse_key_text` needs."""


def find_named_file(name: str, folder: Path, *, absolute: bool = False) -> Path:
    """Find a file that a definition in `folder` names: beside it, else (as MedHELM does) in the working directory.

    Args:
        name: as written; a path with folders may not leave the place it is looked for in, also not by a link.
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
        found = path.resolve()
        refuse_keys_folder(found)
    else:
        if ".." in path.parts:
            raise BenchmarkError("expected a path that stays in its folder")
        root = _root(path, folder).resolve()
        found = (root / path).resolve()
        if not found.is_relative_to(root):
            raise BenchmarkError("is a link out of its folder; put the file itself there")
        refuse_keys_folder(found, root)
    if found.exists() and not found.is_file():
        raise BenchmarkError(f"{name!r} is not a plain file")
    return found


def _root(path: Path, folder: Path) -> Path:
    here = Path.cwd()
    # The root of the file system, where services are started, is above everything.
    return folder if (folder / path).exists() or here.parent == here else here


def refuse_keys_folder(path: Path, root: Path | None = None) -> None:
    """Refuse a file below a folder named `keys`; within `root`, only it and the folders below it count.

    Raises:
        BenchmarkError: it is below such a folder.
    """
    found = path.resolve()
    if root is not None and found.is_relative_to(root.resolve()):
        found = found.relative_to(root.resolve().parent)
    if any(part.casefold() == _KEYS for part in found.parts[:-1]):
        raise BenchmarkError(f"files below a folder named {_KEYS} are never read as prompts or data")


def refuse_key_text(data: bytes) -> None:
    """Refuse what looks like a private key, wherever it lies.

    Raises:
        BenchmarkError: it holds the words of a PEM file, or is 64 hexadecimal digits and nothing else.
    """
    if _KEY_TEXT.search(data):
        raise BenchmarkError("looks like a private key, and is not read")
