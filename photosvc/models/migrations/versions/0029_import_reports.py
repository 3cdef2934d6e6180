"""Keep what became of imports."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

REPORTS = "photosvc_import_reports"
FAILURES = "photosvc_import_failures"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        REPORTS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("imported", sa.Integer(), nullable=False),
        sa.Column("duplicate", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("wished_at", UTCDateTime(), nullable=False),
        sa.Column("started_at", UTCDateTime(), nullable=False),
        sa.Column("ended_at", UTCDateTime(), nullable=True),
        sa.UniqueConstraint("folder", "wished_at", name=f"uq_{REPORTS}_folder_wished_at"),
    )
    op.create_index(f"ix_{REPORTS}_started_at", REPORTS, ["started_at"])
    op.create_table(
        FAILURES,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("report_id", RowId, sa.ForeignKey(f"{REPORTS}.id", ondelete="CASCADE"), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_index(f"ix_{FAILURES}_report_id", FAILURES, ["report_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table(FAILURES)
    op.drop_table(REPORTS)
