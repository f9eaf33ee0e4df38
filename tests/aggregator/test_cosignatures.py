"""Cosignatures of witnesses in the database, on SQLite and on PostgreSQL."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import select, update

from aggregator.errors import StoreError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.cosignatures import (
    KEPT,
    check_cosignatures,
    keep_cosignatures,
    with_cosignatures,
)
from aggregator.store.schema import cosignatures
from protocol.checkpoint import Checkpoint, sign_checkpoint, verify_checkpoint
from protocol.cosignature import cosign, read_cosignatures
from protocol.errors import Code, ProtocolError
from protocol.keys import Ed25519Signer
from protocol.registry import KeyGroup, NamedKey
from tests.aggregator.audited import change_registry
from tests.aggregator.federation import new_home, new_key, ready, registry_of, scores, submit
from tests.aggregator.postgres_cluster import create_database, start_cluster

Witnesses = dict[str, Ed25519Signer]


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with start_cluster() as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Home]:
    url = f"sqlite:///{tmp_path / 'log.sqlite3'}"
    if request.param == "postgresql":
        url = create_database(request.getfixturevalue("cluster"))
    made = new_home(tmp_path / "aggregator", database_url=url)
    yield made
    made.database.close()


@pytest.fixture
def witnesses(home: Home) -> Witnesses:
    """Two witnesses that the registry names."""
    signers = {name: new_key() for name in ("one.example", "two.example")}
    keys = tuple(NamedKey(name, signer.public) for name, signer in signers.items())
    change_registry(home, witnesses=KeyGroup(1, keys))
    return signers


def read_checkpoint(home: Home) -> str:
    """Return the newest checkpoint with the cosignatures that are kept for it, as the service gives it."""
    registry = registry_of(home)
    with home.database.reading() as connection:
        note = journal.checkpoint(
            connection, origin=registry.log_name, log_key=home.log_signer(registry)
        )
        return with_cosignatures(connection, note, registry)


def hand_over(home: Home, note: str, name: str, signer: Ed25519Signer, time_s: int) -> None:
    """Have a cosignature checked and kept, as the service does."""
    registry = registry_of(home)
    head = verify_checkpoint(note, registry.log_keys, registry.log_name)
    with home.database.reading() as connection:
        lines = check_cosignatures(
            connection, note + cosign(note, name, signer, time_s), registry, head
        )
    with home.database.writing() as connection:
        keep_cosignatures(connection, head.size, lines)


def test_the_newest_cosignatures_of_every_witness_are_kept_and_older_ones_go(
    home: Home, witnesses: Witnesses
) -> None:
    site = ready(home)
    for seed in range(KEPT + 3):
        submit(home, site, site.result(registry_of(home), scores(seed)))
        note = read_checkpoint(home)
        hand_over(home, note, "one.example", witnesses["one.example"], seed)
        if seed == 0:
            hand_over(home, note, "two.example", witnesses["two.example"], seed)
    with home.database.reading() as connection:
        newest = journal.size(connection)
        rows = connection.execute(select(cosignatures.c.name, cosignatures.c.size)).all()
    assert sorted(size for name, size in rows if name == "one.example") == [
        *range(newest - KEPT + 1, newest + 1)
    ]
    assert [size for name, size in rows if name == "two.example"] == [newest - KEPT - 2], (
        "the only one it gave"
    )


def test_one_cosignature_handed_over_by_many_at_once_is_kept_once(
    home: Home, witnesses: Witnesses
) -> None:
    ready(home)
    note = read_checkpoint(home)

    def hand_over_both(time_s: int) -> None:
        for name, signer in witnesses.items():
            hand_over(home, note, name, signer, time_s)

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(hand_over_both, range(16)))
    complete = read_checkpoint(home)
    assert len(complete.splitlines()) == len(note.splitlines()) + 2
    known = {name: signer.public for name, signer in witnesses.items()}
    assert read_cosignatures(complete, known).keys() == witnesses.keys()


def test_a_cosignature_that_was_moved_to_another_checkpoint_is_never_served(
    home: Home, witnesses: Witnesses
) -> None:
    ready(home)
    hand_over(home, read_checkpoint(home), "one.example", witnesses["one.example"], 1)
    ready(home, "Hospital 2")
    with home.database.writing() as connection:
        connection.execute(update(cosignatures).values(size=journal.size(connection)))
    with pytest.raises(StoreError, match="a stored cosignature does not verify"):
        read_checkpoint(home)


def test_a_checkpoint_that_strangers_alone_cosigned_is_refused(
    home: Home, witnesses: Witnesses
) -> None:
    ready(home)
    with pytest.raises(ProtocolError) as refused:
        hand_over(home, read_checkpoint(home), "one.example", new_key(), 1)
    assert refused.value.code == Code.UNKNOWN_KEY
    with home.database.reading() as connection:
        assert connection.execute(select(cosignatures)).all() == []


@pytest.mark.parametrize(
    ("missing", "code"),
    [(-1, Code.SPLIT_VIEW), (0, Code.SPLIT_VIEW), (1, Code.BAD_PROOF)],
    ids=["larger", "same", "smaller"],
)
def test_a_cosigned_checkpoint_of_another_log_under_the_same_key_is_refused(
    home: Home, witnesses: Witnesses, missing: int, code: Code
) -> None:
    ready(home)
    ready(home, "Hospital 2")
    registry = registry_of(home)
    newest = verify_checkpoint(read_checkpoint(home), registry.log_keys, registry.log_name)
    forked = Checkpoint(registry.log_name, newest.size - missing, bytes(32))
    note = sign_checkpoint(forked, home.log_signer(registry))
    cosigned = note + cosign(note, "one.example", witnesses["one.example"], 1)
    with home.database.reading() as connection, pytest.raises(ProtocolError) as refused:
        check_cosignatures(connection, cosigned, registry, newest)
    assert refused.value.code == code


def test_a_cosignature_that_comes_after_the_log_has_grown_is_taken(
    home: Home, witnesses: Witnesses
) -> None:
    ready(home)
    earlier = read_checkpoint(home)
    ready(home, "Hospital 2")
    registry = registry_of(home)
    newest = verify_checkpoint(read_checkpoint(home), registry.log_keys, registry.log_name)
    cosigned = earlier + cosign(earlier, "one.example", witnesses["one.example"], 1)
    with home.database.reading() as connection:
        assert check_cosignatures(connection, cosigned, registry, newest).keys() == {"one.example"}
