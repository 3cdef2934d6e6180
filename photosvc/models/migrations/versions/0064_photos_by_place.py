"""An index of the order by place in place of that of towns, and a column more in those of the orders by time.

Towns are counted in the new index too. The column marks the first file of each photo: positions of photos are counted
in the index of an order. PostgreSQL compares places by code point from now on, as SQLite does: by the rules of a
language, blanks and hyphens would count less than letters, and the two databases would give other pages.
"""

from alembic import op

from photosvc.models.migrations.tables import create_search_index, drop_search_index

revision = "0064"
down_revision = "0063"

_SHOWN = "listed private is_first aspect_ratio color photo_type"
PLACE = "country state_key city_key"
#: The end of the name of an index -> its columns.
NEW = {
    "taken": "taken_at newest_key private listed photo_id color photo_type year month portrait is_first",
    "oldest": "taken_at oldest_key private photo_id is_first",
    "place": f"{PLACE} oldest_key {_SHOWN} newest_key",
}
OLD = {
    "taken": "taken_at newest_key private listed photo_id color photo_type year month portrait",
    "oldest": "taken_at oldest_key private photo_id",
    "towns": f"country city_key newest_key {_SHOWN}",
}
#: The index of all rows, not only of listed ones; it serves no order.
WHOLE = "towns"


def upgrade() -> None:
    """Replace the indexes."""
    _replace(OLD, NEW, "C")


def downgrade() -> None:
    """Create the former indexes again."""
    _replace(NEW, OLD, "default")


def _replace(before: dict[str, str], after: dict[str, str], collation: str) -> None:
    for name in before:
        drop_search_index(name)
    if op.get_context().dialect.name == "postgresql":  # in one statement: each rebuilds the other indexes of places
        changes = (f'ALTER COLUMN {column} TYPE text COLLATE "{collation}"' for column in PLACE.split())
        op.execute(f"ALTER TABLE photosvc_search_rows {', '.join(changes)}")
    for name, columns in after.items():
        create_search_index(name, columns, *((None, ()) if name == WHOLE else ()))
