"""Read the lists of digests by which redaction recognises published texts and data."""

from functools import cache
from pathlib import Path


@cache
def read_digests(path: Path) -> frozenset[str]:
    """Return the digests in a file of the package, one a line. Lines that begin with # are comments."""
    lines = path.read_text("ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
