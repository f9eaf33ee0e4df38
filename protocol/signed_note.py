"""C2SP signed notes with an Ed25519 key: the form of checkpoints and refusals."""

import hashlib
import re

from protocol.envelope import decode_base64, encode_base64
from protocol.errors import Code, ProtocolError
from protocol.keys import PublicKey, Signer

ED25519_NOTE = b"\x01"  # C2SP's signature type
MAX_NOTE_SIGNATURES = 16

_SIGNATURE_LINE = re.compile(r"— ([^\s+]+) ([A-Za-z0-9+/]+={0,2})")


def note_key_id(name: str, key: PublicKey) -> bytes:
    """Return the 4 bytes that identify an Ed25519 key in a signed note."""
    return hashlib.sha256(name.encode() + b"\n" + ED25519_NOTE + key.raw).digest()[:4]


def sign_note(text: str, name: str, signer: Signer) -> str:
    """Return `text`, which ends with a newline, as a note signed under the key name `name`."""
    signature = note_key_id(name, signer.public) + signer.sign(text.encode())
    return f"{text}\n— {name} {encode_base64(signature)}\n"


def verify_note(
    note: str, lines: int, key: PublicKey, name: str, bad: Code, unsigned: Code = Code.BAD_SIGNATURE
) -> list[str]:
    """Verify that a note is signed by the key, and return the lines of its text.

    Signatures by unknown keys are ignored, as C2SP demands.

    Args:
        note: as received.
        lines: number of lines that the text must have.
        key: the key whose signature is required.
        name: the key's name.
        bad: code for a note that is not in the required form.
        unsigned: code for a note that the key has not signed.

    Raises:
        ProtocolError: `bad`, `unsigned`, or BAD_SIGNATURE.
    """
    text, separator, tail = note.rpartition("\n\n")
    found, signatures = text.split("\n"), tail.split("\n")
    if (
        not separator
        or len(found) != lines
        or signatures.pop()
        or not 1 <= len(signatures) <= MAX_NOTE_SIGNATURES
    ):
        raise ProtocolError(
            bad, f"expected {lines} lines, an empty one, and 1 to {MAX_NOTE_SIGNATURES} signatures"
        )
    known = (name, note_key_id(name, key))
    parsed = [_parse_signature(line, bad) for line in signatures]
    ours = [signature for key_name, key_id, signature in parsed if (key_name, key_id) == known]
    if not ours:
        raise ProtocolError(unsigned, "no signature by the log's key")
    for signature in ours:
        key.verify(signature, f"{text}\n".encode())
    return found


def _parse_signature(line: str, bad: Code) -> tuple[str, bytes, bytes]:
    found = _SIGNATURE_LINE.fullmatch(line)
    if not found:
        raise ProtocolError(bad, "a signature line is not of the form '— name base64'")
    data = parse_base64(found[2], bad)
    return found[1], data[:4], data[4:]


def parse_base64(value: str, bad: Code) -> bytes:
    """Decode canonical base64. Raises ProtocolError `bad`."""
    try:
        return decode_base64(value, "base64")
    except ProtocolError as error:
        raise ProtocolError(bad, error.detail) from None
