"""Let labels and people be favourites."""

import sqlalchemy as sa
from alembic import op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

TABLES = ("photosvc_keywords", "photosvc_subjects")


def upgrade() -> None:
    """Forward."""
    for table in TABLES:
        op.add_column(table, sa.Column("favorite", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    """Back."""
    for table in TABLES:
        op.drop_column(table, "favorite")
