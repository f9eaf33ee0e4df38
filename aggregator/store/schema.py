"""The aggregator's tables. Migrations in `migrations/` create them; a test keeps the two equal."""

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
"""Every registry ever signed, exactly as signed. The highest version is in force. `digest`, always filled, is the
envelope's SHA-256, so that a registry that was read before is recognised without reading megabytes again."""

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
"""The log. `position` counts from 0 without gaps; `registry` was in force when the entry was accepted; `kind` and
`ledger_*` repeat what the statement says. `settles` is the digest of the earlier statement that this one ends: of a
result or an abandonment its plan, of a withdrawal the result; no statement is ended twice. `scores_root` and `figures`
are a result's, to recognise copies; `checkpoint` is the signed head right after this entry."""

nodes = Table(
    "nodes",
    metadata,
    Column("level", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("hash", LargeBinary(32), nullable=False),
    sqlite_with_rowid=False,
)
"""The log's Merkle tree: the root of every complete subtree, as `aggregator.log.tree_nodes` names them. Written with
the entry that completes it, and never changed."""

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
"""Second payloads signed for a place of a site's chain that another holds. They freeze the site for that epoch."""

refusals = Table(
    "refusals",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("site", String(16), nullable=False),
    Column("code", String(32), nullable=False),
    Column("log_size", Integer, nullable=False),
    Column("note", Text, nullable=False),
)
"""The last signed refusal of each payload that a site's two keys had signed. A row stays where the payload was accepted
later: the site, which held the refusal, may have put another payload in its place."""

invites = Table(
    "invites",
    metadata,
    Column("site", String(16), primary_key=True),
    Column("display_name", Text, nullable=False),
    Column("publication", String(8), nullable=False),
    Column("token_verifier", String(64), nullable=False),
    Column("expires_day", Integer, nullable=False),
)
"""Open and used invites; an invite is used once a row of `entries` holds its site."""

enrolment_requests = Table(
    "enrolment_requests",
    metadata,
    Column("site", String(16), ForeignKey("invites.site"), primary_key=True),
    Column("digest", String(64), nullable=False, unique=True),
    Column("envelope", LargeBinary, nullable=False),
)
"""Requests whose signatures and token proof were right, waiting for a person to compare fingerprints."""

rekeying_requests = Table(
    "rekeying_requests",
    metadata,
    Column("digest", String(64), primary_key=True),
    Column("site", String(16), nullable=False, index=True),
    Column("signed_by_known_keys", Boolean, nullable=False),
    Column("envelope", LargeBinary, nullable=False),
)
"""Resets and rotations whose signatures were right, waiting for a person: few at a time of each site (see
`registry.rekeyings`). Anybody can sign a reset with keys of their own; those of the site's own keys are shown first."""

cosignatures = Table(
    "cosignatures",
    metadata,
    Column("size", Integer, primary_key=True, autoincrement=False),
    Column("name", String(128), primary_key=True),
    Column("line", Text, nullable=False),
)
"""Cosignatures of witnesses, by size of the log and name of the witness, as lines of a signed note. Only the newest
few of each witness are kept."""

restorations = Table(
    "restorations",
    metadata,
    Column("log_size", Integer, primary_key=True, autoincrement=False),
    Column("restored_day", Integer, nullable=False),
)
"""Holds a row while this copy of the log, restored from a back-up, has not been compared with what others have seen.
Nothing is appended as long as it is there (see `aggregator.log.restored`)."""
