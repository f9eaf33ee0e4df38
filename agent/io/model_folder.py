"""The folder of a model, checked without loading it: whole files, no pickles, and one digest over them."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_LENGTH_BYTES = 8
_MAX_HEADER_LENGTH = 100_000_000  # bytes


class ModelFolderError(Exception):
    """The problem of a folder; the caller adds the setting that names it, and advice."""


def check_weights(folder: Path) -> None:
    """Refuse a folder without weights, or with a file of weights that a broken copy cut off.

    A file of safetensors begins with the length of its header (8 bytes, little-endian); the header is JSON and says
    where in the bytes after it each tensor ends.

    Raises:
        ModelFolderError: there are none, one cannot be read, or one is cut off.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        other = (
            " (weights in a .bin file are not read: a pickle can run code)"
            if any(folder.glob("*.bin"))
            else ""
        )
        raise ModelFolderError(f"it has no weights, model.safetensors{other}")
    for path in files:
        try:
            is_whole = path.stat().st_size == _read_stated_size(path)
        except OSError as error:
            raise ModelFolderError(f"{path.name} cannot be read ({error.strerror})") from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            is_whole = False  # the header is not that of safetensors
        if not is_whole:
            raise ModelFolderError(f"{path.name} is cut off or no file of safetensors")


def _read_stated_size(path: Path) -> int:
    """Return the size that a file of safetensors has by its header.

    Raises:
        OSError: it cannot be read.
        ValueError, TypeError, LookupError, AttributeError, RecursionError: it has no such header.
    """
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        if length > _MAX_HEADER_LENGTH:
            raise ValueError
        header = json.loads(file.read(length))
    ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
    size: int = _LENGTH_BYTES + length + max(ends)
    return size


@dataclass(frozen=True, slots=True)
class _Stamp:
    """A file's name, size and time: as long as they are the same, its content is taken to be."""

    name: str
    size: int
    modified_ns: int


def compute_digest(folder: Path, files: Iterable[Path]) -> str:
    """Return sha256 over the names and contents of `files` of `folder`, in hex; their order does not count.

    A file of the same size and time is read once a process.

    Raises:
        ModelFolderError: a file cannot be read.
    """
    stamps = []
    try:
        for path in sorted(files):
            status = path.stat()
            stamps.append(
                _Stamp(path.relative_to(folder).as_posix(), status.st_size, status.st_mtime_ns)
            )
    except OSError as error:
        raise ModelFolderError(f"a file of it cannot be read ({error.strerror})") from None
    return _compute_digest_once(folder, tuple(stamps))


@lru_cache(8)
def _compute_digest_once(folder: Path, stamps: tuple[_Stamp, ...]) -> str:
    digest = hashlib.sha256()
    for stamp in stamps:
        try:
            with (folder / stamp.name).open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ModelFolderError(f"{stamp.name} cannot be read ({error.strerror})") from None
        digest.update(f"{stamp.name}\0{content}\n".encode())
    return digest.hexdigest()
