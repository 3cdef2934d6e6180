"""Index when photos were added, and beginnings of names on PostgreSQL in every language."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
NAMES = ("name_key", "file_key")
LISTED: dict[str, Any] = {"sqlite_where": sa.text("listed = 1"), "postgresql_where": sa.text("listed")}


def upgrade() -> None:
    """Forward."""
    op.create_index(f"ix_{ROWS}_created", ROWS, ["created_at"], **LISTED)
    _make_pattern_indexes("text_pattern_ops")


def downgrade() -> None:
    """Back."""
    _make_pattern_indexes("text_ops")
    op.drop_index(f"ix_{ROWS}_created", ROWS, if_exists=True)


def _make_pattern_indexes(operators: str) -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    for name in NAMES:
        index = f"ix_{ROWS}_{name}_pattern"
        op.drop_index(index, ROWS, if_exists=True)
        op.create_index(index, ROWS, [name, "oldest_key", "listed"], postgresql_ops={name: operators}, **LISTED)
