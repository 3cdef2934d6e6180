"""The tables of the first version."""

import sqlalchemy as sa
from alembic import op

from photosvc.models.migrations.tables import (
    BIG,
    FLAG,
    JSON,
    NUMBER,
    REAL,
    ROW_ID,
    SMALL,
    TEXT,
    TIME,
    each,
    index,
    table,
)

revision = "0001"
down_revision = None

TEXTS = "photosvc_search_texts"
INDEX = "photosvc_search_text_index"
VIEW = "photosvc_search_text_terms"
#: Words of a section are indexed once more behind a character that no word contains, so that the words of a title are
#: found without reading texts.
MARKS = {
    "title": "\ue001", "keywords": "\ue002", "people": "\ue003", "description": "\ue004", "place": "\ue005",
    "seen": "\ue006",
}  # fmt: skip
#: PostgreSQL takes a megabyte of words, of at most four bytes a character.
LONGEST = 260_000


def upgrade() -> None:
    """Create all tables, the index of words, and the rows that mean «unknown»."""
    _create_tables()
    if op.get_bind().dialect.name == "postgresql":
        op.execute(
            f"ALTER TABLE {TEXTS} ADD COLUMN terms tsvector "
            f"GENERATED ALWAYS AS (array_to_tsvector(string_to_array(btrim(left({_terms()}, {LONGEST})), ' '))) STORED"
        )
        op.execute(f"CREATE INDEX ix_{TEXTS}_terms ON {TEXTS} USING gin (terms)")
    else:
        _create_text_index()
    _add_unknown()


def _terms(row: str = "") -> str:
    """Return the SQL text of all words of a row, with the words of each section behind its mark."""
    sections = (f"replace(rtrim({row}{section}), ' ', ' {mark}')" for section, mark in MARKS.items())
    return " || ".join((f"rtrim({row}words)", f"rtrim({row}seen)", *sections))


def _create_text_index() -> None:
    """Create the full-text index of SQLite, with the triggers that keep it."""
    add = f"INSERT INTO {INDEX}(rowid, words) VALUES (new.photo_id, {_terms('new.')})"  # noqa: S608 - constants
    remove = (
        f"INSERT INTO {INDEX}({INDEX}, rowid, words) "  # noqa: S608 - constants
        f"VALUES ('delete', old.photo_id, {_terms('old.')})"
    )
    op.execute(f"CREATE VIEW {VIEW} AS SELECT photo_id, {_terms()} AS words FROM {TEXTS}")  # noqa: S608 - constants
    # Words hold letters, digits and signs: blanks and commas part them for the tokenizer, and nothing else does.
    op.execute(
        f"CREATE VIRTUAL TABLE {INDEX} USING fts5(words, content='{VIEW}', content_rowid='photo_id', "
        "tokenize='ascii', detail='none', columnsize=0)"
    )
    op.execute(f"CREATE TRIGGER {INDEX}_insert AFTER INSERT ON {TEXTS} BEGIN {add}; END")
    op.execute(f"CREATE TRIGGER {INDEX}_delete AFTER DELETE ON {TEXTS} BEGIN {remove}; END")
    op.execute(
        f"CREATE TRIGGER {INDEX}_update AFTER UPDATE OF {', '.join(('words', *MARKS))} ON {TEXTS} "
        f"WHEN {_terms('old.')} <> {_terms('new.')} BEGIN {remove}; {add}; END"
    )


def _add_unknown() -> None:
    """Insert the rows that mean «unknown»: camera 1, lens 1, place and cell zz."""
    names = ("make", "model", "type")
    for name, columns in (("photosvc_cameras", names), ("photosvc_lenses", names[:2])):
        values = dict.fromkeys(columns, "") | {"id": 1, "model": "Unknown"}
        op.bulk_insert(sa.table(name, *map(sa.column, ("id", *columns))), [values])
        if op.get_bind().dialect.name == "postgresql":
            op.execute(sa.func.setval(sa.func.pg_get_serial_sequence(name, "id"), 1).select())
    places = sa.table("photosvc_places", *map(sa.column, ("id", "label", "city", "state", "country")))
    unknown = {"id": "zz", "label": "Unknown", "city": "Unknown", "state": "Unknown", "country": "zz"}
    op.bulk_insert(places, [unknown])
    op.bulk_insert(sa.table("photosvc_cells", sa.column("id"), sa.column("place_id")), [{"id": "zz", "place_id": "zz"}])


