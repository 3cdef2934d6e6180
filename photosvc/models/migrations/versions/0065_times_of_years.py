"""The index of photos whose time is elsewhere than their day also has those with a year and no day.

A search by years walks the orders by time between two times, as one by days does.
"""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"
branch_labels = None
depends_on = None

TABLE = "photosvc_search_rows"


def upgrade() -> None:
    """Replace the index."""
    _replace("taken_day taken_at year far_day", " OR taken_day = 0 AND year > 0")


def downgrade() -> None:
    """Create the former index again."""
    _replace("taken_day taken_at", "")


def _replace(columns: str, further: str) -> None:
    op.drop_index(f"ix_{TABLE}_far_day", TABLE)
    op.create_index(
        f"ix_{TABLE}_far_day",
        TABLE,
        columns.split(),
        sqlite_where=sa.text(f"far_day = 1{further}"),
        postgresql_where=sa.text(f"far_day{further}"),
    )
