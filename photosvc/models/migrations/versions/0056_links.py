"""Public links to albums, and the visits that they open."""

import sqlalchemy as sa
from alembic import op

revision = "0056"
down_revision = "0055"
branch_labels = None
depends_on = None

TABLE, VISITS = "photosvc_links", "photosvc_visits"
CREDENTIALS, USERS = "photosvc_credentials", "photosvc_users"
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create the table of links, and the one of visits."""
    op.create_table(
        TABLE,
        sa.Column("id", ROW_ID, primary_key=True),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("album_uid", sa.Text(), nullable=False),
        sa.Column("user_id", ROW_ID, nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("comment", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.DateTime(), nullable=True),
        sa.Column("max_views", sa.Integer(), nullable=False),
        sa.Column("views", sa.Integer(), nullable=False),
        sa.Column("last_view_at", sa.DateTime(), nullable=True),
        sa.Column("downloads", sa.Boolean(), nullable=False),
        sa.Column("metadata_shown", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=f"pk_{TABLE}"),
        sa.UniqueConstraint("uid", name=f"uq_{TABLE}_uid"),
        sa.UniqueConstraint("digest", name=f"uq_{TABLE}_digest"),
        sa.ForeignKeyConstraint(["user_id"], [f"{USERS}.id"], name=f"fk_{TABLE}_user_id", ondelete="CASCADE"),
        sqlite_autoincrement=True,
    )
    op.create_index(f"ix_{TABLE}_album_uid", TABLE, ["album_uid"])
    op.create_index(f"ix_{TABLE}_user_id", TABLE, ["user_id"])
    op.create_table(
        VISITS,
        sa.Column("credential_id", ROW_ID, primary_key=True, autoincrement=False),
        sa.Column("link_id", ROW_ID, nullable=False),
        sa.PrimaryKeyConstraint("credential_id", name=f"pk_{VISITS}"),
        sa.ForeignKeyConstraint(
            ["credential_id"], [f"{CREDENTIALS}.id"], name=f"fk_{VISITS}_credential_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(["link_id"], [f"{TABLE}.id"], name=f"fk_{VISITS}_link_id", ondelete="CASCADE"),
    )
    op.create_index(f"ix_{VISITS}_link_id", VISITS, ["link_id"])


def downgrade() -> None:
    """Remove both, with the credentials of the visits."""
    op.drop_table(VISITS)
    op.drop_table(TABLE)
    op.execute(sa.text(f"DELETE FROM {CREDENTIALS} WHERE kind = 'visit'"))  # noqa: S608 - names of this module
