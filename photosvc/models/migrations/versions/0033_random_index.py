"""Let PostgreSQL sort in random order what its index holds, without the rows."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
NAME = f"ix_{ROWS}_random"
COLUMNS = ["shuffle", "newest_key", "private", "listed"]


def upgrade() -> None:
    """Forward."""
    _replace(["file_id"])


def downgrade() -> None:
    """Back."""
    _replace([])


def _replace(included: list[str]) -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_index(NAME, ROWS, if_exists=True)
        op.create_index(NAME, ROWS, COLUMNS, postgresql_where=sa.text("listed"), postgresql_include=included)
