"""Add sidecars, and the sources of favourites and archived photos."""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SIDECARS, LINKS, PHOTOS = "photosvc_sidecars", "photosvc_file_sidecars", "photosvc_photos"
SOURCES = ("favorite_src", "archived_src")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        SIDECARS,
        sa.Column("id", ROW_ID, nullable=False),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("root", "name", "folder")),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("album_id", ROW_ID, nullable=True),
        sa.Column("reader_version", sa.SmallInteger(), nullable=False),
        *(sa.Column(name, sa.DateTime(), nullable=False) for name in ("created_at", "updated_at")),
        sa.ForeignKeyConstraint(
            ["album_id"], ["photosvc_albums.id"], name=op.f(f"fk_{SIDECARS}_album_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{SIDECARS}")),
        sa.UniqueConstraint("root", "name", name=op.f(f"uq_{SIDECARS}_root_name")),
    )
    for column in ("folder", "album_id"):
        op.create_index(op.f(f"ix_{SIDECARS}_{column}"), SIDECARS, [column])
    op.create_table(
        LINKS,
        sa.Column("file_id", ROW_ID, nullable=False),
        sa.Column("sidecar_id", ROW_ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"], ["photosvc_files.id"], name=op.f(f"fk_{LINKS}_file_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["sidecar_id"], [f"{SIDECARS}.id"], name=op.f(f"fk_{LINKS}_sidecar_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("file_id", "sidecar_id", name=op.f(f"pk_{LINKS}")),
    )
    op.create_index(op.f(f"ix_{LINKS}_sidecar_id"), LINKS, ["sidecar_id"])
    for name in SOURCES:
        op.add_column(PHOTOS, sa.Column(name, sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Back."""
    for name in SOURCES:
        op.drop_column(PHOTOS, name)
    op.drop_table(LINKS)
    op.drop_table(SIDECARS)
