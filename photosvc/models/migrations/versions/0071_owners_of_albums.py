"""A column for the owners of albums, each of whom has a limited number of them."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import TEXT, index

revision = "0071"
down_revision = "0070"


def upgrade() -> None:
    """Add it; albums of before have no owner."""
    op.add_column("photosvc_albums", sa.Column("owner_uid", TEXT, nullable=False, server_default=""))
    index("albums", "owner_uid")


def downgrade() -> None:
    """Remove it."""
    op.drop_index("ix_photosvc_albums_owner_uid", "photosvc_albums")
    op.drop_column("photosvc_albums", "owner_uid")
