"""A column for favorites among labels and people that callers without private photos may notice."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import FLAG

revision = "0072"
down_revision = "0071"

_TABLES = ("photosvc_keywords", "photosvc_subjects")


def upgrade() -> None:
    """Add it; favorites of before are seen by everybody, as they were."""
    for table in _TABLES:
        op.add_column(table, sa.Column("favorite_open", FLAG, nullable=False, server_default=sa.false()))
        op.execute(f"UPDATE {table} SET favorite_open = favorite")  # noqa: S608 - constants


def downgrade() -> None:
    """Remove it."""
    for table in _TABLES:
        op.drop_column(table, "favorite_open")
