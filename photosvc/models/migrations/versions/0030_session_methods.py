"""Add how login sessions were opened, and when the password was last sent with them."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

CREDENTIALS = "photosvc_credentials"


def upgrade() -> None:
    """Forward."""
    op.add_column(CREDENTIALS, sa.Column("method", sa.Text(), nullable=False, server_default=""))
    op.add_column(CREDENTIALS, sa.Column("proved_at", sa.DateTime(), nullable=True))
    # Whether a code was needed is not known of older ones.
    op.execute(
        "UPDATE photosvc_credentials SET method = CASE WHEN parent_id IS NULL THEN 'password' ELSE 'app_password' END "
        "WHERE kind = 'login_session'"
    )


def downgrade() -> None:
    """Back."""
    op.drop_column(CREDENTIALS, "proved_at")
    op.drop_column(CREDENTIALS, "method")
