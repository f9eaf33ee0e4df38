"""Cosignatures of checkpoints by witnesses (c2sp.org/tlog-cosignature, Ed25519, `cosignature/v1`).

With a cosignature, a witness states that at a certain time it had seen no other history of the log than the one that
leads to this checkpoint. The cosignature is added as a line to the checkpoint's signed note.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Final

from protocol.envelope import decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.keys import ED25519_BYTES, PublicKey, Signer

COSIGNATURE_TYPE: Final = b"\x04"  # C2SP's signature type
_KEY_ID_BYTES: Final = 4
_TIME_BYTES: Final = 8
_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")


def cosignature_key_id(name: str, key: PublicKey) -> bytes:
    """Return the 4 bytes that identify a witness's key in a signed note."""
    return hashlib.sha256(name.encode() + b"\n" + COSIGNATURE_TYPE + key.raw).digest()[
        :_KEY_ID_BYTES
    ]


def note_body(note: str) -> str:
    """Return the part of a signed note that its signatures cover, with its last line feed.

    Raises:
        ProtocolError: BAD_CHECKPOINT.
    """
    text, separator, _ = note.rpartition("\n\n")
    if not separator:
        raise ProtocolError(Code.BAD_CHECKPOINT, "not a signed note")
    return text + "\n"


def cosign(note: str, name: str, witness: Signer, unix_time: int) -> str:
    """Return the signature line, with its line feed, that a witness adds to a checkpoint.

    Args:
        note: the checkpoint. The witness has verified that it continues every checkpoint seen before.
        name: the witness's key name.
        witness: the witness's key.
        unix_time: seconds since 1970-01-01 UTC.
    """
    signature = witness.sign(_message(note_body(note), unix_time))
    key_id = cosignature_key_id(name, witness.public)
    return (
        f"— {name} {encode_base64(key_id + unix_time.to_bytes(_TIME_BYTES, 'big') + signature)}\n"
    )


def read_cosignatures(note: str, witnesses: Mapping[str, PublicKey]) -> dict[str, int]:
    """Return the time at which each known witness cosigned a checkpoint, by the witness's name.

    Signatures by other keys are ignored, as C2SP demands.

    Args:
        note: the checkpoint with all its signatures.
        witnesses: keys by name.

    Raises:
        ProtocolError: BAD_CHECKPOINT, or BAD_SIGNATURE if a line names a witness but is not that witness's signature.
    """
    body = note_body(note)
    times: dict[str, int] = {}
    for line in note.rpartition("\n\n")[2].splitlines():
        found = _LINE.fullmatch(line)
        if found is None:
            raise ProtocolError(
                Code.BAD_CHECKPOINT, "a signature line is not of the form '— name base64'"
            )
        name, key = found[1], witnesses.get(found[1])
        data = _decode(found[2])
        if key is None or data[:_KEY_ID_BYTES] != cosignature_key_id(name, key):
            continue
        times[name] = _verify(body, data[_KEY_ID_BYTES:], key)
    return times


def _verify(body: str, signed: bytes, key: PublicKey) -> int:
    if len(signed) != _TIME_BYTES + ED25519_BYTES:
        raise ProtocolError(Code.BAD_SIGNATURE, "a cosignature must be a time and 64 bytes")
    unix_time = int.from_bytes(signed[:_TIME_BYTES], "big")
    key.verify(signed[_TIME_BYTES:], _message(body, unix_time))
    return unix_time


def _message(body: str, unix_time: int) -> bytes:
    return f"cosignature/v1\ntime {unix_time}\n{body}".encode()


def _decode(value: str) -> bytes:
    try:
        return decode_base64(value, "base64")
    except ProtocolError as error:
        raise ProtocolError(Code.BAD_CHECKPOINT, error.detail) from None
