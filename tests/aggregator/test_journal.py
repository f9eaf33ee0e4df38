"""The stored tree: an older database gets one, a damaged one is not added to, and proofs of any size hold."""

import hashlib

import pytest
from alembic import command
from sqlalchemy import delete, select, text, update

from aggregator.errors import StoreError
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.tree_nodes import Node, cover_tree
from aggregator.store.database import Database, _alembic_config
from aggregator.store.schema import entries, nodes, registry_versions
from protocol.checkpoint import parse_hash
from protocol.merkle import consistency_proof, leaf_hash, root, verify_consistency
from tests.aggregator.federation import TestSite, registry_of, scores, submit

ENTRY = (
    "INSERT INTO entries (position, digest, leaf_hash, envelope, site, epoch, seq, kind, registry, ledger_length,"
    " ledger_head, checkpoint) VALUES (:position, :digest, :leaf, :leaf, 's-aaaaaaaa', 1, :position, 'plan', 1, 0,"
    " '', '')"
)


def test_a_database_of_the_schema_before_gets_its_nodes(empty_database: Database) -> None:
    config = _alembic_config()
    leaves = [leaf_hash(bytes([number])) for number in range(21)]
    with empty_database.engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0002")
        connection.execute(
            text("INSERT INTO registry_versions (version, envelope) VALUES (1, :it)"),
            {"it": b"signed"},
        )
        for position, leaf in enumerate(leaves):
            connection.execute(
                text(ENTRY), {"position": position, "digest": leaf.hex(), "leaf": leaf}
            )
    empty_database.migrate()
    with empty_database.reading() as connection:
        stored = journal.read_nodes(connection, cover_tree(21))
        assert journal.size(connection) == 21
        assert stored[Node(4, 0)] == root(leaves[:16])
        assert journal.consistency(connection, 5, 21) == consistency_proof(leaves, 5)
        digests = connection.execute(select(registry_versions.c.digest)).scalars().all()
    assert digests == [hashlib.sha256(b"signed").hexdigest()]


def fill(home: Home, site: TestSite, count: int) -> None:
    for number in range(count):
        submit(home, site, site.result(registry_of(home), scores(number)))


def test_every_head_grows_out_of_every_earlier_one(home: Home, site: TestSite) -> None:
    fill(home, site, 9)
    with home.database.reading() as connection:
        notes = (
            connection.execute(select(entries.c.checkpoint).order_by(entries.c.position))
            .scalars()
            .all()
        )
        leaves = (
            connection.execute(select(entries.c.leaf_hash).order_by(entries.c.position))
            .scalars()
            .all()
        )
        roots = [parse_hash(note.split("\n")[2]) for note in notes]
        for new_size, new_root in enumerate(roots, 1):
            assert new_root == root(leaves[:new_size])
            for old_size in range(1, new_size + 1):
                proof = journal.consistency(connection, old_size, new_size)
                verify_consistency(old_size, new_size, proof, roots[old_size - 1], new_root)
        for old_size, new_size in ((0, 99), (5, 4), (-1, 3)):
            with pytest.raises(ValueError, match="outside the log"):
                journal.consistency(connection, old_size, new_size)


@pytest.mark.parametrize("damage", ["lost", "altered"])
def test_nothing_is_appended_to_a_tree_that_was_damaged(
    home: Home, site: TestSite, damage: str
) -> None:
    fill(home, site, 3)
    with home.database.writing() as connection:
        size = journal.size(connection)
        level, position = cover_tree(size)[-1]
        damaged = (nodes.c.level == level) & (nodes.c.position == position)
        if damage == "lost":
            connection.execute(delete(nodes).where(damaged))
        else:
            connection.execute(update(nodes).where(damaged).values(hash=bytes(32)))
    journal._recent_peaks.clear()  # as after a restart
    with pytest.raises(StoreError, match="stored tree") as error:
        fill(home, site, 1)
    assert "backup" in error.value.advice
    with home.database.reading() as connection:
        assert journal.size(connection) == size
