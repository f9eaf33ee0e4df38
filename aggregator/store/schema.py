"""The aggregator's tables. Migrations in `migrations/` create them; a test checks that both match."""

from sqlalchemy import (
    Boolean,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

registry_versions = Table(
    "registry_versions",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("envelope", LargeBinary, nullable=False),
    Column("digest", String(64)),
)
"""Every registry version, exactly as signed. The highest version is in force. `digest` (never null)
is the envelope's SHA-256, which identifies a known registry without reading megabytes again.
"""

entries = Table(
    "entries",
    metadata,
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("digest", String(64), nullable=False, unique=True),
    Column("leaf_hash", LargeBinary(32), nullable=False),
    Column("envelope", LargeBinary, nullable=False),
    Column("site", String(16), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("registry", Integer, ForeignKey("registry_versions.version"), nullable=False),
    Column("ledger_length", Integer, nullable=False),
    Column("ledger_head", String(64), nullable=False),
    Column("settles", String(64), unique=True),
    Column("scores_root", String(64), index=True),
    Column("figures", String(64), index=True),
    Column("checkpoint", Text, nullable=False),
    UniqueConstraint("site", "epoch", "seq", name="one_link_per_place"),
    Index("entries_of_a_kind", "site", "kind", "position"),
)
"""The log. `position` counts from 0 without gaps. `registry` is the version in force when the entry
was accepted. `kind` and `ledger_*` are copied from the statement. `settles` is the digest of the
earlier statement that this one closes: the plan of a result or abandonment, or the result of a
withdrawal. No statement is closed twice. `scores_root` and `figures` are used to detect a result that repeats an
earlier one. `checkpoint` is the signed head after this entry.
"""

nodes = Table(
    "nodes",
    metadata,
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary(32), nullable=False),
    sqlite_with_rowid=False,
)
"""The log's Merkle tree: the root of every complete subtree, numbered as in
`aggregator.log.tree_nodes`. A node is written with the entry that completes it, and never changes.
"""

forks = Table(
    "forks",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("site", String(16), nullable=False),
    Column("epoch", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("envelope", LargeBinary, nullable=False),
    Index("forks_of_a_site", "site", "epoch"),
)
"""Payloads signed for a position in a site's chain that another payload already occupies. They
freeze the site for that epoch.
"""

refusals = Table(
    "refusals",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("site", String(16), nullable=False),
    Column("code", String(32), nullable=False),
    Column("log_size", Integer, nullable=False),
    Column("note", Text, nullable=False),
)
"""The last signed refusal of each payload that both of a site's keys had signed. A row is kept even if the payload is
accepted later, because the site may have relied on the refusal and signed another payload for the same position.
"""

invites = Table(
    "invites",
    metadata,
    Column("site", String(16), primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("publication", String(8), nullable=False),
    Column("token_verifier", String(64), nullable=False),
    Column("expires_day", Integer, nullable=False),
)
"""Open and used invites. An invite counts as used as soon as `entries` contains a row for its site."""

enrolment_requests = Table(
    "enrolment_requests",
    metadata,
    Column("site", String(16), ForeignKey("invites.site"), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("envelope", LargeBinary, nullable=False),
)
"""Enrolment requests whose signatures and proof of holding the invite's token are valid, waiting for an operator to
compare fingerprints.
"""

rekeying_requests = Table(
    "rekeying_requests",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("site", String(16), nullable=False, index=True),
    Column("signed_by_known_keys", Boolean, nullable=False),
    Column("envelope", LargeBinary, nullable=False),
)
"""Resets and rotations with valid signatures that await approval, limited to a few per site (see
`registry.rekeyings`). Anyone can sign a reset with their own keys. Requests signed with the site's
current keys are shown first.
"""

cosignatures = Table(
    "cosignatures",
    metadata,
    Column("size", Integer, primary_key=True, autoincrement=False),
    Column("name", String(128), primary_key=True),
    Column("line", Text, nullable=False),
)
"""Cosignatures of witnesses by log size and witness name, as lines of a signed note. Only the
newest few of each witness are kept.
"""

restorations = Table(
    "restorations",
    metadata,
    Column("log_size", Integer, primary_key=True, autoincrement=False),
    Column("restored_day", Integer, nullable=False),
)
"""Contains a row while this log, restored from a backup, has not yet been compared with checkpoints
from outside. Nothing is appended during that time (see `aggregator.log.restored`).
"""
