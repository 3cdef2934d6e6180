"""Month and portrait in the index of the order `added`, for which that of `newest` has them already.

Searches for words such as `december` and `portrait` walk the order and must not read a row for each of its files.
"""

from photosvc.models.migrations.tables import replace_search_index

revision = "0054"
down_revision = "0053"

BEFORE = "newest_key private listed shuffle photo_id color photo_type camera_id country year"


def upgrade() -> None:
    """Append the values."""
    replace_search_index("added", f"{BEFORE} month portrait")


def downgrade() -> None:
    """Create the former index again."""
    replace_search_index("added", BEFORE)
