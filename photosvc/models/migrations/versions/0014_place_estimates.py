"""Add which photos wait for an estimate of their place, and the index that finds the neighbours of a photo."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

PHOTOS = "photosvc_photos"


def upgrade() -> None:
    """Forward."""
    op.add_column(PHOTOS, sa.Column("place_due", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.drop_index(op.f(f"ix_{PHOTOS}_camera_id"), PHOTOS, if_exists=True)
    op.create_index(f"ix_{PHOTOS}_camera", PHOTOS, ["camera_id", "camera_serial", "taken_at_local"])
    op.create_index(
        f"ix_{PHOTOS}_due",
        PHOTOS,
        ["id"],
        sqlite_where=sa.text("place_due = 1"),
        postgresql_where=sa.text("place_due"),
    )


def downgrade() -> None:
    """Back."""
    op.drop_index(f"ix_{PHOTOS}_due", PHOTOS, if_exists=True)
    op.drop_index(f"ix_{PHOTOS}_camera", PHOTOS, if_exists=True)
    op.create_index(op.f(f"ix_{PHOTOS}_camera_id"), PHOTOS, ["camera_id"])
    op.drop_column(PHOTOS, "place_due")
