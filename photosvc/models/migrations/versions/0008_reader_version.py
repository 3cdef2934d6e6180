"""Add the version of the reader that last read each file: 0 for files of earlier versions, which are read again."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

TABLES = ("photosvc_files", "photosvc_rejected_files")


def upgrade() -> None:
    """Forward."""
    for table in TABLES:
        op.add_column(table, sa.Column("reader_version", sa.SmallInteger(), nullable=False, server_default="0"))


def downgrade() -> None:
    """Back."""
    for table in TABLES:
        op.drop_column(table, "reader_version")
