"""The whole log, encrypted for the auditors, who recompute the figures that the public log hides (rule 8.1).

An archive consists of a line that names the format, a line of JSON with the key sealed to each
auditor (libsodium sealed boxes, with the X25519 form of their Ed25519 keys), and the entries in one
secretstream (XChaCha20-Poly1305) of 1 MiB chunks. A truncated or modified file cannot be read. The
archive itself is not signed: an auditor checks its entries against the signed head of the board.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO, Final

from nacl.bindings import (
    crypto_secretstream_xchacha20poly1305_ABYTES,
    crypto_secretstream_xchacha20poly1305_HEADERBYTES,
    crypto_secretstream_xchacha20poly1305_init_pull,
    crypto_secretstream_xchacha20poly1305_init_push,
    crypto_secretstream_xchacha20poly1305_KEYBYTES,
    crypto_secretstream_xchacha20poly1305_pull,
    crypto_secretstream_xchacha20poly1305_push,
    crypto_secretstream_xchacha20poly1305_state,
    crypto_secretstream_xchacha20poly1305_TAG_FINAL,
    crypto_secretstream_xchacha20poly1305_TAG_MESSAGE,
)
from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey
from nacl.utils import random

from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.log.journal import Entry
from aggregator.log.publication import parse_entry
from protocol.canonical import canonical, parse_canonical
from protocol.envelope import decode_base64, encode_base64
from protocol.errors import ProtocolError
from protocol.keys import PublicKey

FORMAT: Final = b"intramural-archive/v1\n"
CHUNK: Final = 1024 * 1024  # bytes of entries per encrypted chunk
MAX_HEADER_LENGTH: Final = 64 * 1024  # bytes
_HEADER: Final = frozenset({"recipients", "stream"})
_DAMAGED: Final = "the archive is damaged, truncated or was modified"
_DAMAGED_ADVICE: Final = "Ask the people who run the aggregator for another copy."


def write_archive(path: Path, entries: Iterable[Entry], auditors: Sequence[PublicKey]) -> int:
    """Write the entries to a new file that only the auditors can open; return their number.

    Raises:
        SettingsError: there are no auditors, the file exists, or it cannot be written; no partial
            file remains.
    """
    if not auditors:
        raise SettingsError(
            "the registry names no auditors to seal an archive to",
            "Add their keys with `intramural-aggregator registry propose`.",
        )
    key = random(crypto_secretstream_xchacha20poly1305_KEYBYTES)
    sealed = {auditor.keyid: encode_base64(_seal(key, auditor)) for auditor in auditors}
    state = crypto_secretstream_xchacha20poly1305_state()
    stream = crypto_secretstream_xchacha20poly1305_init_push(state, key)
    header = canonical({"recipients": sealed, "stream": encode_base64(stream)})
    try:
        with path.open("xb") as file:
            file.write(FORMAT + header + b"\n")
            return _write_chunks(file, state, entries)
    except FileExistsError:
        raise SettingsError(f"{path} already exists", "Name a new file with --out.") from None
    except OSError as error:
        path.unlink(missing_ok=True)
        raise SettingsError(f"the archive cannot be written to {path}: {error.strerror}") from None


def _seal(key: bytes, auditor: PublicKey) -> bytes:
    recipient = VerifyKey(auditor.raw).to_curve25519_public_key()
    return bytes(SealedBox(recipient).encrypt(key))


def _write_chunks(
    file: BinaryIO, state: crypto_secretstream_xchacha20poly1305_state, entries: Iterable[Entry]
) -> int:
    count, pending = 0, bytearray()
    for entry in entries:
        pending += entry.line() + b"\n"
        count += 1
        while len(pending) > CHUNK:
            _write_chunk(file, state, bytes(pending[:CHUNK]), is_last=False)
            del pending[:CHUNK]
    _write_chunk(file, state, bytes(pending), is_last=True)
    return count


def _write_chunk(
    file: BinaryIO,
    state: crypto_secretstream_xchacha20poly1305_state,
    content: bytes,
    *,
    is_last: bool,
) -> None:
    tag = (
        crypto_secretstream_xchacha20poly1305_TAG_FINAL
        if is_last
        else crypto_secretstream_xchacha20poly1305_TAG_MESSAGE
    )
    file.write(crypto_secretstream_xchacha20poly1305_push(state, content, tag=tag))


def read_archive(path: Path, keyid: str, private_key: bytes) -> Iterator[Entry]:
    """Yield the entries of an archive. They must not be trusted before they are checked against a signed head.

    Args:
        path: The archive.
        keyid: The auditor's key id.
        private_key: The auditor's 32-byte Ed25519 seed.

    Raises:
        SettingsError: the file is not an archive, or is not sealed to this auditor.
        BoardMismatchError: the archive is damaged, truncated or was modified.
    """
    try:
        with path.open("rb") as file:
            if file.read(len(FORMAT)) != FORMAT:
                raise SettingsError(f"{path.name} is not an archive")
            header = _read_header(file)
            state = crypto_secretstream_xchacha20poly1305_state()
            key = _unseal(header["recipients"], keyid, private_key)
            stream = decode_base64(header["stream"], "stream")
            if len(stream) != crypto_secretstream_xchacha20poly1305_HEADERBYTES:
                raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE)
            crypto_secretstream_xchacha20poly1305_init_pull(state, stream, key)
            yield from _read_entries(_read_chunks(file, state))
    except ProtocolError:
        raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE) from None
    except OSError as error:
        raise SettingsError(f"the archive {path.name} cannot be read: {error.strerror}") from None


def _read_header(file: BinaryIO) -> Mapping[str, object]:
    line = file.readline(MAX_HEADER_LENGTH)
    header = parse_canonical(line.removesuffix(b"\n"))
    if not isinstance(header, dict) or header.keys() != _HEADER:
        raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE)
    return header


def _unseal(recipients: object, keyid: str, private_key: bytes) -> bytes:
    if not isinstance(recipients, dict) or keyid not in recipients:
        raise SettingsError(
            "the archive is not sealed to this key",
            "Use an auditor's key that the registry names.",
        )
    box = SealedBox(SigningKey(private_key).to_curve25519_private_key())
    try:
        key = bytes(box.decrypt(decode_base64(recipients[keyid], "recipient")))
    except CryptoError:
        raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE) from None
    if len(key) != crypto_secretstream_xchacha20poly1305_KEYBYTES:
        raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE)
    return key


def _read_chunks(
    file: BinaryIO, state: crypto_secretstream_xchacha20poly1305_state
) -> Iterator[bytes]:
    """Yield the decrypted chunks. The last chunk must be marked as final and end the file."""
    is_last = False
    while not is_last:
        sealed = file.read(CHUNK + crypto_secretstream_xchacha20poly1305_ABYTES)
        try:
            content, tag = crypto_secretstream_xchacha20poly1305_pull(state, sealed)
        except (CryptoError, RuntimeError, ValueError, TypeError):
            raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE) from None
        is_last = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL
        yield content
    if file.read(1):
        raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE)


def _read_entries(chunks: Iterator[bytes]) -> Iterator[Entry]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            entry = parse_entry(line)
            if not isinstance(entry, Entry):
                raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE)
            yield entry
    if rest:
        raise BoardMismatchError(_DAMAGED, _DAMAGED_ADVICE)
