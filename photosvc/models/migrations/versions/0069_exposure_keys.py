"""A column of the search rows for the exposures of photos in the form that searches compare.

It is empty until the rows are written again, as the version of the projection asks for.
"""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import TEXT

revision = "0069"
down_revision = "0068"


def upgrade() -> None:
    """Add it."""
    op.add_column("photosvc_search_rows", sa.Column("exposure_key", TEXT, nullable=False, server_default=""))


def downgrade() -> None:
    """Remove it."""
    op.drop_column("photosvc_search_rows", "exposure_key")
