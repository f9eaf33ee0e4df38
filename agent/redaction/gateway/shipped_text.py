"""The fixed text of the shipped benchmarks' prompts, which is public and known by the digests of its lines."""

import hashlib
from pathlib import Path

from agent.redaction.digest_list import read_digests

_DIGESTS = Path(__file__).with_name("shipped_text.txt")
_DIGITS = 32  # hexadecimal digits of SHA-256, enough that nobody can make another text with a listed digest


def is_shipped(text: str) -> bool:
    """Return whether a text, apart from white space at its ends, is one of the shipped benchmarks' texts."""
    return digest_text(text) in read_digests(_DIGESTS)


def digest_text(text: str) -> str:
    """Return the digest under which a text is listed."""
    return hashlib.sha256(text.strip().encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
