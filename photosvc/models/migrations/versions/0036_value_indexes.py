"""Index values by which few photos are found, and read the orders of PostgreSQL without their rows."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"
branch_labels = None
depends_on = None

ROWS = "photosvc_search_rows"
VALUES = (
    "lens_id",
    "year",
    "photo_type",
    "stack",
    "stacked",
    "has_album",
    "favorite",
    "scan",
    "panorama",
    "quality",
    "rating",
    "faces",
    "resolution",
    "iso",
    "focal_length",
    "f_number",
    "camera_id",
    "altitude",
    "country",
    "state_key",
    "city_key",
    "month",
    "day",
    "color",
    "codec",
    "width",
    "height",
    "aspect_ratio",
    "chroma",
    "newest_key",
    "private",
    "listed",
)
PHOTO = ("photo_id", "taken_at", "newest_key", "private")
RARE = ("rating", "faces")
ORDERS = {
    "added": ("newest_key", "private", "photo_id"),
    "taken": ("taken_at", "newest_key", "private", "photo_id"),
    "oldest": ("taken_at", "oldest_key", "private", "photo_id"),
    "updated": ("updated_at", "newest_key", "private"),
    "edited": ("edited_at", "newest_key", "private"),
    "relevance": ("quality", "taken_at", "newest_key", "private"),
    "duration": ("duration", "newest_key", "private"),
    "size": ("size", "newest_key", "private"),
    "photo_size": ("photo_size", "newest_key", "private"),
    "similar": ("color", "cell_id", "photo_diff", "oldest_key", "private"),
    "name": ("path", "name", "oldest_key", "private"),
    "title": ("title_key", "name", "oldest_key", "private", "listed"),
}


def upgrade() -> None:
    """Forward. The index `map` has the positions too, and `photo` has the photos of all rows."""
    op.drop_index(f"ix_{ROWS}_position", ROWS, if_exists=True)
    for name in ("photo", "photo_id"):
        op.drop_index(f"ix_{ROWS}_{name}", ROWS, if_exists=True)
    op.create_index(f"ix_{ROWS}_photo", ROWS, [*PHOTO, "listed"], postgresql_include=["file_id"])
    _create("values", VALUES)
    for name in RARE:
        _create(name, (name, "newest_key"), f" AND {name} > 0")
    _replace_orders(["file_id"])


def downgrade() -> None:
    """Back."""
    for name in ("values", *RARE):
        op.drop_index(f"ix_{ROWS}_{name}", ROWS, if_exists=True)
    _create("position", ("lat", "lng"))
    op.drop_index(f"ix_{ROWS}_photo", ROWS, if_exists=True)
    _create("photo", PHOTO)
    op.create_index(f"ix_{ROWS}_photo_id", ROWS, ["photo_id"])
    _replace_orders([])


def _replace_orders(included: list[str]) -> None:
    if op.get_bind().dialect.name == "postgresql":
        for name, columns in ORDERS.items():
            op.drop_index(f"ix_{ROWS}_{name}", ROWS, if_exists=True)
            _create(name, columns, included=included)


def _create(name: str, columns: Sequence[str], further: str = "", *, included: Sequence[str] = ()) -> None:
    op.create_index(
        f"ix_{ROWS}_{name}",
        ROWS,
        list(columns),
        sqlite_where=sa.text("listed = 1" + further),
        postgresql_where=sa.text("listed" + further),
        postgresql_include=list(included),
    )
