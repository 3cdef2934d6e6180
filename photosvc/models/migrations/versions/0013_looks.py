"""Add the perceptual hash of files, in four indexed parts; -1 until the next index run reads them again."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

FILES = "photosvc_files"
PARTS = ("look_1", "look_2", "look_3", "look_4")


def upgrade() -> None:
    """Forward."""
    for part in PARTS:
        op.add_column(FILES, sa.Column(part, sa.Integer(), nullable=False, server_default="-1"))
        op.create_index(f"ix_{FILES}_{part}", FILES, [part])


def downgrade() -> None:
    """Back."""
    for part in PARTS:
        op.drop_index(f"ix_{FILES}_{part}", FILES, if_exists=True)
        op.drop_column(FILES, part)
