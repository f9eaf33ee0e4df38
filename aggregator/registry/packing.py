"""The stored form of registry versions: as successive versions are nearly equal, only differences are stored.

Every 64th version is stored whole. The others are stored as ranges of the previous version and the text between them.
Both are compressed, and unpacking restores the exact signed bytes. Enrolling a thousand sites one by one makes a
thousand versions with a total of 300 MB.
"""

import base64
import json
import zlib
from dataclasses import dataclass
from typing import Final

from protocol.envelope import REGISTRY_TYPE, decode, encode_base64

BLOCK: Final = 64
"""The distance between versions stored whole, and so the maximum number of steps to read a version."""

_WHOLE: Final = b"W"
_DIFFERENCE: Final = b"D"
# The end of a piece: a key, a model or a site. Most pieces stay the same from version to version.
_END_OF_PIECE: Final = b"}"


def first_of_block(version: int) -> int:
    """Return the version stored whole from which this version is unpacked."""
    return version - (version - 1) % BLOCK


@dataclass(frozen=True, slots=True)
class Version:
    """A registry version from the aggregator's own database, verified before it was stored."""

    payload: bytes
    signatures: tuple[tuple[str, str], ...]  # key id and base64, in the order of the file

    def envelope(self) -> bytes:
        """Return the signed file, byte for byte, since its canonical form is unique."""
        signatures = ",".join(
            f'{{"keyid":"{keyid}","sig":"{sig}"}}' for keyid, sig in self.signatures
        )
        payload = base64.b64encode(self.payload)
        end = f'","payloadType":"{REGISTRY_TYPE}","signatures":[{signatures}]}}'.encode()
        return b'{"payload":"' + payload + end


def open_version(envelope: bytes) -> Version:
    """Return the parts of a signed file that has already been verified. Raises ProtocolError."""
    opened = decode(envelope, REGISTRY_TYPE)
    signatures = tuple(
        (signature.keyid, encode_base64(signature.sig)) for signature in opened.signatures
    )
    return Version(opened.payload, signatures)


def pack(number: int, version: Version, before: Version | None) -> bytes:
    """Return the stored form of a version.

    Args:
        number: number of the version, from 1.
        version: the version to store.
        before: the previous version; None for the first.
    """
    if before is None or first_of_block(number) == number:
        return _WHOLE + zlib.compress(version.envelope())
    record = {
        "pieces": _find_pieces(version.payload, before.payload),
        "signatures": version.signatures,
    }
    return _DIFFERENCE + zlib.compress(json.dumps(record, separators=(",", ":")).encode())


def unpack(packed: bytes, before: Version | None) -> Version:
    """Return the version for a stored form.

    Args:
        packed: the stored form, as returned by `pack`.
        before: the previous version; may be None for a version stored whole.

    Raises:
        ValueError: `packed` was not returned by `pack` for the same `before`.
    """
    content = json.loads(zlib.decompress(packed[1:]))
    if packed[:1] == _WHOLE:
        signatures = tuple((entry["keyid"], entry["sig"]) for entry in content["signatures"])
        return Version(base64.b64decode(content["payload"]), signatures)
    if packed[:1] != _DIFFERENCE or before is None:
        raise ValueError("not a stored registry version")
    parts = []
    for piece in content["pieces"]:
        parts.append(
            piece.encode() if isinstance(piece, str) else before.payload[piece[0] : piece[1]]
        )
    return Version(b"".join(parts), tuple((keyid, sig) for keyid, sig in content["signatures"]))


def _find_pieces(new: bytes, old: bytes) -> list[list[int] | str]:
    """Return `new` as ranges [start, end] of `old` and the texts between them. Both are ASCII."""
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
