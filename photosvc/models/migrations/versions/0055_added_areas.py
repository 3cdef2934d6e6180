"""A column for the areas that people add to files."""

import sqlalchemy as sa
from alembic import op

revision = "0055"
down_revision = "0054"


def upgrade() -> None:
    """Add it, without areas."""
    op.add_column("photosvc_files", sa.Column("added_areas", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("photosvc_files", "added_areas")
