"""Add the people that were renamed, and the names in files that stand for them."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId, UTCDateTime

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None

SUBJECTS = "photosvc_subjects"
NAMES = "photosvc_subject_names"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        SUBJECTS,
        sa.Column("id", RowId, primary_key=True),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.Column("updated_at", UTCDateTime(), nullable=False),
        sa.UniqueConstraint("uid", name=f"uq_{SUBJECTS}_uid"),
        sa.UniqueConstraint("folded", name=f"uq_{SUBJECTS}_folded"),
    )
    op.create_table(
        NAMES,
        sa.Column("folded", sa.Text(), primary_key=True),
        sa.Column("subject_id", RowId, sa.ForeignKey(f"{SUBJECTS}.id", ondelete="CASCADE"), nullable=False),
    )
    op.create_index(f"ix_{NAMES}_subject_id", NAMES, ["subject_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table(NAMES)
    op.drop_table(SUBJECTS)
