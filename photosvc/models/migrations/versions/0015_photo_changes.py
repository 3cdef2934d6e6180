"""Add the journal of changes by people, and the names of the values of a photo that people set."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None

CHANGES = "photosvc_photo_changes"


def upgrade() -> None:
    """Forward."""
    op.add_column("photosvc_photos", sa.Column("manual", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        CHANGES,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("photo_id", RowId, sa.ForeignKey("photosvc_photos.id", ondelete="CASCADE"), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("undoes", sa.Integer()),
        sa.Column("actor_uid", sa.Text(), nullable=False),
        sa.Column("actor_name", sa.Text(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_index(f"ix_{CHANGES}_photo_id", CHANGES, ["photo_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table(CHANGES)
    op.drop_column("photosvc_photos", "manual")
