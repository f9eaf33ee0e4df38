"""What must hold of an aggregator's log after any accident."""

from sqlalchemy import Connection, select

from aggregator.board.evidence import Evidence
from aggregator.home import Home
from aggregator.log import journal
from aggregator.log.growing_tree import GrowingTree
from aggregator.registry.versions import all_envelopes, newest_registry
from aggregator.store.schema import entries
from protocol.checkpoint import verify_checkpoint
from protocol.envelope import decode
from protocol.merkle import leaf_hash, root
from protocol.receipt import verify_receipt


def check_log(home: Home, since: int = 0) -> int:
    """Check entries, leaf hashes, signed heads and receipts against each other; return the log's size.

    Signatures and receipts are checked from entry `since` on, the tree from the first.
    """
    tree = GrowingTree()
    hashes: list[bytes] = []
    with home.database.reading() as connection:
        registry = newest_registry(connection)
        rows = connection.execute(select(entries).order_by(entries.c.position)).all()
        assert [row.position for row in rows] == list(range(len(rows)))
        assert journal.size(connection) == len(rows)
        for row in rows:
            pae = decode(row.envelope).pae
            hashes.append(leaf_hash(pae))
            tree.add(hashes[-1])
            assert row.leaf_hash == hashes[-1]
            if row.position < since:
                continue
            head = verify_checkpoint(row.checkpoint, registry.log_keys, registry.log_name)
            assert (head.size, head.root) == (len(hashes), tree.root)
            receipt = journal.receipt(connection, row.digest)
            assert receipt is not None
            assert (
                verify_receipt(receipt, pae, registry.log_keys, registry.log_name).index
                == row.position
            )
    assert tree.root == root(hashes)
    return len(rows)


def collect_evidence(connection: Connection, home: Home) -> Evidence:
    """Read the whole log of this aggregator, in one snapshot."""
    newest = newest_registry(connection)
    return Evidence(
        registries=tuple(all_envelopes(connection)),
        entries=tuple(journal.read_entries(connection)),
        checkpoint=journal.checkpoint(
            connection, origin=newest.log_name, log_key=home.log_signer(newest)
        ),
        is_whole=True,
    )
