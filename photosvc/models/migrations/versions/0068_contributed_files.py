"""Originals that visitors and contributors sent are marked, and claim their content apart from all others."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import index

revision = "0068"
down_revision = "0067"

FILES, UPLOADED = "photosvc_files", "photosvc_uploaded_files"
CLAIM = f"uq_{UPLOADED}_hash"
APART, NAME = f"ix_{UPLOADED}_apart", f"ix_{UPLOADED}_name"


def upgrade() -> None:
    """Mark the files that the library has; a content is claimed once by accounts, and once by each sender."""
    op.add_column(FILES, sa.Column("contributed", sa.Boolean(), nullable=False, server_default=sa.false()))
    sent = f"SELECT hash FROM {UPLOADED} WHERE apart AND hash IS NOT NULL"  # noqa: S608 - constants
    op.execute(f"UPDATE {FILES} SET contributed = true WHERE hash IN ({sent})")  # noqa: S608 - constants
    op.drop_index(APART, UPLOADED)
    with op.batch_alter_table(UPLOADED) as table:
        table.drop_constraint(CLAIM, type_="unique")
    index("uploaded_files", "name", name=NAME)
    index("uploaded_files", "hash", name=CLAIM, unique=True, where="NOT apart")
    index("uploaded_files", "hash user_id link_uid", name=f"{CLAIM}_apart", unique=True, where="apart")


def downgrade() -> None:
    """Let each content be claimed once; further claims of it are dropped."""
    for name in (f"{CLAIM}_apart", CLAIM, NAME):
        op.drop_index(name, UPLOADED)
    first = f"SELECT min(id) FROM {UPLOADED} WHERE hash IS NOT NULL GROUP BY hash"  # noqa: S608 - constants
    op.execute(f"UPDATE {UPLOADED} SET hash = NULL WHERE id NOT IN ({first})")  # noqa: S608 - constants
    with op.batch_alter_table(UPLOADED) as table:
        table.create_unique_constraint(CLAIM, ["hash"])
    index("uploaded_files", "hash", name=APART, where="apart")
    op.drop_column(FILES, "contributed")
