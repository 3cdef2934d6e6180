"""Albums that are shared with accounts."""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"
branch_labels = None
depends_on = None

TABLE, USERS = "photosvc_album_shares", "photosvc_users"
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of shares."""
    op.create_table(
        TABLE,
        sa.Column("id", ROW_ID, primary_key=True),
        sa.Column("user_id", ROW_ID, nullable=False),
        sa.Column("album_uid", sa.Text(), nullable=False),
        sa.Column("contributes", sa.Boolean(), nullable=False),
        sa.Column("owner_id", ROW_ID, nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{TABLE}"),
        sa.UniqueConstraint("user_id", "album_uid", name=f"uq_{TABLE}_user_id_album_uid"),
        sa.ForeignKeyConstraint(["user_id"], [f"{USERS}.id"], name=f"fk_{TABLE}_user_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["owner_id"], [f"{USERS}.id"], name=f"fk_{TABLE}_owner_id", ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{TABLE}_album_uid", TABLE, ["album_uid"])
    op.create_index(f"ix_{TABLE}_owner_id", TABLE, ["owner_id"])


def downgrade() -> None:
    """Remove it; guests would have no role that the former version knows, so they become viewers who are disabled."""
    op.execute(sa.text(f"UPDATE {USERS} SET role = 'viewer', disabled = true WHERE role = 'guest'"))  # noqa: S608
    op.drop_table(TABLE)
