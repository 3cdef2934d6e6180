"""Keep the look-alikes that were found, and which of them are not the same."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId

revision = "0040"
down_revision = "0039"
branch_labels = None
depends_on = None

FOUND = "photosvc_look_alikes"
DISTINCT = "photosvc_distinct_photos"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        FOUND,
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("place", sa.SmallInteger(), autoincrement=False, nullable=False),
        sa.Column("photo_id", RowId, sa.ForeignKey("photosvc_photos.id", ondelete="CASCADE"), nullable=False),
        sa.Column("distance", sa.SmallInteger(), nullable=False),
        sa.PrimaryKeyConstraint("number", "place"),
    )
    op.create_index(f"ix_{FOUND}_photo_id", FOUND, ["photo_id"])
    op.create_table(
        DISTINCT,
        sa.Column("number", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("photo_id", RowId, sa.ForeignKey("photosvc_photos.id", ondelete="CASCADE"), nullable=False),
        sa.PrimaryKeyConstraint("number", "photo_id"),
    )
    op.create_index(f"ix_{DISTINCT}_photo_id", DISTINCT, ["photo_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table(DISTINCT)
    op.drop_table(FOUND)
