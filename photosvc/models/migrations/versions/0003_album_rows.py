"""Add rows of albums in their orders; append `private` to the indexes of orders, to skip rows unread."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
ROWS, ALBUMS, VOCABULARY = "photosvc_search_rows", "photosvc_search_albums", "photosvc_search_text_vocabulary"

ORDERS = {
    "updated": ("updated_at", "newest_key"),
    "edited": ("edited_at", "newest_key"),
    "relevance": ("quality", "taken_at", "newest_key"),
    "duration": ("duration", "newest_key"),
    "size": ("size", "newest_key"),
    "photo_size": ("photo_size", "newest_key"),
    "similar": ("color", "cell_id", "photo_diff", "oldest_key"),
    "name": ("path", "name", "oldest_key"),
    "title": ("title_key", "name", "oldest_key"),
}
OF_ALBUMS = {
    "added": ("newest_key",),
    "taken": ("taken_at", "newest_key"),
    "oldest": ("taken_at", "oldest_key"),
}


def upgrade() -> None:
    """Forward."""
    op.create_table(
        ALBUMS,
        sa.Column("album_id", ROW_ID, nullable=False),
        sa.Column("file_id", ROW_ID, nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("taken_at", "newest_key", "oldest_key")),
        sa.ForeignKeyConstraint(
            ["album_id"], ["photosvc_albums.id"], name=op.f(f"fk_{ALBUMS}_album_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["file_id"], [f"{ROWS}.file_id"], name=op.f(f"fk_{ALBUMS}_file_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("album_id", "file_id", name=op.f(f"pk_{ALBUMS}")),
    )
    op.execute(
        f"""
        INSERT INTO {ALBUMS} (album_id, file_id, taken_at, newest_key, oldest_key)
        SELECT members.album_id, files.file_id, files.taken_at, files.newest_key, files.oldest_key
        FROM photosvc_album_photos AS members JOIN {ROWS} AS files ON files.photo_id = members.photo_id
        WHERE NOT members.hidden
        """  # noqa: S608 - constants
    )
    op.create_index(op.f(f"ix_{ALBUMS}_file_id"), ALBUMS, ["file_id"])
    for name, columns in OF_ALBUMS.items():
        op.create_index(f"ix_{ALBUMS}_{name}", ALBUMS, ["album_id", *columns, "file_id"])
    _index_orders("private")
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"CREATE VIRTUAL TABLE {VOCABULARY} USING fts5vocab('photosvc_search_text_index', 'row')")


def downgrade() -> None:
    """Back."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute(f"DROP TABLE {VOCABULARY}")
    _index_orders()
    op.drop_table(ALBUMS)


def _index_orders(*further: str) -> None:
    on_sqlite, on_postgresql = sa.text("listed = 1"), sa.text("listed")
    for name, columns in ORDERS.items():
        op.drop_index(f"ix_{ROWS}_{name}", ROWS, if_exists=True)
        op.create_index(
            f"ix_{ROWS}_{name}", ROWS, [*columns, *further], sqlite_where=on_sqlite, postgresql_where=on_postgresql
        )
