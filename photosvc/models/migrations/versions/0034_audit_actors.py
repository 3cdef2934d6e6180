"""Index the security log by who acts."""

from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

AUDIT = "photosvc_audit"


def upgrade() -> None:
    """Forward."""
    op.create_index(f"ix_{AUDIT}_part_actor_uid_id", AUDIT, ["part", "actor_uid", "id"])


def downgrade() -> None:
    """Back."""
    op.drop_index(f"ix_{AUDIT}_part_actor_uid_id", AUDIT, if_exists=True)
