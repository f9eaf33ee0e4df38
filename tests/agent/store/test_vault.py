"""What was sealed opens with its key, in its place, and as it was written."""

from pathlib import Path

import pytest

from agent.errors import StoreError
from agent.store import Store, Vault
from tests.agent.store.begun_runs import KEY, begin, response


def test_another_sites_key_opens_nothing(store: Store, path: Path):
    run_id, keys = begin(store)
    store.answers.settle(run_id, [(keys[0], response())], [])
    assert not Vault(bytes(32)).opens(
        b"answer\0" + keys[0], store.database.vault.seal(b"answer\0" + keys[0], b"text")
    )


def test_a_text_opens_in_its_own_place_alone_and_not_with_a_byte_changed():
    vault = Vault(KEY)
    sealed = vault.seal(b"answer 1", b"text")
    assert vault.open(b"answer 1", sealed) == b"text"
    assert vault.seal(b"answer 1", b"text") != sealed
    for place in range(len(sealed)):
        damaged = sealed[:place] + bytes([sealed[place] ^ 1]) + sealed[place + 1 :]
        assert not vault.opens(b"answer 1", damaged)
    for context, data in ((b"answer 2", sealed), (b"answer 1", sealed[:20]), (b"answer 1", b"")):
        with pytest.raises(StoreError, match="cannot be decrypted"):
            vault.open(context, data)


def test_a_hash_is_of_its_kind_and_its_site():
    hashes = {
        Vault(key).keyed_hash(kind, b"MRN 7")
        for key in (KEY, bytes(32))
        for kind in ("unit", "rater")
    }
    assert len(hashes) == 4
    assert Vault(KEY).keyed_hash("unit", b"MRN 7") in hashes


def test_a_key_of_another_length_is_refused():
    with pytest.raises(StoreError, match="32 bytes"):
        Vault(bytes(31))
