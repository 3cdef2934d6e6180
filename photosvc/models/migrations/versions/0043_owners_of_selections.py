"""Let selections of files belong to credentials or users of a host app, who have none, by their UID."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.base import RowId

revision = "0043"
down_revision = "0042"
branch_labels = None
depends_on = None

SELECTIONS = "photosvc_zip_selections"


def upgrade() -> None:
    """Forward. Selections wait for an hour at most: those of now have to be made again."""
    _replace(sa.Column("principal_uid", sa.Text(), nullable=False))


def downgrade() -> None:
    """Back."""
    credential = sa.ForeignKey(
        "photosvc_credentials.id", name=op.f(f"fk_{SELECTIONS}_credential_id"), ondelete="CASCADE"
    )
    _replace(sa.Column("credential_id", RowId, credential, nullable=False))


def _replace(owner: sa.Column[str] | sa.Column[int]) -> None:
    op.drop_table(SELECTIONS)
    op.create_table(
        SELECTIONS,
        sa.Column("id", RowId, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        owner,
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("file_ids", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{SELECTIONS}")),
        sa.UniqueConstraint("name", name=op.f(f"uq_{SELECTIONS}_name")),
    )
    for column in (owner.name, "expires_at"):
        op.create_index(op.f(f"ix_{SELECTIONS}_{column}"), SELECTIONS, [column])
