"""Index the order by hand of albums."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

MEMBERS = "photosvc_album_photos"


def upgrade() -> None:
    """Forward."""
    _store_positions_as(sa.BigInteger())
    op.create_index(f"ix_{MEMBERS}_position", MEMBERS, ["album_id", "position", "photo_id"])


def downgrade() -> None:
    """Back."""
    op.drop_index(f"ix_{MEMBERS}_position", MEMBERS, if_exists=True)
    _store_positions_as(sa.Integer())


def _store_positions_as(kind: sa.types.TypeEngine[int]) -> None:
    if op.get_bind().dialect.name == "postgresql":  # SQLite stores integers of all sizes alike
        op.alter_column(MEMBERS, "position", type_=kind)
