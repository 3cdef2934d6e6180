"""Add the orientations that people chose for files."""

import sqlalchemy as sa
from alembic import op

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("photosvc_files", sa.Column("orientation_src", sa.Text(), nullable=False, server_default=""))
    op.add_column("photosvc_files", sa.Column("turn", sa.SmallInteger(), nullable=False, server_default="1"))


def downgrade() -> None:
    """Back."""
    op.drop_column("photosvc_files", "turn")
    op.drop_column("photosvc_files", "orientation_src")
