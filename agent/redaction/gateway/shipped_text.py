"""The fixed text of the shipped benchmarks' prompts, which is public and known by the digests of its lines."""

import hashlib
from functools import cache
from pathlib import Path

_DIGESTS = Path(__file__).with_name("shipped_text.txt")
_DIGITS = 32  # hexadecimal digits of SHA-256, enough that nobody can make another text with a listed digest


def is_shipped(text: str) -> bool:
    """Return whether a text, apart from white space at its ends, is one of the shipped benchmarks' texts."""
    return digest_text(text) in _read_digests()


def digest_text(text: str) -> str:
    """Return the digest under which a text is listed."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


@cache
def _read_digests() -> frozenset[str]:
    lines = _DIGESTS.read_text("ascii").splitlines()
    return frozenset(line for line in lines if not line.startswith("#"))
