"""Keep the names that people give to marked areas."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

FILES = "photosvc_files"


def upgrade() -> None:
    """Forward."""
    op.add_column(FILES, sa.Column("chosen_names", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Back."""
    op.drop_column(FILES, "chosen_names")
