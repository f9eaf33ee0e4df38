"""A file of JSON values and arrays of numbers, with a digest that tells a damaged one. Nothing in it is ever run."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy

from aggregator.merge.stored_federation import Array

_TYPES: Final = ("|b1", "|u1", "|i1", "<i2", "<i4", "<i8")
_DIGEST: Final = 64  # hexadecimal digits
_SIGNED: Final = (numpy.int8, numpy.int16, numpy.int32)


class DamagedFileError(ValueError):
    """The bytes are not those of a file that was written here."""


def write_array_file(path: Path, values: object, arrays: Sequence[Array]) -> None:
    """Write a file that its owner alone can read; whoever reads meanwhile gets the old one. Raises OSError."""
    packed = [_narrow(array) for array in arrays]
    described = [[array.dtype.str, list(array.shape)] for array in packed]
    header = json.dumps({"values": values, "arrays": described}, separators=(",", ":")).encode()
    parts = [header, b"\n", *(array.tobytes() for array in packed)]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.touch(mode=0o600, exist_ok=False)
    with fresh.open("wb") as file:
        file.write(digest.hexdigest().encode() + b"\n")
        file.writelines(parts)
    fresh.replace(path)


def read_array_file(path: Path) -> tuple[Any, list[Array]]:
    """Return what was written. The arrays cannot be changed, and may be of a smaller type than what was given.

    Raises:
        OSError: the file cannot be read.
        DamagedFileError: it is not as it was written.
    """
    content = path.read_bytes()
    start = _DIGEST + 1
    if hashlib.sha256(memoryview(content)[start:]).hexdigest().encode() != content[:_DIGEST]:
        raise DamagedFileError(f"{path.name} is damaged")
    end = content.index(b"\n", start)
    header = json.loads(content[start:end])
    arrays, place = [], end + 1
    for name, shape in header["arrays"]:
        if name not in _TYPES:
            raise DamagedFileError(f"{path.name} has an array of an unknown type")
        array = numpy.frombuffer(
            content, dtype=name, count=int(numpy.prod(shape)), offset=place
        ).reshape(shape)
        arrays.append(array)
        place += array.nbytes
    return header["values"], arrays


def _narrow(array: Array) -> Array:
    """Return the array in the smallest type that holds it."""
    if array.dtype != numpy.int64:
        return array
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for narrower in _SIGNED:
        if numpy.iinfo(narrower).min <= low and high <= numpy.iinfo(narrower).max:
            return array.astype(narrower)
    return array
