"""The folder of a model, looked at without loading it: whole files, no pickles, and one digest over them."""

import hashlib
import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path


class ModelFolderError(Exception):
    """What is wrong with a folder. Whoever opens it says for which setting, and what to do."""


def check_weights(folder: Path) -> None:
    """Find files of weights that a broken copy cut off before hours of work rest on them.

    A file of safetensors begins with the length of its header (8 bytes, little-endian); the header is JSON and says
    where in the rest each tensor ends.

    Raises:
        ModelFolderError: there are none, one cannot be read, or one is cut off.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        other = " (weights in a .bin file are not read: a pickle can run code)" if any(folder.glob("*.bin")) else ""
        raise ModelFolderError(f"it has no weights, model.safetensors{other}")
    for path in files:
        try:
            size = path.stat().st_size
            with path.open("rb") as file:
                length = int.from_bytes(file.read(8), "little")
                header = json.loads(file.read(length) if length <= min(size, 100_000_000) else b"")
            ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
            whole = 8 + length + max(ends) == size
        except OSError as error:
            raise ModelFolderError(f"{path.name} cannot be read ({error.strerror})") from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            whole = False
        if not whole:
            raise ModelFolderError(f"{path.name} is cut off or no file of safetensors")


def digest_of(folder: Path, files: Iterable[Path]) -> str:
    """Return sha256 over the names and contents of `files` of `folder`, in hex, whatever their order.

    A file of the same size and time is read once a process.

    Raises:
        ModelFolderError: a file cannot be read.
    """
    try:
        stamps = tuple(
            (path.relative_to(folder).as_posix(), path.stat().st_size, path.stat().st_mtime_ns)
            for path in sorted(files)
        )
    except OSError as error:
        raise ModelFolderError(f"a file of it cannot be read ({error.strerror})") from None
    return _digest(folder, stamps)


@lru_cache(8)
def _digest(folder: Path, stamps: tuple[tuple[str, int, int], ...]) -> str:
    whole = hashlib.sha256()
    for name, _, _ in stamps:
        try:
            with (folder / name).open("rb") as file:
                whole.update(f"{name}\0{hashlib.file_digest(file, 'sha256').hexdigest()}\n".encode())
        except OSError as error:
            raise ModelFolderError(f"{name} cannot be read ({error.strerror})") from None
    return whole.hexdigest()
