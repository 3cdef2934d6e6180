"""Hashes of versions of pictures."""

import sqlalchemy as sa
from alembic import op

revision = "0049"
down_revision = "0048"


def upgrade() -> None:
    """Add the column, which the next index run fills."""
    op.add_column("photosvc_files", sa.Column("look_versions", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Remove the column."""
    op.drop_column("photosvc_files", "look_versions")
