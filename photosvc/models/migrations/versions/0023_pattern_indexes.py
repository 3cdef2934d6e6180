"""Index names for patterns, the numbers of the order `random`, and photos whose time is far from their local day."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
INDEXES = {
    "name_key_pattern": (("name_key", "oldest_key", "listed"), "listed"),
    "file_key_pattern": (("file_key", "oldest_key", "listed"), "listed"),
    "random": (("shuffle", "newest_key", "private", "listed"), "listed"),
    "far_day": (("taken_day", "taken_at"), "far_day"),
}
TITLE = ("title_key", "name", "oldest_key", "private")


def upgrade() -> None:
    """Forward. Until the next index run computes it, `far_day` claims nothing of the times of photos."""
    op.add_column(ROWS, sa.Column("far_day", sa.Boolean(), nullable=False, server_default=sa.true()))
    for name, (columns, flag) in INDEXES.items():
        _create(name, columns, flag)
    op.drop_index(f"ix_{ROWS}_title", ROWS, if_exists=True)
    _create("title", (*TITLE, "listed"), "listed")


def downgrade() -> None:
    """Back."""
    op.drop_index(f"ix_{ROWS}_title", ROWS, if_exists=True)
    _create("title", TITLE, "listed")
    for name in INDEXES:
        op.drop_index(f"ix_{ROWS}_{name}", ROWS, if_exists=True)
    op.drop_column(ROWS, "far_day")


def _create(name: str, columns: Sequence[str], flag: str) -> None:
    op.create_index(
        f"ix_{ROWS}_{name}",
        ROWS,
        list(columns),
        sqlite_where=sa.text(f"{flag} = 1"),
        postgresql_where=sa.text(flag),
    )