def _create_tables() -> None:
    # fmt: off
    table("albums", *each(ROW_ID, "id"), *each(TEXT, "uid"), *each(TEXT, "owner_uid", server_default=""), *each(TEXT,
        "type title description"), *each(TEXT, "category location notes cover", server_default=""), *each(TEXT,
        "filter order"), *each(FLAG, "favorite private"), *each(TIME, "created_at updated_at"),
        *each(TIME, "deleted_at", nullable=True), key="id", unique=["uid"])
    index("albums", "owner_uid")
    index("albums", "title")
    table("audit", *each(ROW_ID, "id"), *each(TEXT, "part event"), *each(TIME, "created_at"), *each(NUMBER, "times"),
        *each(TEXT, "actor_kind actor actor_uid credential address subject subject_uid target detail request_id"),
        key="id", sqlite_autoincrement=True)
    index("audit", "part actor_uid id")
    index("audit", "part id")
    table("cameras", *each(ROW_ID, "id"), *each(TEXT, "make model type"), *each(NUMBER, "changes",
        server_default="0"), key="id", unique=["make model"])
    table("dav_locks", *each(TEXT, "token root user_uid"), *each(FLAG, "exclusive deep"), *each(TEXT, "owner"),
        *each(NUMBER, "seconds"), *each(TIME, "expires_at"), key="token")
    index("dav_locks", "expires_at")
    index("dav_locks", "root")
    index("dav_locks", "user_uid")
    table("dav_properties", *each(TEXT, "path name value"), *each(NUMBER, "size"), *each(TEXT, "user_uid"),
        key="path name")
    index("dav_properties", "user_uid size")
    table("disks", *each(TEXT, "folder"), key="folder")
    table("import_runs", *each(ROW_ID, "id"), *each(TEXT, "source"), *each(BIG, "batch"), *each(TIME, "created_at"),
        *each(TIME, "undone_at", nullable=True), key="id", sqlite_autoincrement=True)
    table("imported", *each(ROW_ID, "run_id"), *each(TEXT, "key uid"), *each(NUMBER, "made"), *each(JSON, "members"),
        *each(TIME, "album_updated_at", nullable=True), key="run_id key", refers=[("run_id", "import_runs.id",
        "CASCADE")])
    index("imported", "key")
    table("keywords", *each(ROW_ID, "id"), *each(TEXT, "word folded"), *each(FLAG, "favorite favorite_open",
        server_default=sa.false()), key="id", unique=["folded"])
    table("lenses", *each(ROW_ID, "id"), *each(TEXT, "make model"), key="id", unique=["make model"])
    table("library", *each(TEXT, "name"), *each(BIG, "value"), key="name")
    table("photo_changes", *each(ROW_ID, "id"), *each(TEXT, "photo_uid", server_default=""), *each(TEXT, "action"),
        *each(NUMBER, "undoes", nullable=True), *each(BIG, "batch"), *each(TEXT, "actor_uid actor_name before after"),
        *each(TIME, "created_at"), key="id")
    index("photo_changes", "photo_uid")
    table("places", *each(TEXT, "id label city state country"), key="id")
    table("rejected_files", *each(ROW_ID, "id"), *each(TEXT, "root name"), *each(BIG, "size mtime_ns"), *each(TEXT,
        "reason"), *each(TEXT, "detail", server_default=""), *each(SMALL, "reader_version", server_default="0"),
        *each(NUMBER, "attempts", server_default="0"), *each(TIME, "retry_at", nullable=True), *each(TIME,
        "created_at"), key="id", unique=["root name"])
    index("rejected_files", "detail", name="ix_photosvc_rejected_files_duplicates", where="reason = 'duplicate'")
    index("rejected_files", "retry_at")
    table("signing_keys", *each(NUMBER, "number", autoincrement=False), *each(TEXT, "sealed"), *each(TIME,
        "created_at"), key="number")
    table("subjects", *each(ROW_ID, "id"), *each(TEXT, "uid name folded"), *each(FLAG,
        "favorite favorite_open hidden", server_default=sa.false()), *each(sa.Date, "birth_date", nullable=True),
        *each(TIME, "updated_at"), key="id", unique=["folded", "uid"])
    table("throttle", *each(TEXT, "key"), *each(BIG, "full_at"), key="key")
    index("throttle", "full_at")
    table("users", *each(ROW_ID, "id"), *each(TEXT, "uid name display_name email role password_hash"), *each(NUMBER,
        "password_version"), *each(FLAG, "disabled"), *each(TEXT, "totp_secret"), *each(FLAG,
        "totp_confirmed"), *each(BIG, "totp_last_step"), *each(TIME, "login_at",
        nullable=True), *each(TIME, "created_at updated_at"), key="id", unique=["name", "uid"],
        sqlite_autoincrement=True)
    table("zip_selections", *each(ROW_ID, "id"), *each(TEXT, "name principal_uid title file_ids"), *each(TIME,
        "expires_at"), key="id", unique=["name"])
    index("zip_selections", "expires_at")
    index("zip_selections", "principal_uid")
    table("album_shares", *each(ROW_ID, "id user_id"), *each(TEXT, "album_uid"), *each(FLAG, "contributes"),
        *each(ROW_ID, "owner_id", nullable=True), *each(TEXT, "created_by"), *each(TIME, "created_at updated_at"),
        key="id", unique=["user_id album_uid"], refers=[("user_id", "users.id", "CASCADE"), ("owner_id", "users.id",
        "CASCADE")], sqlite_autoincrement=True)
    index("album_shares", "album_uid")
    index("album_shares", "owner_id")
    table("cells", *each(TEXT, "id place_id"), key="id", refers=[("place_id", "places.id", None)])
    index("cells", "place_id")
    table("clients", *each(ROW_ID, "id"), *each(TEXT, "uid secret_digest name role scope"), *each(ROW_ID, "user_id",
        nullable=True), *each(NUMBER, "token_lifetime token_limit"), *each(TEXT, "token_format"), *each(FLAG,
        "enabled"), *each(TIME, "created_at updated_at"), key="id", unique=["uid"], refers=[("user_id", "users.id",
        "SET NULL")], sqlite_autoincrement=True)
    index("clients", "user_id")
    table("jobs", *each(ROW_ID, "id"), *each(TEXT, "kind subject"), *each(JSON, "arguments"), *each(TEXT, "state"),
        *each(FLAG, "large requested cancelled"), *each(NUMBER, "attempts"), *each(TIME, "not_before"), *each(TEXT,
        "owner"), *each(TIME, "leased_until", nullable=True), *each(TEXT, "outcome"), *each(JSON, "report"),
        *each(ROW_ID, "user_id", nullable=True), *each(TIME, "created_at"), *each(TIME, "started_at ended_at",
        nullable=True), key="id", refers=[("user_id", "users.id", "SET NULL")])
    index("jobs", "kind started_at")
    index("jobs", "owner", name="ix_photosvc_jobs_running", where="state = 'running'")
    index("jobs", "user_id")
    index("jobs", "kind subject", name="uq_photosvc_jobs_waiting", unique=True, where="state = 'waiting'")
    table("links", *each(ROW_ID, "id"), *each(TEXT, "uid digest slug album_uid"), *each(ROW_ID, "user_id",
        nullable=True), *each(TEXT, "created_by comment password_hash"), *each(TIME, "expires_at", nullable=True),
        *each(NUMBER, "max_views views"), *each(TIME, "last_view_at", nullable=True), *each(FLAG,
        "downloads metadata_shown"), *each(FLAG, "uploads", server_default=sa.false()), *each(TIME,
        "created_at updated_at"), key="id", unique=["digest", "uid"], refers=[("user_id", "users.id", "CASCADE")],
        sqlite_autoincrement=True)
    index("links", "album_uid")
    index("links", "user_id")
    table("photos", *each(ROW_ID, "id"), *each(TEXT, "uid type type_src"), *each(TIME, "taken_at taken_at_local"),
        *each(TEXT, "taken_src time_zone path name original_name"), *each(TEXT, "original_name_src",
        server_default=""), *each(TEXT, "title title_src description description_src"), *each(NUMBER,
        "year month day"), *each(TEXT, "country"), *each(SMALL, "stack"), *each(FLAG, "favorite"), *each(TEXT,
        "favorite_src", server_default=""), *each(FLAG, "private"), *each(FLAG, "approved",
        server_default=sa.false()), *each(FLAG, "scan"), *each(TEXT, "scan_src", server_default=""), *each(FLAG,
        "panorama"), *each(TEXT, "panorama_src", server_default=""), *each(NUMBER, "iso"), *each(TEXT, "iso_src",
        server_default=""), *each(NUMBER, "focal_length"), *each(TEXT, "focal_length_src", server_default=""),
        *each(REAL, "f_number"), *each(TEXT, "f_number_src", server_default=""), *each(TEXT, "exposure"), *each(TEXT,
        "exposure_src", server_default=""), *each(ROW_ID, "camera_id"), *each(TEXT, "camera_src camera_serial"),
        *each(ROW_ID, "lens_id"), *each(REAL, "lat lng"), *each(NUMBER, "altitude"), *each(TEXT,
        "cell_id place_id place_src"), *each(FLAG, "place_named", server_default=sa.false()), *each(SMALL, "quality"),
        *each(NUMBER, "resolution"), *each(SMALL, "color"), *each(BIG, "duration_ns"), *each(SMALL, "rating"),
        *each(TEXT, "rating_src", server_default=""), *each(TEXT, "subject"), *each(TEXT, "subject_src",
        server_default=""), *each(TEXT, "artist"), *each(TEXT, "artist_src", server_default=""), *each(TEXT,
        "copyright"), *each(TEXT, "copyright_src", server_default=""), *each(TEXT, "license"), *each(TEXT,
        "license_src", server_default=""), *each(TEXT, "notes"), *each(TEXT, "notes_src", server_default=""),
        *each(TEXT, "software document_id"), *each(TEXT, "keywords_src seen_labels rejected_labels",
        server_default=""), *each(TIME, "created_at updated_at"), *each(TIME, "edited_at checked_at archived_at",
        nullable=True), *each(TEXT, "archived_src", server_default=""), key="id", unique=["uid"],
        refers=[("camera_id", "cameras.id", None), ("lens_id", "lenses.id", None), ("place_id", "places.id", None)])
    index("photos", "camera_id camera_serial taken_at_local", name="ix_photosvc_photos_camera")
    index("photos", "document_id")
    index("photos", "lens_id")
    index("photos", "path name")
    index("photos", "place_id")
    table("recovery_codes", *each(ROW_ID, "id user_id"), *each(TEXT, "digest"), *each(TIME, "created_at"), key="id",
        unique=["user_id digest"], refers=[("user_id", "users.id", "CASCADE")])
    table("sidecars", *each(ROW_ID, "id"), *each(TEXT, "root name folder"), *each(BIG, "size mtime_ns"), *each(TEXT,
        "kind details"), *each(ROW_ID, "album_id", nullable=True), *each(SMALL, "reader_version"), *each(TIME,
        "created_at updated_at"), key="id", unique=["root name"], refers=[("album_id", "albums.id", "SET NULL")])
    index("sidecars", "album_id")
    index("sidecars", "folder")
    table("subject_names", *each(TEXT, "folded"), *each(ROW_ID, "subject_id"), key="folded", refers=[("subject_id",
        "subjects.id", "CASCADE")])
    index("subject_names", "subject_id")
    table("uploaded_files", *each(ROW_ID, "id"), *each(TEXT, "hash", nullable=True), *each(ROW_ID, "user_id",
        nullable=True), *each(TEXT, "name"), *each(BIG, "size"), *each(TEXT, "original_name"), *each(TEXT, "link_uid",
        server_default=""), *each(FLAG, "contributed", server_default=sa.false()), *each(TIME, "created_at"), key="id",
        refers=[("user_id", "users.id", "SET NULL")])
    index("uploaded_files", "name")
    index("uploaded_files", "user_id size")
    index("uploaded_files", "hash", name="uq_photosvc_uploaded_files_hash", unique=True, where="NOT contributed")
    index("uploaded_files", "hash user_id link_uid", name="uq_photosvc_uploaded_files_hash_contributed", unique=True,
        where="contributed")
    table("uploads", *each(ROW_ID, "id"), *each(TEXT, "token"), *each(ROW_ID, "user_id"), *each(TEXT, "bundle name"),
        *each(BIG, "size"), *each(TEXT, "hash described"), *each(FLAG, "finished"), *each(TIME,
        "created_at expires_at"), key="id", unique=["token"], refers=[("user_id", "users.id", "CASCADE")])
    index("uploads", "expires_at")
    index("uploads", "user_id bundle")
    table("album_photos", *each(ROW_ID, "album_id photo_id position"), *each(FLAG, "hidden"), *each(TIME,
        "created_at"), key="album_id photo_id", refers=[("album_id", "albums.id", "CASCADE"), ("photo_id",
        "photos.id", "CASCADE")])
    index("album_photos", "photo_id")
    index("album_photos", "album_id position photo_id", name="ix_photosvc_album_photos_position")
    table("credentials", *each(ROW_ID, "id"), *each(TEXT, "uid kind digest name scope"), *each(ROW_ID,
        "user_id client_id parent_id", nullable=True), *each(TIME, "expires_at", nullable=True), *each(NUMBER,
        "idle_seconds", nullable=True), *each(TIME, "last_used_at", nullable=True), *each(TEXT, "last_ip user_agent"),
        *each(TEXT, "method", server_default=""), *each(TIME, "proved_at", nullable=True), *each(TIME, "created_at"),
        key="id", unique=["digest", "uid"], refers=[("user_id", "users.id", "CASCADE"), ("client_id", "clients.id",
        "CASCADE"), ("parent_id", "credentials.id", "CASCADE")], sqlite_autoincrement=True)
    index("credentials", "client_id")
    index("credentials", "expires_at")
    index("credentials", "idle_seconds last_used_at", name="ix_photosvc_credentials_idle",
        where="idle_seconds IS NOT NULL")
    index("credentials", "user_id kind parent_id id", name="ix_photosvc_credentials_owner")
    index("credentials", "parent_id")
    table("distinct_photos", *each(BIG, "number", autoincrement=False), *each(ROW_ID, "photo_id"),
        key="number photo_id", refers=[("photo_id", "photos.id", "CASCADE")])
    index("distinct_photos", "photo_id")
    table("files", *each(ROW_ID, "id"), *each(TEXT, "uid"), *each(ROW_ID, "photo_id"), *each(TEXT,
        "root name original_name hash"), *each(BIG, "size mtime_ns"), *each(FLAG, "primary"), *each(TEXT,
        "primary_src", server_default=""), *each(FLAG, "sidecar missing"), *each(FLAG, "unstacked contributed",
        server_default=sa.false()), *each(TEXT, "error"), *each(TEXT, "error_detail", server_default=""), *each(TEXT,
        "codec file_type media_type mime"), *each(NUMBER, "width height"), *each(SMALL, "orientation"), *each(TEXT,
        "orientation_src", server_default=""), *each(SMALL, "turn", server_default="1"), *each(FLAG, "motion",
        server_default=sa.false()), *each(BIG, "duration_ns"), *each(REAL, "fps"), *each(NUMBER, "frames"),
        *each(TEXT, "projection color_profile"), *each(SMALL, "main_color"), *each(TEXT, "colors luminance"),
        *each(NUMBER, "diff"), *each(SMALL, "chroma"), *each(NUMBER, "look_1 look_2 look_3 look_4",
        server_default="-1"), *each(TEXT, "instance_id details"),
        *each(SMALL, "reader_version", server_default="0"), *each(TEXT,
        "chosen_names added_areas stacked_from", server_default=""), *each(TIME, "created_at updated_at"), key="id",
        unique=["root name", "uid"], refers=[("photo_id", "photos.id", None)])
    index("files", "hash")
    index("files", "instance_id")
    index("files", "look_1")
    index("files", "look_2")
    index("files", "look_3")
    index("files", "look_4")
    index("files", "photo_id")
    table("job_failures", *each(ROW_ID, "id job_id"), *each(TEXT, "name reason detail"), *each(TIME, "created_at"),
        key="id", refers=[("job_id", "jobs.id", "CASCADE")])
    index("job_failures", "job_id")
    table("look_alikes", *each(NUMBER, "number", autoincrement=False), *each(SMALL, "place", autoincrement=False),
        *each(ROW_ID, "photo_id"), *each(SMALL, "distance"), key="number place", refers=[("photo_id", "photos.id",
        "CASCADE")])
    index("look_alikes", "photo_id")
    table("sight_runs", *each(ROW_ID, "photo_id", autoincrement=False), *each(TEXT, "model file_hash failure"),
        *each(TIME, "done_at"), key="photo_id", refers=[("photo_id", "photos.id", "CASCADE")])
    table("photo_keywords", *each(ROW_ID, "photo_id keyword_id"), key="photo_id keyword_id", refers=[("photo_id",
        "photos.id", "CASCADE"), ("keyword_id", "keywords.id", "CASCADE")])
    index("photo_keywords", "keyword_id")
    table("search_texts", *each(ROW_ID, "photo_id", autoincrement=False), *each(TEXT,
        "words title keywords people description place seen description_key"), key="photo_id", refers=[("photo_id",
        "photos.id", "CASCADE")])
    table("copy_sidecars", *each(TEXT, "name"), *each(ROW_ID, "sidecar_id file_id"), key="name sidecar_id",
        refers=[("sidecar_id", "sidecars.id", "CASCADE"), ("file_id", "files.id", "CASCADE")])
    index("copy_sidecars", "file_id")
    index("copy_sidecars", "sidecar_id")
    table("file_sidecars", *each(ROW_ID, "file_id sidecar_id"), key="file_id sidecar_id", refers=[("file_id",
        "files.id", "CASCADE"), ("sidecar_id", "sidecars.id", "CASCADE")])
    index("file_sidecars", "sidecar_id")
    table("markers", *each(ROW_ID, "id"), *each(TEXT, "uid"), *each(ROW_ID, "file_id"), *each(TEXT, "type src name"),
        *each(REAL, "x y w h"), *each(TIME, "created_at"), key="id", unique=["uid"], refers=[("file_id", "files.id",
        "CASCADE")])
    index("markers", "file_id")
    index("markers", "name")
    table("search_rows", *each(ROW_ID, "file_id", autoincrement=False), *each(ROW_ID, "photo_id"), *each(BIG,
        "newest_key oldest_key"), *each(FLAG, "listed present is_primary is_first"), *each(TEXT,
        "photo_uid photo_type path name path_key name_key original_key title_key document_key"), *each(SMALL,
        "stack"), *each(FLAG, "stacked has_album favorite private scan panorama hidden archived"), *each(BIG,
        "archived_at"), *each(SMALL, "quality rating faces"), *each(NUMBER, "resolution iso focal_length"),
        *each(REAL, "f_number"), *each(TEXT, "exposure_key"), *each(ROW_ID, "camera_id lens_id"), *each(REAL,
        "lat lng x y z"), *each(NUMBER, "altitude"), *each(TEXT, "cell_id country state_key city_key"), *each(NUMBER,
        "year month day taken_day timeline_day"),
        *each(BIG, "taken_at oldest_at created_at updated_at edited_at duration"), *each(NUMBER, "shuffle"),
        *each(SMALL, "color"), *each(NUMBER, "photo_diff"), *each(BIG, "photo_size"),
        *each(TEXT, "file_uid file_key hash codec"), *each(BIG, "size"),
        *each(NUMBER, "width height"), *each(FLAG, "portrait"), *each(REAL, "aspect_ratio"), *each(SMALL, "chroma"),
        *each(NUMBER, "diff"), *each(FLAG, "has_error"), *each(TEXT, "instance_key"), key="file_id",
        refers=[("file_id", "files.id", "CASCADE")])
    index("search_rows",
        "newest_key private listed shuffle photo_id color photo_type camera_id country year month portrait is_first",
        name="ix_photosvc_search_rows_added", where="listed", include=("file_id",))
    index("search_rows", "camera_id taken_at newest_key", name="ix_photosvc_search_rows_camera_id_taken",
        where="listed")
    index("search_rows", "country taken_at newest_key", name="ix_photosvc_search_rows_country_taken", where="listed")
    index("search_rows", "duration newest_key private is_first", name="ix_photosvc_search_rows_duration",
        where="listed", include=("file_id",))
    index("search_rows", "edited_at newest_key private is_first", name="ix_photosvc_search_rows_edited",
        where="listed", include=("file_id",))
    index("search_rows", "faces newest_key", name="ix_photosvc_search_rows_faces", where="listed AND faces > 0")
    index("search_rows", "file_key oldest_key listed", name="ix_photosvc_search_rows_file_key_pattern",
        where="listed")
    index("search_rows", "lat lng newest_key listed private is_first aspect_ratio color photo_type",
        name="ix_photosvc_search_rows_map")
    index("search_rows", "path name oldest_key private is_first", name="ix_photosvc_search_rows_name", where="listed",
        include=("file_id",))
    index("search_rows", "name_key oldest_key listed", name="ix_photosvc_search_rows_name_key_pattern",
        where="listed")
    index("search_rows", "oldest_at oldest_key private listed photo_id year taken_day is_first",
        name="ix_photosvc_search_rows_oldest", where="listed", include=("file_id",))
    index("search_rows", "path_key", name="ix_photosvc_search_rows_path", where="listed")
    index("search_rows", "photo_id taken_at newest_key private listed", name="ix_photosvc_search_rows_photo",
        include=("file_id",))
    index("search_rows", "photo_size newest_key private is_first", name="ix_photosvc_search_rows_photo_size",
        where="listed", include=("file_id",))
    index("search_rows", "photo_type newest_key", name="ix_photosvc_search_rows_photo_type",
        where="listed AND photo_type <> 'image'")
    index("search_rows",
        "country state_key city_key oldest_key listed private is_first aspect_ratio color photo_type newest_key",
        name="ix_photosvc_search_rows_place", where="listed", include=("file_id",))
    index("search_rows", "rating newest_key", name="ix_photosvc_search_rows_rating", where="listed AND rating > 0")
    index("search_rows", "quality taken_at newest_key private is_first", name="ix_photosvc_search_rows_relevance",
        where="listed", include=("file_id",))
    index("search_rows", "color cell_id photo_diff oldest_key private is_first",
        name="ix_photosvc_search_rows_similar", where="listed", include=("file_id",))
    index("search_rows", "size newest_key private", name="ix_photosvc_search_rows_size", where="listed",
        include=("file_id",))
    index("search_rows",
        "taken_at newest_key private listed photo_id color photo_type year month portrait taken_day is_first",
        name="ix_photosvc_search_rows_taken", where="listed", include=("file_id",))
    index("search_rows", "timeline_day taken_at newest_key listed private is_first aspect_ratio color photo_type",
        name="ix_photosvc_search_rows_timeline")
    index("search_rows", "title_key name oldest_key private listed is_first", name="ix_photosvc_search_rows_title",
        where="listed", include=("file_id",))
    index("search_rows", "newest_key", name="ix_photosvc_search_rows_unlisted", where="NOT listed")
    index("search_rows", "updated_at newest_key private created_at is_first", name="ix_photosvc_search_rows_updated",
        where="listed", include=("file_id",))
    index("search_rows",
        "lens_id year photo_type stack stacked has_album favorite scan panorama quality rating faces resolution iso "
        "focal_length f_number camera_id altitude country state_key city_key month day color codec width height "
        "aspect_ratio chroma newest_key private listed", name="ix_photosvc_search_rows_values", where="listed")
    index("search_rows", "year taken_at newest_key", name="ix_photosvc_search_rows_year_taken", where="listed",
        include=("file_id", "private"))
    table("stack_keys", *each(BIG, "key", autoincrement=False), *each(ROW_ID, "file_id"), key="key file_id",
        refers=[("file_id", "files.id", "CASCADE")], sqlite_with_rowid=False)
    index("stack_keys", "file_id")
    table("visits", *each(ROW_ID, "credential_id", autoincrement=False), *each(ROW_ID, "link_id"),
        key="credential_id", refers=[("credential_id", "credentials.id", "CASCADE"), ("link_id", "links.id",
        "CASCADE")])
    index("visits", "link_id")
    table("search_albums", *each(ROW_ID, "album_id file_id"), *each(BIG, "taken_at oldest_at newest_key oldest_key"),
        key="album_id file_id", refers=[("album_id", "albums.id", "CASCADE"), ("file_id", "search_rows.file_id",
        "CASCADE")])
    index("search_albums", "album_id newest_key file_id", name="ix_photosvc_search_albums_added")
    index("search_albums", "file_id")
    index("search_albums", "album_id oldest_at oldest_key file_id", name="ix_photosvc_search_albums_oldest")
    index("search_albums", "album_id taken_at newest_key file_id", name="ix_photosvc_search_albums_taken")
    table("search_documents", *each(ROW_ID, "file_id", autoincrement=False), *each(TEXT, "result_head file"),
        key="file_id", refers=[("file_id", "search_rows.file_id", "CASCADE")])
    # fmt: on
