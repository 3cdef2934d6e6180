"""Add whether a person chose the file that shows a photo."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Forward."""
    op.add_column("photosvc_files", sa.Column("primary_src", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Back."""
    op.drop_column("photosvc_files", "primary_src")
