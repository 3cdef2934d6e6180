"""Files that the index left out are found by the original that they repeat: their names count for its stack."""

from alembic import op

from photosvc.models.migrations.tables import index

revision = "0070"
down_revision = "0069"

NAME = "ix_photosvc_rejected_files_duplicates"


def upgrade() -> None:
    """Create the index."""
    index("rejected_files", "detail", name=NAME, where="reason = 'duplicate'")


def downgrade() -> None:
    """Drop it."""
    op.drop_index(NAME, "photosvc_rejected_files")
