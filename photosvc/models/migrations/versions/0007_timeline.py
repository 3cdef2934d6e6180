"""Add what the timeline and the map read: the first file of each photo, its day, and two covering indexes."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
READ = ("listed", "private", "is_first", "aspect_ratio", "color", "photo_type")
INDEXES = {
    "timeline": ("timeline_day", "taken_at", "newest_key", *READ),
    "map": ("lat", "lng", "newest_key", *READ),
}


def upgrade() -> None:
    """Forward."""
    op.add_column(ROWS, sa.Column("is_first", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column(ROWS, sa.Column("timeline_day", sa.Integer(), nullable=False, server_default="0"))
    # The highest key belongs to the file with the lowest rank.
    op.execute(
        f"""
        UPDATE {ROWS} SET
            is_first = listed AND newest_key = (
                SELECT max(others.newest_key) FROM {ROWS} AS others
                WHERE others.photo_id = {ROWS}.photo_id AND others.listed
            ),
            timeline_day = CASE
                WHEN year > 0 AND month > 0 THEN year * 10000 + month * 100 + CASE WHEN day > 0 THEN day ELSE 0 END
                ELSE 0
            END
        """  # noqa: S608 - constants
    )
    for name, columns in INDEXES.items():
        op.create_index(f"ix_{ROWS}_{name}", ROWS, columns)


def downgrade() -> None:
    """Back."""
    for name in INDEXES:
        op.drop_index(f"ix_{ROWS}_{name}", ROWS, if_exists=True)
    for name in ("timeline_day", "is_first"):
        op.drop_column(ROWS, name)
