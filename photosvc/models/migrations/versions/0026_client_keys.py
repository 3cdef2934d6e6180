"""Add public keys of clients."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

CLIENTS = "photosvc_clients"


def upgrade() -> None:
    """Forward."""
    op.add_column(CLIENTS, sa.Column("public_keys", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    """Back. Clients with keys get secrets again, which are not known to anyone."""
    op.drop_column(CLIENTS, "public_keys")
