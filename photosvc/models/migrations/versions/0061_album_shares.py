"""Albums that are shared with accounts."""

from alembic import op

from photosvc.models.migrations.tables import FLAG, ROW_ID, TEXT, TIME, each, index, table

revision = "0061"
down_revision = "0060"


def upgrade() -> None:
    """Create the table of shares."""
    table(
        "album_shares",
        *each(ROW_ID, "id user_id"),
        *each(TEXT, "album_uid"),
        *each(FLAG, "contributes"),
        *each(ROW_ID, "owner_id", nullable=True),
        *each(TEXT, "created_by"),
        *each(TIME, "created_at updated_at"),
        key="id",
        unique=["user_id album_uid"],
        refers=[("user_id", "users.id", "CASCADE"), ("owner_id", "users.id", "CASCADE")],
        sqlite_autoincrement=True,
    )
    index("album_shares", "album_uid")
    index("album_shares", "owner_id")


def downgrade() -> None:
    """Remove it; guests would have no role that the former version knows, so they become viewers who are disabled."""
    op.execute("UPDATE photosvc_users SET role = 'viewer', disabled = true WHERE role = 'guest'")
    op.drop_table("photosvc_album_shares")
