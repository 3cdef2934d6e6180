"""Index the countries and towns that the map of a search lists."""

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
READ = ("listed", "private", "is_first", "aspect_ratio", "color", "photo_type")


def upgrade() -> None:
    """Forward."""
    op.create_index(f"ix_{ROWS}_towns", ROWS, ["country", "city_key", "newest_key", *READ])


def downgrade() -> None:
    """Back."""
    op.drop_index(f"ix_{ROWS}_towns", ROWS)
