"""Add files on their way, those that were uploaded, and folders to import."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

UPLOADS = "photosvc_uploads"
FILES = "photosvc_uploaded_files"
IMPORTS = "photosvc_import_wishes"
_USER = "photosvc_users.id"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        UPLOADS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("user_id", RowId, sa.ForeignKey(_USER, ondelete="CASCADE"), nullable=False),
        sa.Column("bundle", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("described", sa.Text(), nullable=False),
        sa.Column("finished", sa.Boolean(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
        sa.Column("expires_at", UTCDateTime(), nullable=False),
        sa.UniqueConstraint("token", name=f"uq_{UPLOADS}_token"),
    )
    op.create_index(f"ix_{UPLOADS}_user_id_bundle", UPLOADS, ["user_id", "bundle"])
    op.create_index(f"ix_{UPLOADS}_expires_at", UPLOADS, ["expires_at"])
    op.create_table(
        FILES,
        sa.Column("hash", sa.Text(), primary_key=True),
        sa.Column("user_id", RowId, sa.ForeignKey(_USER, ondelete="SET NULL"), nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("original_name", sa.Text(), nullable=False),
        sa.Column("albums", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )
    op.create_index(f"ix_{FILES}_user_id_size", FILES, ["user_id", "size"])
    op.create_index(f"ix_{FILES}_albums", FILES, ["albums"])
    op.create_table(
        IMPORTS,
        sa.Column("folder", sa.Text(), primary_key=True),
        sa.Column("moves", sa.Boolean(), nullable=False),
        sa.Column("user_id", RowId, sa.ForeignKey(_USER, ondelete="SET NULL"), nullable=True),
        sa.Column("albums", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table(IMPORTS)
    op.drop_table(FILES)
    op.drop_table(UPLOADS)
