"""The sidecars of duplicates."""

import sqlalchemy as sa
from alembic import op

revision = "0048"
down_revision = "0047"
branch_labels = None
depends_on = None

TABLE = "photosvc_copy_sidecars"
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Add the table that links sidecars with the files whose duplicates they accompany."""
    op.create_table(
        TABLE,
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("sidecar_id", ROW_ID, nullable=False),
        sa.Column("file_id", ROW_ID, nullable=False),
        *(
            sa.ForeignKeyConstraint(
                [f"{one}_id"], [f"photosvc_{one}s.id"], op.f(f"fk_{TABLE}_{one}_id"), ondelete="CASCADE"
            )
            for one in ("sidecar", "file")
        ),
        sa.PrimaryKeyConstraint("name", "sidecar_id", name=op.f(f"pk_{TABLE}")),
    )
    for column in ("sidecar_id", "file_id"):
        op.create_index(op.f(f"ix_{TABLE}_{column}"), TABLE, [column])


def downgrade() -> None:
    """Remove the table."""
    op.drop_table(TABLE)
