"""Public links to albums, and the visits that they open."""

from alembic import op

from photosvc.models.migrations.tables import FLAG, NUMBER, ROW_ID, TEXT, TIME, each, index, table

revision = "0056"
down_revision = "0055"


def upgrade() -> None:
    """Create the table of links, and the one of visits."""
    table(
        "links",
        *each(ROW_ID, "id"),
        *each(TEXT, "uid digest slug album_uid"),
        *each(ROW_ID, "user_id", nullable=True),
        *each(TEXT, "created_by comment password_hash"),
        *each(TIME, "expires_at", nullable=True),
        *each(NUMBER, "max_views views"),
        *each(TIME, "last_view_at", nullable=True),
        *each(FLAG, "downloads metadata_shown"),
        *each(TIME, "created_at updated_at"),
        key="id",
        unique=["uid", "digest"],
        refers=[("user_id", "users.id", "CASCADE")],
        sqlite_autoincrement=True,
    )
    index("links", "album_uid")
    index("links", "user_id")
    table(
        "visits",
        *each(ROW_ID, "credential_id", autoincrement=False),
        *each(ROW_ID, "link_id"),
        key="credential_id",
        refers=[("credential_id", "credentials.id", "CASCADE"), ("link_id", "links.id", "CASCADE")],
    )
    index("visits", "link_id")


def downgrade() -> None:
    """Remove both, with the credentials of the visits."""
    op.drop_table("photosvc_visits")
    op.drop_table("photosvc_links")
    op.execute("DELETE FROM photosvc_credentials WHERE kind = 'visit'")
