"""Fewer indexes of the search rows, each of which every new, changed and deleted file has to update.

Tables of the library find UIDs and hashes. The index of the order `added` holds the values that had an index each in
that order, and the numbers of the shuffled order; that of the order `updated` holds when a photo was added.
"""

from collections.abc import Iterable

from photosvc.models.migrations.tables import create_search_index, drop_search_index

revision = "0051"
down_revision = "0050"

#: The end of the name of an index -> its columns.
NEW = {
    "added": "newest_key private listed shuffle photo_id color photo_type camera_id country year",
    "taken": "taken_at newest_key private listed photo_id color photo_type",
    "updated": "updated_at newest_key private created_at",
    "photo_type": "photo_type newest_key",
}
OLD = {
    "added": "newest_key private photo_id",
    "taken": "taken_at newest_key private photo_id",
    "updated": "updated_at newest_key private",
    "random": "shuffle newest_key private listed",
    "created": "created_at",
    "camera_id_added": "camera_id newest_key",
    "color_added": "color newest_key",
    "color_taken": "color taken_at newest_key",
    "country_added": "country newest_key",
    "photo_type_added": "photo_type newest_key",
    "photo_type_taken": "photo_type taken_at newest_key",
    "year_added": "year newest_key",
    "photo_uid": "photo_uid",
    "file_uid": "file_uid",
    "hash": "hash",
}
#: Indexes of all rows, not only of listed ones.
WHOLE = frozenset({"photo_uid", "file_uid", "hash"})
#: Indexes of orders: PostgreSQL reads a page from them alone.
ORDERS = frozenset({"added", "taken", "updated", "random"})


def upgrade() -> None:
    """Replace the indexes."""
    _replace(OLD, NEW)


def downgrade() -> None:
    """Create the former indexes again."""
    _replace(NEW, OLD)


def _replace(before: Iterable[str], after: dict[str, str]) -> None:
    for name in before:
        drop_search_index(name)
    for name, columns in after.items():
        further = " AND photo_type <> 'image'" if name == "photo_type" else ""
        where = None if name in WHOLE else f"listed{further}"
        create_search_index(name, columns, where, ["file_id"] if name in ORDERS else [])
