"""The sidecars of duplicates."""

from alembic import op

from photosvc.models.migrations.tables import ROW_ID, TEXT, each, index, table

revision = "0048"
down_revision = "0047"


def upgrade() -> None:
    """Add the table that links sidecars with the files whose duplicates they accompany."""
    table(
        "copy_sidecars",
        *each(TEXT, "name"),
        *each(ROW_ID, "sidecar_id file_id"),
        key="name sidecar_id",
        refers=[("sidecar_id", "sidecars.id", "CASCADE"), ("file_id", "files.id", "CASCADE")],
    )
    index("copy_sidecars", "sidecar_id")
    index("copy_sidecars", "file_id")


def downgrade() -> None:
    """Remove the table."""
    op.drop_table("photosvc_copy_sidecars")
