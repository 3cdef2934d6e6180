"""Add which pictures contain a video."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

FILES = "photosvc_files"


def upgrade() -> None:
    """Forward."""
    op.add_column(FILES, sa.Column("motion", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Back."""
    op.drop_column(FILES, "motion")
