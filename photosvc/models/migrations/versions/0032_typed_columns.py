"""Search by stars, faces, sizes, words of descriptions and places, and sort by the time of archiving."""

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
TEXTS = "photosvc_search_texts"
COLUMNS = {
    "rating": sa.SmallInteger(),
    "faces": sa.SmallInteger(),
    "width": sa.Integer(),
    "height": sa.Integer(),
    "archived_at": sa.BigInteger(),
}


def upgrade() -> None:
    """Forward. The next index run computes the columns."""
    for name, kind in COLUMNS.items():
        op.add_column(ROWS, sa.Column(name, kind, nullable=False, server_default="0"))
    for name in ("description", "place"):
        op.add_column(TEXTS, sa.Column(name, sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Back."""
    for name in ("place", "description"):
        op.drop_column(TEXTS, name)
    for name in reversed(COLUMNS):
        op.drop_column(ROWS, name)
