"""Whoever finds a copy learns nothing, and whoever changes one is noticed."""

import io

import pytest

from agent.backup.form import SealedKeys
from agent.backup.sealing import CHUNK, SealedReader, SealedWriter, open_keys, seal_keys
from agent.errors import StoreError
from tests.agent.backup.conftest import PASSPHRASE

KEY, HEADER = bytes(range(32)), b'{"format": ...}\n'
CONTENT = bytes(range(256)) * 10_000  # three chunks


@pytest.fixture(autouse=True)
def quick_passphrases() -> None:
    """Passphrases take as long as they do at a site."""


def seal(content: bytes, key: bytes = KEY) -> bytes:
    file = io.BytesIO()
    writer = SealedWriter(file, key, HEADER)
    for start in range(0, len(content), 70_001):
        writer.write(content[start : start + 70_001])
    writer.finish()
    return file.getvalue()


def unseal(sealed: bytes, key: bytes = KEY, header: bytes = HEADER) -> bytes:
    reader = SealedReader(io.BytesIO(sealed), key, header)
    parts = []
    while part := reader.read(100_000):
        parts.append(part)
    return b"".join(parts)


def split(sealed: bytes) -> list[bytes]:
    chunks, position = [], 0
    while position < len(sealed):
        length = 4 + int.from_bytes(sealed[position : position + 4], "big")
        chunks.append(sealed[position : position + length])
        position += length
    return chunks


@pytest.mark.parametrize("size", [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK, len(CONTENT)])
def test_what_was_sealed_comes_back(size: int):
    assert unseal(seal(CONTENT[:size])) == CONTENT[:size]


def test_chunks_cannot_be_cut_off_removed_repeated_exchanged_or_added():
    chunks = split(seal(CONTENT))
    assert len(chunks) == 3
    first, second, last = chunks
    forged = [
        [],
        [first],
        [first, second],
        [second, last],
        [first, last],
        [second, first, last],
        [first, second, second, last],
        [first, second, last, last],
        [first, second, last[:-1]],
        [first, second, last, b"\0"],
        [first, second, last, b"\0\0\0\0"],
        [b"\xff\xff\xff\xff", first, second, last],
    ]
    for each in forged:
        with pytest.raises(StoreError, match="damaged"):
            unseal(b"".join(each))


@pytest.mark.parametrize("position", [0, 3, 4, 5, 20, CHUNK + 19, CHUNK + 20, CHUNK + 30, -1, -17])
def test_no_bit_can_be_changed(position: int):
    sealed = bytearray(seal(CONTENT))
    sealed[position] ^= 1
    with pytest.raises(StoreError, match="damaged"):
        unseal(bytes(sealed))


def test_content_is_bound_to_its_key_and_first_line():
    sealed = seal(CONTENT[:10])
    with pytest.raises(StoreError, match="another data key"):
        unseal(sealed, key=bytes(32))
    with pytest.raises(StoreError, match="damaged"):
        unseal(sealed, header=HEADER.replace(b"...", b"..!"))


def test_two_copies_of_the_same_keys_have_nothing_in_common():
    keys = {"data.key": b"00" * 32}
    one, other = seal_keys(keys, PASSPHRASE, "01" * 8), seal_keys(keys, PASSPHRASE, "01" * 8)
    assert one.salt != other.salt
    assert one.sealed != other.sealed
    assert b"0000" not in one.sealed
    assert open_keys(one, PASSPHRASE, "01" * 8) == keys


def test_keys_do_not_open_with_another_passphrase_or_in_another_copy():
    sealed = seal_keys({"data.key": b"00" * 32}, PASSPHRASE, "01" * 8)
    changed = SealedKeys(sealed.salt, sealed.sealed[:-1] + bytes([sealed.sealed[-1] ^ 1]))
    for keys, passphrase, copy_id in (
        (sealed, PASSPHRASE + "!", "01" * 8),
        (sealed, PASSPHRASE, "02" * 8),
        (changed, PASSPHRASE, "01" * 8),
        (SealedKeys(sealed.salt, b""), PASSPHRASE, "01" * 8),
    ):
        with pytest.raises(StoreError, match="does not open the keys"):
            open_keys(keys, passphrase, copy_id)


def test_a_passphrase_typed_on_another_keyboard_is_the_same():
    sealed = seal_keys({"data.key": b"x"}, "Grüße an vier Wörter", "01" * 8)
    assert open_keys(sealed, "Gru\u0308ße an vier Wo\u0308rter", "01" * 8)
