"""The index of years can be read alone on PostgreSQL.

The index of the order by time has the years too. PostgreSQL took a walk along it for shorter, as if years were mixed in
that order, and read all later years before the first photo of one.
"""

from alembic import op

from photosvc.models.migrations.tables import replace_search_index

revision = "0066"
down_revision = "0065"


def upgrade() -> None:
    """Replace the index."""
    _replace(("file_id", "private"))


def downgrade() -> None:
    """Create the former index again."""
    _replace(())


def _replace(include: tuple[str, ...]) -> None:
    if op.get_context().dialect.name == "postgresql":  # SQLite's indexes include nothing
        replace_search_index("year_taken", "year taken_at newest_key", include=include)
