"""Machines by their heartbeats, and the machine on which a job runs."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import BIG, FLAG, TEXT, TIME, each, index, table

revision = "0063"
down_revision = "0062"


def upgrade() -> None:
    """Create the table of machines."""
    table(
        "nodes",
        *each(TEXT, "machine role name version"),
        *each(BIG, "clock_offset cache_bytes cache_limit"),
        *each(FLAG, "ended"),
        *each(TIME, "seen_at"),
        key="machine role",
    )
    index("nodes", "seen_at")
    op.add_column("photosvc_jobs", sa.Column("machine", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("photosvc_jobs", "machine")
    op.drop_table("photosvc_nodes")
