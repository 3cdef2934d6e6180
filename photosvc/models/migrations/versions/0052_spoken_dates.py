"""More values in the index of the order `newest`: searches for a year, a month or portraits read it alone.

Such searches of common words, as `december` or `2019`, also find photos with the word, so that no index of the value
drives them; they walk the order and must not read a row for each of its files.
"""

from photosvc.models.migrations.tables import replace_search_index

revision = "0052"
down_revision = "0051"

BEFORE = "taken_at newest_key private listed photo_id color photo_type"


def upgrade() -> None:
    """Append the values."""
    replace_search_index("taken", f"{BEFORE} year month portrait")


def downgrade() -> None:
    """Create the former index again."""
    replace_search_index("taken", BEFORE)
