"""Count the tries of files whose problem may pass, and when the next one is due."""

import sqlalchemy as sa
from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

REJECTED = "photosvc_rejected_files"


def upgrade() -> None:
    """Forward."""
    op.add_column(REJECTED, sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"))
    op.add_column(REJECTED, sa.Column("retry_at", sa.DateTime(), nullable=True))
    op.create_index(f"ix_{REJECTED}_retry_at", REJECTED, ["retry_at"])


def downgrade() -> None:
    """Back."""
    op.drop_index(f"ix_{REJECTED}_retry_at", REJECTED)
    op.drop_column(REJECTED, "retry_at")
    op.drop_column(REJECTED, "attempts")
