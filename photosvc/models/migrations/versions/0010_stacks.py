"""Add the keys by which files are stacked, and the files that a person took out of a stack."""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None

FILES, KEYS = "photosvc_files", "photosvc_stack_keys"


def upgrade() -> None:
    """Forward."""
    op.add_column(FILES, sa.Column("unstacked", sa.Boolean(), nullable=False, server_default=sa.false()))
    row_id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
    op.create_table(
        KEYS,
        sa.Column("key", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("file_id", row_id, nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"], [f"{FILES}.id"], name=op.f(f"fk_{KEYS}_file_id_photosvc_files"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("key", "file_id", name=op.f(f"pk_{KEYS}")),
        sqlite_with_rowid=False,
    )
    op.create_index(op.f(f"ix_{KEYS}_file_id"), KEYS, ["file_id"])


def downgrade() -> None:
    """Back."""
    op.drop_table(KEYS)
    op.drop_column(FILES, "unstacked")
