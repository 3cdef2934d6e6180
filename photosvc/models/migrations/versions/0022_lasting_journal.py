"""Let the journal name photos by their UIDs, so that it lasts longer than they do."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None

CHANGES, PHOTOS = "photosvc_photo_changes", "photosvc_photos"


def upgrade() -> None:
    """Forward."""
    op.add_column(CHANGES, sa.Column("photo_uid", sa.Text(), nullable=False, server_default=""))
    op.execute(
        "UPDATE photosvc_photo_changes SET photo_uid = coalesce("
        "(SELECT uid FROM photosvc_photos WHERE photosvc_photos.id = photosvc_photo_changes.photo_id), '')"
    )
    op.drop_index(f"ix_{CHANGES}_photo_id", CHANGES, if_exists=True)
    with op.batch_alter_table(CHANGES) as batch:
        batch.drop_column("photo_id")
    op.create_index(f"ix_{CHANGES}_photo_uid", CHANGES, ["photo_uid"])


def downgrade() -> None:
    """Back. The changes of photos that are gone are lost."""
    op.drop_index(f"ix_{CHANGES}_photo_uid", CHANGES, if_exists=True)
    op.add_column(CHANGES, sa.Column("photo_id", RowId))
    op.execute("UPDATE photosvc_photo_changes SET photo_id = (SELECT id FROM photosvc_photos WHERE uid = photo_uid)")
    op.execute("DELETE FROM photosvc_photo_changes WHERE photo_id IS NULL")
    with op.batch_alter_table(CHANGES) as batch:
        batch.drop_column("photo_uid")
        batch.alter_column("photo_id", existing_type=RowId, nullable=False)
        batch.create_foreign_key(f"fk_{CHANGES}_photo_id_{PHOTOS}", PHOTOS, ["photo_id"], ["id"], ondelete="CASCADE")
    op.create_index(f"ix_{CHANGES}_photo_id", CHANGES, ["photo_id"])
