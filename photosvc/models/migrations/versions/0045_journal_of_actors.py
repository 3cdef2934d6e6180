"""Find the oldest changes of an actor, whose journal is bounded in bytes."""

from alembic import op

revision = "0045"
down_revision = "0044"
branch_labels = None
depends_on = None

NAME = "ix_photosvc_photo_changes_actor"


def upgrade() -> None:
    """Forward."""
    op.create_index(NAME, "photosvc_photo_changes", ["actor_uid", "id"])


def downgrade() -> None:
    """Back."""
    op.drop_index(NAME, "photosvc_photo_changes")
