"""Add the selections of files that wait to be downloaded as an archive."""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
SELECTIONS = "photosvc_zip_selections"


def upgrade() -> None:
    """Forward."""
    op.create_table(
        SELECTIONS,
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("credential_id", ROW_ID, nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("file_ids", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["credential_id"],
            ["photosvc_credentials.id"],
            name=op.f(f"fk_{SELECTIONS}_credential_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f(f"pk_{SELECTIONS}")),
        sa.UniqueConstraint("name", name=op.f(f"uq_{SELECTIONS}_name")),
    )
    for column in ("credential_id", "expires_at"):
        op.create_index(op.f(f"ix_{SELECTIONS}_{column}"), SELECTIONS, [column])


def downgrade() -> None:
    """Back."""
    op.drop_table(SELECTIONS)
