"""Add the locks and dead properties of WebDAV."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import UTCDateTime

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None

LOCKS = "photosvc_dav_locks"
PROPERTIES = "photosvc_dav_properties"
SORT_TEXT = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        LOCKS,
        sa.Column("token", sa.Text(), primary_key=True),
        sa.Column("root", SORT_TEXT, nullable=False),
        sa.Column("user_uid", sa.Text(), nullable=False),
        sa.Column("exclusive", sa.Boolean(), nullable=False),
        sa.Column("deep", sa.Boolean(), nullable=False),
        sa.Column("owner", sa.Text(), nullable=False),
        sa.Column("seconds", sa.Integer(), nullable=False),
        sa.Column("expires_at", UTCDateTime(), nullable=False),
    )
    for column in ("root", "user_uid", "expires_at"):
        op.create_index(f"ix_{LOCKS}_{column}", LOCKS, [column])
    op.create_table(
        PROPERTIES,
        sa.Column("path", SORT_TEXT, primary_key=True),
        sa.Column("name", SORT_TEXT, primary_key=True),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("user_uid", sa.Text(), nullable=False),
    )
    op.create_index(f"ix_{PROPERTIES}_user_uid_size", PROPERTIES, ["user_uid", "size"])


def downgrade() -> None:
    """Back."""
    op.drop_table(PROPERTIES)
    op.drop_table(LOCKS)
