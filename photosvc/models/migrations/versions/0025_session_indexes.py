"""Index the login sessions of each owner, and those that end without use."""

import sqlalchemy as sa
from alembic import op

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

CREDENTIALS = "photosvc_credentials"


def upgrade() -> None:
    """Forward."""
    op.create_index(f"ix_{CREDENTIALS}_owner", CREDENTIALS, ["user_id", "kind", "parent_id", "id"])
    op.create_index(
        f"ix_{CREDENTIALS}_idle",
        CREDENTIALS,
        ["idle_seconds", "last_used_at"],
        sqlite_where=sa.text("idle_seconds IS NOT NULL"),
        postgresql_where=sa.text("idle_seconds IS NOT NULL"),
    )
    op.drop_index(op.f(f"ix_{CREDENTIALS}_user_id"), CREDENTIALS, if_exists=True)


def downgrade() -> None:
    """Back."""
    op.create_index(op.f(f"ix_{CREDENTIALS}_user_id"), CREDENTIALS, ["user_id"])
    op.drop_index(f"ix_{CREDENTIALS}_idle", CREDENTIALS, if_exists=True)
    op.drop_index(f"ix_{CREDENTIALS}_owner", CREDENTIALS, if_exists=True)
