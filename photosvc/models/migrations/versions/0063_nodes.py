"""Machines by their heartbeats, and the machine on which a job runs."""

import sqlalchemy as sa
from alembic import op

revision = "0063"
down_revision = "0062"
branch_labels = None
depends_on = None

TABLE = "photosvc_nodes"


def upgrade() -> None:
    """Create the table of machines."""
    op.create_table(
        TABLE,
        sa.Column("machine", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("clock_offset", sa.BigInteger(), nullable=False),
        sa.Column("cache_bytes", sa.BigInteger(), nullable=False),
        sa.Column("cache_limit", sa.BigInteger(), nullable=False),
        sa.Column("ended", sa.Boolean(), nullable=False),
        sa.Column("seen_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("machine", "role", name=f"pk_{TABLE}"),
    )
    op.create_index(f"ix_{TABLE}_seen_at", TABLE, ["seen_at"])
    op.add_column("photosvc_jobs", sa.Column("machine", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("photosvc_jobs", "machine")
    op.drop_table(TABLE)
