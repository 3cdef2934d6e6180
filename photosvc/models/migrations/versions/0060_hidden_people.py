"""A column for people who are hidden from lists and suggestions."""

import sqlalchemy as sa
from alembic import op

revision = "0060"
down_revision = "0057"


def upgrade() -> None:
    """Add it; no person is hidden."""
    op.add_column("photosvc_subjects", sa.Column("hidden", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("photosvc_subjects", "hidden")
