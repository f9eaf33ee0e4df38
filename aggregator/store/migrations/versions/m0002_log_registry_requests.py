"""Tables of log, registry versions, refusals, invites and requests. Revision 0001 was part of an unreleased version."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = None


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "registry_versions",
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("envelope", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "entries",
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("leaf_hash", sa.LargeBinary(32), nullable=False),
        sa.Column("envelope", sa.LargeBinary, nullable=False),
        sa.Column("site", sa.String(16), nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column(
            "registry", sa.Integer, sa.ForeignKey("registry_versions.version"), nullable=False
        ),
        sa.Column("ledger_length", sa.Integer, nullable=False),
        sa.Column("ledger_head", sa.String(64), nullable=False),
        sa.Column("settles", sa.String(64), unique=True),
        sa.Column("scores_root", sa.String(64), index=True),
        sa.Column("figures", sa.String(64), index=True),
        sa.Column("checkpoint", sa.Text, nullable=False),
        sa.UniqueConstraint("site", "epoch", "seq", name="one_link_per_place"),
    )
    op.create_index("entries_of_a_kind", "entries", ["site", "kind", "position"])
    op.create_table(
        "forks",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("site", sa.String(16), nullable=False),
        sa.Column("epoch", sa.Integer, nullable=False),
        sa.Column("seq", sa.Integer, nullable=False),
        sa.Column("envelope", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "refusals",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("site", sa.String(16), nullable=False),
        sa.Column("code", sa.String(32), nullable=False),
        sa.Column("log_size", sa.Integer, nullable=False),
        sa.Column("note", sa.Text, nullable=False),
    )
    op.create_table(
        "invites",
        sa.Column("site", sa.String(16), primary_key=True),
        sa.Column("display_name", sa.Text, nullable=False),
        sa.Column("publication", sa.String(8), nullable=False),
        sa.Column("token_verifier", sa.String(64), nullable=False),
        sa.Column("expires_day", sa.Integer, nullable=False),
    )
    op.create_table(
        "enrolment_requests",
        sa.Column("site", sa.String(16), sa.ForeignKey("invites.site"), primary_key=True),
        sa.Column("digest", sa.String(64), nullable=False, unique=True),
        sa.Column("envelope", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "rekeying_requests",
        sa.Column("digest", sa.String(64), primary_key=True),
        sa.Column("site", sa.String(16), nullable=False, index=True),
        sa.Column("signed_by_known_keys", sa.Boolean, nullable=False),
        sa.Column("envelope", sa.LargeBinary, nullable=False),
    )


def downgrade() -> None:
    """Refuse: evidence must never be deleted by a tool. Restore a backup instead."""
    raise NotImplementedError("the database cannot be downgraded")
