"""Add the security log."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None

AUDIT = "photosvc_audit"
_TEXTS = ("actor_kind", "actor", "actor_uid", "credential", "address", "subject", "subject_uid", "target", "detail")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        AUDIT,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.Column("created_at", UTCDateTime(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in (*_TEXTS, "request_id")),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{AUDIT}_part_id", AUDIT, ["part", "id"])


def downgrade() -> None:
    """Back."""
    op.drop_table(AUDIT)
