"""Add the keys that sign metadata and tokens."""

import sqlalchemy as sa
from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

KEYS = "photosvc_signing_keys"


def upgrade() -> None:
    """Forward. The first process that needs a key takes over those of the folder `signing_keys`."""
    op.create_table(
        KEYS,
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name=op.f(f"pk_{KEYS}")),
    )


def downgrade() -> None:
    """Back. The earlier version signs with the keys of its folder, or makes a new one."""
    op.drop_table(KEYS)
