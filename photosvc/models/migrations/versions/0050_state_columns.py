"""State in columns and tables of its own instead of in names.

Disks and the sizes of journals leave the named numbers of the library, whose names contained folders and UIDs. A file
that only counts in a quota has no hash; its path stood there.
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
UPLOADED = "photosvc_uploaded_files"
COPY = "photosvc_uploaded_files_before"
COLUMNS = "user_id, name, size, original_name, created_at"
#: Paths contain a dot or a slash, hashes neither.
IS_HASH = "length(hash) = 40 AND replace(replace(hash, '.', ''), '/', '') = hash"
ROWS = "FROM photosvc_library WHERE"
IS_DISK, IS_JOURNAL = "substr(name, 1, 5) = 'disk:'", "substr(name, 1, 8) = 'journal:'"


def upgrade() -> None:
    """Move the state; rows of the library that no table takes stay."""
    op.create_table(
        "photosvc_disks",
        sa.Column("folder", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("folder", name=op.f("pk_photosvc_disks")),
    )
    op.create_table(
        "photosvc_journal_sizes",
        sa.Column("actor_uid", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("actor_uid", name=op.f("pk_photosvc_journal_sizes")),
    )
    op.execute(f"INSERT INTO photosvc_disks SELECT substr(name, 6) {ROWS} {IS_DISK}")
    op.execute(f"INSERT INTO photosvc_journal_sizes SELECT substr(name, 9), value {ROWS} {IS_JOURNAL}")
    op.execute(f"DELETE {ROWS} {IS_DISK} OR {IS_JOURNAL}")
    _replace_uploaded(
        sa.Column("id", ROW_ID, nullable=False), sa.Column("hash", sa.Text(), nullable=True), key="id",
        hashes=f"CASE WHEN {IS_HASH} THEN hash END",
    )  # fmt: skip


def downgrade() -> None:
    """Move the state back."""
    _replace_uploaded(
        sa.Column("hash", sa.Text(), nullable=False), key="hash", hashes="coalesce(hash, name)",
        where=f"WHERE id IN (SELECT min(id) FROM {COPY} GROUP BY coalesce(hash, name))",  # noqa: S608 - constants
    )  # fmt: skip
    op.execute("INSERT INTO photosvc_library (name, value) SELECT 'disk:' || folder, 1 FROM photosvc_disks")
    op.execute(
        "INSERT INTO photosvc_library (name, value) SELECT 'journal:' || actor_uid, size FROM photosvc_journal_sizes"
    )
    op.drop_table("photosvc_journal_sizes")
    op.drop_table("photosvc_disks")


def _replace_uploaded(*columns: sa.Column[Any], key: str, hashes: str, where: str = "") -> None:
    """Create the table of uploaded files again with these first columns, and copy its rows."""
    op.execute(f"CREATE TABLE {COPY} AS SELECT * FROM {UPLOADED}")  # noqa: S608 - constants
    op.drop_table(UPLOADED)
    op.create_table(
        UPLOADED,
        *columns,
        sa.Column("user_id", ROW_ID, nullable=True),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("original_name", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["photosvc_users.id"], op.f(f"fk_{UPLOADED}_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint(key, name=op.f(f"pk_{UPLOADED}")),
        *([sa.UniqueConstraint("hash", name=op.f(f"uq_{UPLOADED}_hash"))] if key != "hash" else []),
    )
    op.create_index(op.f(f"ix_{UPLOADED}_user_id_size"), UPLOADED, ["user_id", "size"])
    rows = f"SELECT {hashes}, {COLUMNS} FROM {COPY} {where}"  # noqa: S608 - constants
    op.execute(f"INSERT INTO {UPLOADED} (hash, {COLUMNS}) {rows}")
    op.drop_table(COPY)
