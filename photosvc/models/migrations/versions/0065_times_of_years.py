"""The index of photos whose time is elsewhere than their day also has those with a year and no day.

A search by years walks the orders by time between two times, as one by days does.
"""

from photosvc.models.migrations.tables import replace_search_index

revision = "0065"
down_revision = "0064"


def upgrade() -> None:
    """Replace the index."""
    replace_search_index("far_day", "taken_day taken_at year far_day", "far_day OR taken_day = 0 AND year > 0", ())


def downgrade() -> None:
    """Create the former index again."""
    replace_search_index("far_day", "taken_day taken_at", "far_day", ())
