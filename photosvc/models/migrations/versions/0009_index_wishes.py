"""Add the folders that wait to be indexed."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None

WISHES = "photosvc_index_wishes"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        WISHES,
        sa.Column("folder", sa.Text(), nullable=False),
        sa.Column("force", sa.Boolean(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("folder", name=op.f(f"pk_{WISHES}")),
    )


def downgrade() -> None:
    """Back."""
    op.drop_table(WISHES)
