"""Keep what index runs did."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0039"
down_revision = "0038"
branch_labels = None
depends_on = None

RUNS = "photosvc_index_runs"
COUNTS = ("to_read", "read", "indexed", "updated", "unchanged", "missing", "skipped", "failed")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        RUNS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("force", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in COUNTS),
        sa.Column("started_at", UTCDateTime(), nullable=False),
        sa.Column("ended_at", UTCDateTime(), nullable=True),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table(RUNS)
