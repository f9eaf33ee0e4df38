"""A file format for JSON values and arrays of numbers, with a digest that reveals damage. Reading
never executes code.
"""

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
    """The file was not written by this module, or has changed since."""


def write_array_file(path: Path, values: object, arrays: Sequence[Array]) -> None:
    """Write a file atomically, readable by its owner only. Raises OSError."""
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
    """Return the stored values and arrays. The arrays are read-only and may have a smaller type than when written.

    Raises:
        OSError: the file cannot be read.
        DamagedFileError: its content does not match its digest.
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
            raise DamagedFileError(f"{path.name} contains an array of an unknown type")
        array = numpy.frombuffer(
            content, dtype=name, count=int(numpy.prod(shape)), offset=place
        ).reshape(shape)
        arrays.append(array)
        place += array.nbytes
    return header["values"], arrays


def _narrow(array: Array) -> Array:
    """Return the array in the smallest type that can represent all of its values."""
    if array.dtype != numpy.int64:
        return array
    low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
    for narrower in _SIGNED:
        if numpy.iinfo(narrower).min <= low and high <= numpy.iinfo(narrower).max:
            return array.astype(narrower)
    return array
