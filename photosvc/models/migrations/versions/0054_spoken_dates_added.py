"""Month and portrait in the index of the order `added`, for which that of `newest` has them already.

Searches for words such as `december` and `portrait` walk the order and must not read a row for each of its files.
"""

import sqlalchemy as sa
from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

TABLE = "photosvc_search_rows"
NAME = f"ix_{TABLE}_added"
BEFORE = (
    "newest_key", "private", "listed", "shuffle", "photo_id", "color", "photo_type", "camera_id", "country", "year",
)  # fmt: skip
ADDED = ("month", "portrait")


def upgrade() -> None:
    """Append the values."""
    _replace(*BEFORE, *ADDED)


def downgrade() -> None:
    """Create the former index again."""
    _replace(*BEFORE)


def _replace(*columns: str) -> None:
    op.drop_index(NAME, TABLE)
    op.create_index(
        NAME,
        TABLE,
        columns,
        sqlite_where=sa.text("listed = 1"),
        postgresql_where=sa.text("listed"),
        postgresql_include=["file_id"],
    )
