"""Tables of Merkle tree nodes and cosignatures, and columns and indexes for finding the newest
registry and forks quickly.
"""

import hashlib

import sqlalchemy as sa
from alembic import op

from aggregator.log.tree_nodes import complete_nodes, grow_peaks

revision = "0003"
down_revision = "0002"

AT_ONCE = 4096  # rows


def upgrade() -> None:
    """Create the tables, and fill those that can be derived from existing data."""
    op.create_table(
        "nodes",
        sa.Column("level", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("hash", sa.LargeBinary(32), nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "cosignatures",
        sa.Column("size", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", sa.String(128), primary_key=True),
        sa.Column("line", sa.Text, nullable=False),
    )
    op.create_table(
        "restorations",
        sa.Column("log_size", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("restored_day", sa.Integer, nullable=False),
    )
    op.create_index("forks_of_a_site", "forks", ["site", "epoch"])
    # SQLite cannot add a NOT NULL column to a table that other tables reference.
    op.add_column("registry_versions", sa.Column("digest", sa.String(64)))
    _fill_nodes(op.get_bind())
    _fill_digests(op.get_bind())


def _fill_nodes(connection: sa.Connection) -> None:
    """Compute the nodes from the leaf hashes in order."""
    entries = sa.table("entries", sa.column("position"), sa.column("leaf_hash"))
    nodes = sa.table("nodes", sa.column("level"), sa.column("position"), sa.column("hash"))
    leaves = connection.execute(
        sa.select(entries.c.leaf_hash).order_by(entries.c.position)
    ).scalars()
    peaks: list[bytes] = []
    rows: list[dict[str, object]] = []
    for index, leaf_hash in enumerate(leaves.all()):
        completed = complete_nodes(index, leaf_hash, peaks)
        peaks = grow_peaks(peaks, completed)
        for node, node_hash in completed:
            rows.append({"level": node.level, "position": node.position, "hash": node_hash})
        if len(rows) >= AT_ONCE:
            connection.execute(sa.insert(nodes), rows)
            rows = []
    if rows:
        connection.execute(sa.insert(nodes), rows)


def _fill_digests(connection: sa.Connection) -> None:
    table = sa.table(
        "registry_versions", sa.column("version"), sa.column("envelope"), sa.column("digest")
    )
    for row in connection.execute(sa.select(table.c.version, table.c.envelope)).all():
        digest = hashlib.sha256(row.envelope).hexdigest()
        connection.execute(
            sa.update(table).where(table.c.version == row.version).values(digest=digest)
        )


def downgrade() -> None:
    """Refuse: evidence must never be deleted by a tool. Restore a backup instead."""
    raise NotImplementedError("the database cannot be downgraded")
