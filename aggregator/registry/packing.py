"""Registry versions as they are stored: a version is nearly the one before it, and only the difference is kept.

Every 64th version is stored whole, the others as pieces of the version before and the text between them. Both are
compressed, and the exact signed bytes come out again. A thousand sites that are enrolled one by one make a thousand
versions of 300 MB in all.
"""

import json
import zlib
from typing import Final

from protocol.envelope import REGISTRY_TYPE, Envelope, Signature, decode, decode_base64, encode, encode_base64

BLOCK: Final = 64
"""Versions from one that is stored whole to the next: as many steps at most are needed to read one."""

_WHOLE: Final = b"W"
_DIFFERENCE: Final = b"D"
_END_OF_PIECE: Final = b"}"  # of a key, a model or a site: pieces that stay as they are from version to version


def first_of_block(version: int) -> int:
    """Return the version stored whole from which this one is reached."""
    return version - (version - 1) % BLOCK


def pack(version: int, envelope: bytes, before: bytes | None) -> bytes:
    """Return the stored form of a version.

    Args:
        version: from 1.
        envelope: the file as signed.
        before: the file of the version before; None for the first.
    """
    if before is None or first_of_block(version) == version:
        return _WHOLE + zlib.compress(envelope)
    opened = decode(envelope, REGISTRY_TYPE)
    record = {
        "pieces": _find_pieces(opened.payload, decode(before, REGISTRY_TYPE).payload),
        "signatures": [[signature.keyid, encode_base64(signature.sig)] for signature in opened.signatures],
    }
    packed = _DIFFERENCE + zlib.compress(json.dumps(record, separators=(",", ":")).encode())
    if unpack(packed, before) != envelope:
        return _WHOLE + zlib.compress(envelope)
    return packed


def unpack(packed: bytes, before: bytes | None) -> bytes:
    """Return the signed file of a version.

    Args:
        packed: as `pack` returned it.
        before: the file of the version before; None will do for a version stored whole.

    Raises:
        ValueError: `packed` is not what `pack` made from `before`.
    """
    content = zlib.decompress(packed[1:])
    if packed[:1] == _WHOLE:
        return content
    if packed[:1] != _DIFFERENCE or before is None:
        raise ValueError("not a stored registry version")
    record = json.loads(content)
    old = decode(before, REGISTRY_TYPE).payload
    parts = []
    for piece in record["pieces"]:
        parts.append(piece.encode() if isinstance(piece, str) else old[piece[0] : piece[1]])
    signatures = tuple(Signature(keyid, decode_base64(sig, "sig")) for keyid, sig in record["signatures"])
    return encode(Envelope(REGISTRY_TYPE, b"".join(parts), signatures))


def is_whole(packed: bytes) -> bool:
    """Return whether a version is stored whole."""
    return packed[:1] == _WHOLE


def _find_pieces(new: bytes, old: bytes) -> list[list[int] | str]:
    """Return `new` as ranges [start, end] of `old` and texts between them. Both are ASCII."""
    known: dict[bytes, int] = {}
    position = 0
    for piece in _split(old):
        known.setdefault(piece, position)
        position += len(piece)
    pieces: list[list[int] | str] = []
    for piece in _split(new):
        start = known.get(piece)
        last = pieces[-1] if pieces else None
        if start is None:
            text = piece.decode("ascii")
            if isinstance(last, str):
                pieces[-1] = last + text
            else:
                pieces.append(text)
        elif isinstance(last, list) and last[1] == start:
            last[1] = start + len(piece)
        else:
            pieces.append([start, start + len(piece)])
    return pieces


def _split(payload: bytes) -> list[bytes]:
    parts = payload.split(_END_OF_PIECE)
    return [part + _END_OF_PIECE for part in parts[:-1]] + [parts[-1]]
