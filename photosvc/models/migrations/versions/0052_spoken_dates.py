"""More values in the index of the order `newest`: searches for a year, a month or portraits read it alone.

Such searches of common words, as `december` or `2019`, also find photos with the word, so that no index of the value
drives them; they walk the order and must not read a row for each of its files.
"""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"
branch_labels = None
depends_on = None

TABLE = "photosvc_search_rows"
NAME = f"ix_{TABLE}_taken"
BEFORE = ("taken_at", "newest_key", "private", "listed", "photo_id", "color", "photo_type")
ADDED = ("year", "month", "portrait")


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
