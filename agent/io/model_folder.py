"""Check a model's folder without loading the model: complete files, no pickles, and a digest over the files."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_LENGTH_BYTES = 8
_MAX_HEADER_LENGTH = 100_000_000  # bytes


class ModelFolderError(Exception):
    """A problem with a model's folder; the caller adds advice and the name of the setting."""


def check_weights(folder: Path) -> None:
    """Refuse a folder without weights, or with a truncated file of weights.

    A safetensors file begins with the length of its header (8 bytes, little-endian). The header is JSON and contains
    the offsets of each tensor in the bytes that follow.

    Raises:
        ModelFolderError: there are no weights, or a file of weights cannot be read or is truncated.
    """
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        other = (
            " (weights in a .bin file are not read, because a pickle can run code)"
            if any(folder.glob("*.bin"))
            else ""
        )
        raise ModelFolderError(f"it has no file of weights, model.safetensors{other}")
    for path in files:
        try:
            is_whole = path.stat().st_size == _read_stated_size(path)
        except OSError as error:
            raise ModelFolderError(f"{path.name} cannot be read ({error.strerror})") from None
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            is_whole = False  # not the header of a safetensors file
        if not is_whole:
            raise ModelFolderError(f"{path.name} is truncated or not a safetensors file")


def _read_stated_size(path: Path) -> int:
    """Return the size of a safetensors file according to its header.

    Raises:
        OSError: the file cannot be read.
        ValueError, TypeError, LookupError, AttributeError, RecursionError: the file has no valid header.
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
    """A file's name and status; if nothing of it changes, the contents are assumed unchanged.

    Unlike the modification time, the time of the last change cannot be set, and another file has another number.
    """

    name: str
    size: int
    modified_ns: int
    changed_ns: int
    number: int


def compute_digest(folder: Path, files: Iterable[Path]) -> str:
    """Return the SHA-256 over the names and contents of `files` in `folder`, in hex, independent of their order.

    A file is read once per process unless it is written or replaced.

    Raises:
        ModelFolderError: a file cannot be read.
    """
    stamps = []
    try:
        for path in sorted(files):
            status = path.stat()
            stamps.append(
                _Stamp(
                    path.relative_to(folder).as_posix(),
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                    status.st_ino,
                )
            )
    except OSError as error:
        raise ModelFolderError(f"one of its files cannot be read ({error.strerror})") from None
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
