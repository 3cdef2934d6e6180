"""Create the library, credential and search tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Forward."""
    op.create_table(
        "photosvc_albums",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("filter", sa.Text(), nullable=False),
        sa.Column("order", sa.Text(), nullable=False),
        sa.Column("favorite", sa.Boolean(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_albums")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_albums_uid")),
    )
    with op.batch_alter_table("photosvc_albums", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_albums_title"), ["title"], unique=False)

    op.create_table(
        "photosvc_cameras",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("make", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_cameras")),
        sa.UniqueConstraint("make", "model", name=op.f("uq_photosvc_cameras_make_model")),
    )
    op.create_table(
        "photosvc_keywords",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("word", sa.Text(), nullable=False),
        sa.Column("folded", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_keywords")),
        sa.UniqueConstraint("folded", name=op.f("uq_photosvc_keywords_folded")),
    )
    op.create_table(
        "photosvc_lenses",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("make", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_lenses")),
        sa.UniqueConstraint("make", "model", name=op.f("uq_photosvc_lenses_make_model")),
    )
    op.create_table(
        "photosvc_library",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_photosvc_library")),
    )
    op.create_table(
        "photosvc_places",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("label", sa.Text(), nullable=False),
        sa.Column("city", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("country", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_places")),
    )
    op.create_table(
        "photosvc_rejected_files",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("failed", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_rejected_files")),
        sa.UniqueConstraint("root", "name", name=op.f("uq_photosvc_rejected_files_root_name")),
    )
    op.create_table(
        "photosvc_throttle",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("full_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_photosvc_throttle")),
    )
    with op.batch_alter_table("photosvc_throttle", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_throttle_full_at"), ["full_at"], unique=False)

    op.create_table(
        "photosvc_users",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=False),
        sa.Column("email", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("password_hash", sa.Text(), nullable=False),
        sa.Column("password_version", sa.Integer(), nullable=False),
        sa.Column("disabled", sa.Boolean(), nullable=False),
        sa.Column("totp_secret", sa.Text(), nullable=False),
        sa.Column("totp_confirmed", sa.Boolean(), nullable=False),
        sa.Column("totp_last_step", sa.BigInteger(), nullable=False),
        sa.Column("login_at", sa.DateTime(), nullable=True),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_users")),
        sa.UniqueConstraint("name", name=op.f("uq_photosvc_users_name")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_users_uid")),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "photosvc_cells",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("place_id", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["place_id"], ["photosvc_places.id"], name=op.f("fk_photosvc_cells_place_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_cells")),
    )
    with op.batch_alter_table("photosvc_cells", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_cells_place_id"), ["place_id"], unique=False)

    op.create_table(
        "photosvc_clients",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("secret_digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("user_id", ROW_ID, nullable=True),
        sa.Column("token_lifetime", sa.Integer(), nullable=False),
        sa.Column("token_limit", sa.Integer(), nullable=False),
        sa.Column("token_format", sa.Text(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["photosvc_users.id"], name=op.f("fk_photosvc_clients_user_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_clients")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_clients_uid")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("photosvc_clients", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_clients_user_id"), ["user_id"], unique=False)

    op.create_table(
        "photosvc_photos",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("type_src", sa.Text(), nullable=False),
        sa.Column("taken_at", sa.DateTime(), nullable=False),
        sa.Column("taken_at_local", sa.DateTime(), nullable=False),
        sa.Column("taken_src", sa.Text(), nullable=False),
        sa.Column("time_zone", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("original_name", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("title_src", sa.Text(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("description_src", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("month", sa.Integer(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("country", sa.Text(), nullable=False),
        sa.Column("stack", sa.SmallInteger(), nullable=False),
        sa.Column("favorite", sa.Boolean(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("scan", sa.Boolean(), nullable=False),
        sa.Column("panorama", sa.Boolean(), nullable=False),
        sa.Column("iso", sa.Integer(), nullable=False),
        sa.Column("focal_length", sa.Integer(), nullable=False),
        sa.Column("f_number", sa.Double(), nullable=False),
        sa.Column("exposure", sa.Text(), nullable=False),
        sa.Column("camera_id", ROW_ID, nullable=False),
        sa.Column("camera_src", sa.Text(), nullable=False),
        sa.Column("camera_serial", sa.Text(), nullable=False),
        sa.Column("lens_id", ROW_ID, nullable=False),
        sa.Column("lat", sa.Double(), nullable=False),
        sa.Column("lng", sa.Double(), nullable=False),
        sa.Column("altitude", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Text(), nullable=False),
        sa.Column("place_id", sa.Text(), nullable=False),
        sa.Column("place_src", sa.Text(), nullable=False),
        sa.Column("quality", sa.SmallInteger(), nullable=False),
        sa.Column("resolution", sa.Integer(), nullable=False),
        sa.Column("color", sa.SmallInteger(), nullable=False),
        sa.Column("duration_ns", sa.BigInteger(), nullable=False),
        sa.Column("rating", sa.SmallInteger(), nullable=False),
        sa.Column("subject", sa.Text(), nullable=False),
        sa.Column("artist", sa.Text(), nullable=False),
        sa.Column("copyright", sa.Text(), nullable=False),
        sa.Column("license", sa.Text(), nullable=False),
        sa.Column("notes", sa.Text(), nullable=False),
        sa.Column("software", sa.Text(), nullable=False),
        sa.Column("document_id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.Column("edited_at", sa.DateTime(), nullable=True),
        sa.Column("checked_at", sa.DateTime(), nullable=True),
        sa.Column("archived_at", sa.DateTime(), nullable=True),
        sa.ForeignKeyConstraint(["camera_id"], ["photosvc_cameras.id"], name=op.f("fk_photosvc_photos_camera_id")),
        sa.ForeignKeyConstraint(["lens_id"], ["photosvc_lenses.id"], name=op.f("fk_photosvc_photos_lens_id")),
        sa.ForeignKeyConstraint(["place_id"], ["photosvc_places.id"], name=op.f("fk_photosvc_photos_place_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_photos")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_photos_uid")),
    )
    with op.batch_alter_table("photosvc_photos", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_photos_camera_id"), ["camera_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_photos_document_id"), ["document_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_photos_lens_id"), ["lens_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_photos_path_name"), ["path", "name"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_photos_place_id"), ["place_id"], unique=False)

    op.create_table(
        "photosvc_recovery_codes",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("user_id", ROW_ID, nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["photosvc_users.id"], name=op.f("fk_photosvc_recovery_codes_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_recovery_codes")),
        sa.UniqueConstraint("user_id", "digest", name=op.f("uq_photosvc_recovery_codes_user_id_digest")),
    )
    op.create_table(
        "photosvc_album_photos",
        sa.Column("album_id", ROW_ID, nullable=False),
        sa.Column("photo_id", ROW_ID, nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["album_id"], ["photosvc_albums.id"], name=op.f("fk_photosvc_album_photos_album_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["photo_id"], ["photosvc_photos.id"], name=op.f("fk_photosvc_album_photos_photo_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("album_id", "photo_id", name=op.f("pk_photosvc_album_photos")),
    )
    with op.batch_alter_table("photosvc_album_photos", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_album_photos_photo_id"), ["photo_id"], unique=False)

    op.create_table(
        "photosvc_credentials",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("user_id", ROW_ID, nullable=True),
        sa.Column("client_id", ROW_ID, nullable=True),
        sa.Column("parent_id", ROW_ID, nullable=True),
        sa.Column("expires_at", sa.DateTime(), nullable=True),
        sa.Column("idle_seconds", sa.Integer(), nullable=True),
        sa.Column("last_used_at", sa.DateTime(), nullable=True),
        sa.Column("last_ip", sa.Text(), nullable=False),
        sa.Column("user_agent", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["client_id"], ["photosvc_clients.id"], name=op.f("fk_photosvc_credentials_client_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["parent_id"],
            ["photosvc_credentials.id"],
            name=op.f("fk_photosvc_credentials_parent_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["photosvc_users.id"], name=op.f("fk_photosvc_credentials_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_credentials")),
        sa.UniqueConstraint("digest", name=op.f("uq_photosvc_credentials_digest")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_credentials_uid")),
        sqlite_autoincrement=True,
    )
    with op.batch_alter_table("photosvc_credentials", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_credentials_client_id"), ["client_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_credentials_expires_at"), ["expires_at"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_credentials_parent_id"), ["parent_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_credentials_user_id"), ["user_id"], unique=False)

    op.create_table(
        "photosvc_files",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("photo_id", ROW_ID, nullable=False),
        sa.Column("root", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("original_name", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("mtime_ns", sa.BigInteger(), nullable=False),
        sa.Column("primary", sa.Boolean(), nullable=False),
        sa.Column("sidecar", sa.Boolean(), nullable=False),
        sa.Column("missing", sa.Boolean(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("codec", sa.Text(), nullable=False),
        sa.Column("file_type", sa.Text(), nullable=False),
        sa.Column("media_type", sa.Text(), nullable=False),
        sa.Column("mime", sa.Text(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("height", sa.Integer(), nullable=False),
        sa.Column("orientation", sa.SmallInteger(), nullable=False),
        sa.Column("duration_ns", sa.BigInteger(), nullable=False),
        sa.Column("fps", sa.Double(), nullable=False),
        sa.Column("frames", sa.Integer(), nullable=False),
        sa.Column("projection", sa.Text(), nullable=False),
        sa.Column("color_profile", sa.Text(), nullable=False),
        sa.Column("main_color", sa.SmallInteger(), nullable=False),
        sa.Column("colors", sa.Text(), nullable=False),
        sa.Column("luminance", sa.Text(), nullable=False),
        sa.Column("diff", sa.Integer(), nullable=False),
        sa.Column("chroma", sa.SmallInteger(), nullable=False),
        sa.Column("instance_id", sa.Text(), nullable=False),
        sa.Column("details", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(["photo_id"], ["photosvc_photos.id"], name=op.f("fk_photosvc_files_photo_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_files")),
        sa.UniqueConstraint("root", "name", name=op.f("uq_photosvc_files_root_name")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_files_uid")),
    )
    with op.batch_alter_table("photosvc_files", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_files_hash"), ["hash"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_files_instance_id"), ["instance_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_files_photo_id"), ["photo_id"], unique=False)

    op.create_table(
        "photosvc_photo_keywords",
        sa.Column("photo_id", ROW_ID, nullable=False),
        sa.Column("keyword_id", ROW_ID, nullable=False),
        sa.ForeignKeyConstraint(
            ["keyword_id"],
            ["photosvc_keywords.id"],
            name=op.f("fk_photosvc_photo_keywords_keyword_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["photo_id"], ["photosvc_photos.id"], name=op.f("fk_photosvc_photo_keywords_photo_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("photo_id", "keyword_id", name=op.f("pk_photosvc_photo_keywords")),
    )
    with op.batch_alter_table("photosvc_photo_keywords", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_photo_keywords_keyword_id"), ["keyword_id"], unique=False)

    op.create_table(
        "photosvc_markers",
        sa.Column("id", ROW_ID, nullable=False),
        sa.Column("uid", sa.Text(), nullable=False),
        sa.Column("file_id", ROW_ID, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("src", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("x", sa.Double(), nullable=False),
        sa.Column("y", sa.Double(), nullable=False),
        sa.Column("w", sa.Double(), nullable=False),
        sa.Column("h", sa.Double(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"], ["photosvc_files.id"], name=op.f("fk_photosvc_markers_file_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_photosvc_markers")),
        sa.UniqueConstraint("uid", name=op.f("uq_photosvc_markers_uid")),
    )
    with op.batch_alter_table("photosvc_markers", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_photosvc_markers_file_id"), ["file_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_markers_name"), ["name"], unique=False)

    create_search_tables()
    _add_unknown()


def create_search_tables() -> None:
    """Make the tables of search rows and their records."""
    op.create_table(
        "photosvc_search_rows",
        sa.Column("file_id", ROW_ID, autoincrement=False, nullable=False),
        sa.Column("photo_id", ROW_ID, nullable=False),
        sa.Column("newest_key", sa.BigInteger(), nullable=False),
        sa.Column("oldest_key", sa.BigInteger(), nullable=False),
        sa.Column("listed", sa.Boolean(), nullable=False),
        sa.Column("present", sa.Boolean(), nullable=False),
        sa.Column("is_primary", sa.Boolean(), nullable=False),
        sa.Column("photo_uid", sa.Text(), nullable=False),
        sa.Column("photo_type", sa.Text(), nullable=False),
        sa.Column("path", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("name", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("path_key", sa.Text(), nullable=False),
        sa.Column("name_key", sa.Text(), nullable=False),
        sa.Column("original_key", sa.Text(), nullable=False),
        sa.Column("title_key", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("document_key", sa.Text(), nullable=False),
        sa.Column("stack", sa.SmallInteger(), nullable=False),
        sa.Column("stacked", sa.Boolean(), nullable=False),
        sa.Column("has_album", sa.Boolean(), nullable=False),
        sa.Column("favorite", sa.Boolean(), nullable=False),
        sa.Column("private", sa.Boolean(), nullable=False),
        sa.Column("scan", sa.Boolean(), nullable=False),
        sa.Column("panorama", sa.Boolean(), nullable=False),
        sa.Column("hidden", sa.Boolean(), nullable=False),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("quality", sa.SmallInteger(), nullable=False),
        sa.Column("resolution", sa.Integer(), nullable=False),
        sa.Column("iso", sa.Integer(), nullable=False),
        sa.Column("focal_length", sa.Integer(), nullable=False),
        sa.Column("f_number", sa.Double(), nullable=False),
        sa.Column("camera_id", ROW_ID, nullable=False),
        sa.Column("lens_id", ROW_ID, nullable=False),
        sa.Column("lat", sa.Double(), nullable=False),
        sa.Column("lng", sa.Double(), nullable=False),
        sa.Column("x", sa.Double(), nullable=False),
        sa.Column("y", sa.Double(), nullable=False),
        sa.Column("z", sa.Double(), nullable=False),
        sa.Column("altitude", sa.Integer(), nullable=False),
        sa.Column("cell_id", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), nullable=False),
        sa.Column("country", sa.Text(), nullable=False),
        sa.Column("state_key", sa.Text(), nullable=False),
        sa.Column("city_key", sa.Text(), nullable=False),
        sa.Column("year", sa.Integer(), nullable=False),
        sa.Column("month", sa.Integer(), nullable=False),
        sa.Column("day", sa.Integer(), nullable=False),
        sa.Column("taken_day", sa.Integer(), nullable=False),
        sa.Column("taken_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("edited_at", sa.BigInteger(), nullable=False),
        sa.Column("duration", sa.BigInteger(), nullable=False),
        sa.Column("shuffle", sa.Integer(), nullable=False),
        sa.Column("color", sa.SmallInteger(), nullable=False),
        sa.Column("photo_diff", sa.Integer(), nullable=False),
        sa.Column("photo_size", sa.BigInteger(), nullable=False),
        sa.Column("file_uid", sa.Text(), nullable=False),
        sa.Column("file_key", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("codec", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("portrait", sa.Boolean(), nullable=False),
        sa.Column("aspect_ratio", sa.Double(), nullable=False),
        sa.Column("chroma", sa.SmallInteger(), nullable=False),
        sa.Column("diff", sa.Integer(), nullable=False),
        sa.Column("has_error", sa.Boolean(), nullable=False),
        sa.Column("instance_key", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"], ["photosvc_files.id"], name=op.f("fk_photosvc_search_rows_file_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("file_id", name=op.f("pk_photosvc_search_rows")),
    )
    with op.batch_alter_table("photosvc_search_rows", schema=None) as batch_op:
        batch_op.create_index(
            "ix_photosvc_search_rows_added",
            ["newest_key", "private", "photo_id"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_camera_id_added",
            ["camera_id", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_camera_id_taken",
            ["camera_id", "taken_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_color_added",
            ["color", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_color_taken",
            ["color", "taken_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_country_added",
            ["country", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_country_taken",
            ["country", "taken_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_duration",
            ["duration", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_edited",
            ["edited_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(batch_op.f("ix_photosvc_search_rows_file_uid"), ["file_uid"], unique=False)
        batch_op.create_index(batch_op.f("ix_photosvc_search_rows_hash"), ["hash"], unique=False)
        batch_op.create_index(
            "ix_photosvc_search_rows_name",
            ["path", "name", "oldest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_oldest",
            ["taken_at", "oldest_key", "private", "photo_id"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_path",
            ["path_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_photo",
            ["photo_id", "taken_at", "newest_key", "private"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(batch_op.f("ix_photosvc_search_rows_photo_id"), ["photo_id"], unique=False)
        batch_op.create_index(
            "ix_photosvc_search_rows_photo_size",
            ["photo_size", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_photo_type_added",
            ["photo_type", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_photo_type_taken",
            ["photo_type", "taken_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(batch_op.f("ix_photosvc_search_rows_photo_uid"), ["photo_uid"], unique=False)
        batch_op.create_index(
            "ix_photosvc_search_rows_position",
            ["lat", "lng"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_relevance",
            ["quality", "taken_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_similar",
            ["color", "cell_id", "photo_diff", "oldest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_size",
            ["size", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_taken",
            ["taken_at", "newest_key", "private", "photo_id"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_title",
            ["title_key", "name", "oldest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_unlisted",
            ["newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 0"),
            postgresql_where=sa.text("NOT listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_updated",
            ["updated_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_year_added",
            ["year", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.create_index(
            "ix_photosvc_search_rows_year_taken",
            ["year", "taken_at", "newest_key"],
            unique=False,
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )

    op.create_table(
        "photosvc_search_documents",
        sa.Column("file_id", ROW_ID, autoincrement=False, nullable=False),
        sa.Column("result", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["file_id"],
            ["photosvc_search_rows.file_id"],
            name=op.f("fk_photosvc_search_documents_file_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("file_id", name=op.f("pk_photosvc_search_documents")),
    )


def _add_unknown() -> None:
    """Return the rows that mean «unknown»: camera 1, lens 1, place and cell zz."""
    names = ("make", "model", "type")
    for table, columns in (("photosvc_cameras", names), ("photosvc_lenses", names[:2])):
        values = dict.fromkeys(columns, "") | {"id": 1, "model": "Unknown"}
        op.bulk_insert(sa.table(table, *map(sa.column, ("id", *columns))), [values])
        if op.get_bind().dialect.name == "postgresql":
            op.execute(sa.func.setval(sa.func.pg_get_serial_sequence(table, "id"), 1).select())
    places = sa.table("photosvc_places", *map(sa.column, ("id", "label", "city", "state", "country")))
    unknown = {"id": "zz", "label": "Unknown", "city": "Unknown", "state": "Unknown", "country": "zz"}
    op.bulk_insert(places, [unknown])
    op.bulk_insert(sa.table("photosvc_cells", sa.column("id"), sa.column("place_id")), [{"id": "zz", "place_id": "zz"}])


def downgrade() -> None:
    """Back."""
    op.drop_table("photosvc_search_documents")
    with op.batch_alter_table("photosvc_search_rows", schema=None) as batch_op:
        batch_op.drop_index(
            "ix_photosvc_search_rows_year_taken", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_year_added", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_updated", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_unlisted",
            sqlite_where=sa.text("listed = 0"),
            postgresql_where=sa.text("NOT listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_title", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_taken", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_size", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_similar", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_relevance", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_position", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(batch_op.f("ix_photosvc_search_rows_photo_uid"))
        batch_op.drop_index(
            "ix_photosvc_search_rows_photo_type_taken",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_photo_type_added",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_photo_size", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(batch_op.f("ix_photosvc_search_rows_photo_id"))
        batch_op.drop_index(
            "ix_photosvc_search_rows_photo", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_path", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_oldest", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_name", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(batch_op.f("ix_photosvc_search_rows_hash"))
        batch_op.drop_index(batch_op.f("ix_photosvc_search_rows_file_uid"))
        batch_op.drop_index(
            "ix_photosvc_search_rows_edited", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_duration", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_country_taken",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_country_added",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_color_taken",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_color_added",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_camera_id_taken",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_camera_id_added",
            sqlite_where=sa.text("listed = 1"),
            postgresql_where=sa.text("listed"),
        )
        batch_op.drop_index(
            "ix_photosvc_search_rows_added", sqlite_where=sa.text("listed = 1"), postgresql_where=sa.text("listed")
        )

    op.drop_table("photosvc_search_rows")
    with op.batch_alter_table("photosvc_markers", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_markers_name"))
        batch_op.drop_index(batch_op.f("ix_photosvc_markers_file_id"))

    op.drop_table("photosvc_markers")
    with op.batch_alter_table("photosvc_photo_keywords", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_photo_keywords_keyword_id"))

    op.drop_table("photosvc_photo_keywords")
    with op.batch_alter_table("photosvc_files", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_files_photo_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_files_instance_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_files_hash"))

    op.drop_table("photosvc_files")
    with op.batch_alter_table("photosvc_credentials", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_credentials_user_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_credentials_parent_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_credentials_expires_at"))
        batch_op.drop_index(batch_op.f("ix_photosvc_credentials_client_id"))

    op.drop_table("photosvc_credentials")
    with op.batch_alter_table("photosvc_album_photos", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_album_photos_photo_id"))

    op.drop_table("photosvc_album_photos")
    op.drop_table("photosvc_recovery_codes")
    with op.batch_alter_table("photosvc_photos", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_photos_place_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_photos_path_name"))
        batch_op.drop_index(batch_op.f("ix_photosvc_photos_lens_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_photos_document_id"))
        batch_op.drop_index(batch_op.f("ix_photosvc_photos_camera_id"))

    op.drop_table("photosvc_photos")
    with op.batch_alter_table("photosvc_clients", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_clients_user_id"))

    op.drop_table("photosvc_clients")
    with op.batch_alter_table("photosvc_cells", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_cells_place_id"))

    op.drop_table("photosvc_cells")
    op.drop_table("photosvc_users")
    with op.batch_alter_table("photosvc_throttle", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_throttle_full_at"))

    op.drop_table("photosvc_throttle")
    op.drop_table("photosvc_rejected_files")
    op.drop_table("photosvc_places")
    op.drop_table("photosvc_library")
    op.drop_table("photosvc_lenses")
    op.drop_table("photosvc_keywords")
    op.drop_table("photosvc_cameras")
    with op.batch_alter_table("photosvc_albums", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_photosvc_albums_title"))

    op.drop_table("photosvc_albums")
