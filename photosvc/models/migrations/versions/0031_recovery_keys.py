"""Add keys of recovery codes, which outlive the service key."""

import sqlalchemy as sa
from alembic import op

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

USERS = "photosvc_users"


def upgrade() -> None:
    """Forward."""
    op.add_column(USERS, sa.Column("recovery_key", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Back. Recovery codes from before the service key was replaced are not accepted any more."""
    op.drop_column(USERS, "recovery_key")
