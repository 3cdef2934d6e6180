"""The mark of each photo's first file in the indexes of the orders other than by time.

The grid counts photos up to a position there, and must not read a row for each of them.
"""

from photosvc.models.migrations.tables import replace_search_index

revision = "0057"
down_revision = "0056"

#: The end of the name of an index -> its columns before.
BEFORE = {
    "added": "newest_key private listed shuffle photo_id color photo_type camera_id country year month portrait",
    "updated": "updated_at newest_key private created_at",
    "edited": "edited_at newest_key private",
    "relevance": "quality taken_at newest_key private",
    "duration": "duration newest_key private",
    "photo_size": "photo_size newest_key private",
    "similar": "color cell_id photo_diff oldest_key private",
    "name": "path name oldest_key private",
    "title": "title_key name oldest_key private listed",
}


def upgrade() -> None:
    """Append the mark."""
    for name, columns in BEFORE.items():
        replace_search_index(name, f"{columns} is_first")


def downgrade() -> None:
    """Create the former indexes again."""
    for name, columns in BEFORE.items():
        replace_search_index(name, columns)
