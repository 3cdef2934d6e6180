"""Public links whose visitors add files, and originals that visitors and contributors sent."""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"

LINKS, FILES = "photosvc_links", "photosvc_uploaded_files"
APART = "ix_photosvc_uploaded_files_apart"


def upgrade() -> None:
    """Add the columns; no existing link allows uploads."""
    op.add_column(LINKS, sa.Column("uploads", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column(FILES, sa.Column("link_uid", sa.Text(), nullable=False, server_default=""))
    op.add_column(FILES, sa.Column("apart", sa.Boolean(), nullable=False, server_default=sa.false()))
    # Index runs ask for each located photo whether somebody else sent it: few are.
    op.create_index(APART, FILES, ["hash"], sqlite_where=sa.text("apart = 1"), postgresql_where=sa.text("apart"))


def downgrade() -> None:
    """Remove them; the originals stay those of the accounts in whose quota they count."""
    op.drop_index(APART, FILES)
    op.drop_column(FILES, "apart")
    op.drop_column(FILES, "link_uid")
    op.drop_column(LINKS, "uploads")
