"""Store results without their last two fields, which differ between merged and other answers."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

DOCUMENTS, TAIL = "photosvc_search_documents", ',"Merged":false,"Files":[]}'


def upgrade() -> None:
    """Forward. The column gets another name, so that processes of the former version fail instead of misreading it."""
    op.execute(f"ALTER TABLE {DOCUMENTS} RENAME COLUMN result TO result_head")
    head = f"substr(result_head, 1, length(result_head) - {len(TAIL)})"
    op.execute(f"UPDATE {DOCUMENTS} SET result_head = {head}")  # noqa: S608 - constants


def downgrade() -> None:
    """Back."""
    op.execute(f"ALTER TABLE {DOCUMENTS} RENAME COLUMN result_head TO result")
    statement = sa.text(f"UPDATE {DOCUMENTS} SET result = result || :tail")  # noqa: S608 - a constant
    op.get_bind().execute(statement, {"tail": TAIL})
