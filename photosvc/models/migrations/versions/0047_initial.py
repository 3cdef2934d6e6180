"""The tables of the first version; former revisions belong to versions that were never released."""

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = None
branch_labels = None
depends_on = None

TEXT, TIME, FLAG, JSON = sa.Text(), sa.DateTime(), sa.Boolean(), sa.JSON()
SMALL, NUMBER, BIG = sa.SmallInteger(), sa.Integer(), sa.BigInteger()
REAL: sa.Double[float] = sa.Double()
ROW_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
WIDE = sa.Integer().with_variant(sa.BigInteger(), "postgresql")
#: Prefixes of paths are found by ranges, which needs the order of bytes.
PATH = sa.Text().with_variant(sa.Text(collation="C"), "postgresql")
TEXTS = "photosvc_search_texts"
INDEX = "photosvc_search_text_index"
VIEW = "photosvc_search_text_terms"
#: Words of a section are indexed once more behind a character that no word contains, so that those of a title are found
#: without reading texts.
MARKS = {"title": "\ue001", "keywords": "\ue002", "people": "\ue003", "description": "\ue004", "place": "\ue005"}
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


def downgrade() -> None:
    """Remove all tables."""
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE photosvc_search_text_vocabulary")
        op.execute(f"DROP TABLE {INDEX}")
        op.execute(f"DROP VIEW {VIEW}")
    found = sa.MetaData()
    found.reflect(op.get_bind(), only=lambda name, _: name.startswith("photosvc_") and name != "photosvc_schema")
    found.drop_all(op.get_bind())


def _terms(row: str = "") -> str:
    """Return the SQL text of all words of a row, those of sections behind their marks."""
    sections = (f"replace(rtrim({row}{section}), ' ', ' {mark}')" for section, mark in MARKS.items())
    return " || ".join((f"rtrim({row}words)", *sections))


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
    op.execute(f"CREATE VIRTUAL TABLE photosvc_search_text_vocabulary USING fts5vocab('{INDEX}', 'row')")
    op.execute(f"CREATE TRIGGER {INDEX}_insert AFTER INSERT ON {TEXTS} BEGIN {add}; END")
    op.execute(f"CREATE TRIGGER {INDEX}_delete AFTER DELETE ON {TEXTS} BEGIN {remove}; END")
    op.execute(
        f"CREATE TRIGGER {INDEX}_update AFTER UPDATE OF {', '.join(('words', *MARKS))} ON {TEXTS} "
        f"WHEN {_terms('old.')} <> {_terms('new.')} BEGIN {remove}; {add}; END"
    )


def _add_unknown() -> None:
    """Insert the rows that mean «unknown»: camera 1, lens 1, place and cell zz."""
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


def _all(kind: Any, names: str, **options: Any) -> Iterable[sa.Column[Any]]:  # noqa: ANN401 - any type of column
    """Return columns of one kind; they are NOT NULL unless the options say otherwise."""
    return [sa.Column(name, kind, **({"nullable": False} | options)) for name in names.split()]


def _table(
    name: str,
    *columns: sa.Column[Any],
    key: str,
    unique: Sequence[str] = (),
    refers: Sequence[tuple[str, str, str | None]] = (),
    **options: Any,  # noqa: ANN401 - those of a table
) -> None:
    """Create a table.

    Args:
        name: its name without the prefix.
        columns: its columns in order.
        key: names of the columns of the primary key.
        unique: names of the columns of each unique constraint.
        refers: a column, the column of another table that it refers to, and what follows when that row is deleted.
        options: options of the dialects.
    """
    table = f"photosvc_{name}"
    op.create_table(
        table,
        *columns,
        *(
            sa.ForeignKeyConstraint([column], [f"photosvc_{other}"], op.f(f"fk_{table}_{column}"), ondelete=rule)
            for column, other, rule in refers
        ),
        sa.PrimaryKeyConstraint(*key.split(), name=op.f(f"pk_{table}")),
        *(sa.UniqueConstraint(*of.split(), name=op.f(f"uq_{table}_{of.replace(' ', '_')}")) for of in unique),
        **options,
    )


def _index(
    table: str,
    columns: str,
    *,
    name: str | None = None,
    unique: bool = False,
    where: str | None = None,
    include: Sequence[str] = (),
    ops: dict[str, str] | None = None,
) -> None:
    """Create an index; its condition compares flags with numbers on SQLite, as queries do there."""
    flags = {"NOT listed": "listed = 0", "far_day": "far_day = 1", "place_due": "place_due = 1"}
    sqlite = where and flags.get(where, where.replace("listed", "listed = 1"))
    op.create_index(
        op.f(name or f"ix_photosvc_{table}_{columns.replace(' ', '_')}"),
        f"photosvc_{table}",
        columns.split(),
        unique=unique,
        sqlite_where=sqlite and sa.text(sqlite),
        postgresql_where=where and sa.text(where),
        postgresql_include=include,
        postgresql_ops=ops or {},
    )


def _create_tables() -> None:
    # fmt: off
    _table("albums", *_all(ROW_ID, "id"), *_all(TEXT, "uid type title description filter order"), *_all(FLAG,
        "favorite private"), *_all(TIME, "created_at updated_at"), *_all(TIME, "deleted_at", nullable=True),
        key="id", unique=["uid"])
    _index("albums", "title")
    _table("audit", *_all(ROW_ID, "id"), *_all(TEXT, "part event"), *_all(TIME, "created_at"), *_all(NUMBER,
        "times"), *_all(TEXT,
        "actor_kind actor actor_uid credential address subject subject_uid target detail request_id"), key="id",
        sqlite_autoincrement=True)
    _index("audit", "part actor_uid id")
    _index("audit", "part id")
    _table("cameras", *_all(ROW_ID, "id"), *_all(TEXT, "make model type"), key="id", unique=["make model"])
    _table("dav_locks", *_all(TEXT, "token"), *_all(PATH, "root"), *_all(TEXT, "user_uid"), *_all(FLAG,
        "exclusive deep"), *_all(TEXT, "owner"), *_all(NUMBER, "seconds"), *_all(TIME, "expires_at"), key="token")
    _index("dav_locks", "expires_at")
    _index("dav_locks", "root")
    _index("dav_locks", "user_uid")
    _table("dav_properties", *_all(PATH, "path name"), *_all(TEXT, "value"), *_all(NUMBER, "size"), *_all(TEXT,
        "user_uid"), key="path name")
    _index("dav_properties", "user_uid size")
    _table("keywords", *_all(ROW_ID, "id"), *_all(TEXT, "word folded"), *_all(FLAG, "favorite",
        server_default=sa.false()), key="id", unique=["folded"])
    _table("lenses", *_all(ROW_ID, "id"), *_all(TEXT, "make model"), key="id", unique=["make model"])
    _table("library", *_all(TEXT, "name"), *_all(BIG, "value"), key="name")
    _table("photo_changes", *_all(ROW_ID, "id"), *_all(TEXT, "photo_uid", server_default=""), *_all(TEXT, "action"),
        *_all(NUMBER, "undoes", nullable=True), *_all(TEXT, "actor_uid actor_name before after"), *_all(TIME,
        "created_at"), key="id")
    _index("photo_changes", "actor_uid id", name="ix_photosvc_photo_changes_actor")
    _index("photo_changes", "photo_uid")
    _table("places", *_all(TEXT, "id label city state country"), key="id")
    _table("rejected_files", *_all(ROW_ID, "id"), *_all(TEXT, "root name"), *_all(BIG, "size mtime_ns"), *_all(TEXT,
        "reason"), *_all(TEXT, "detail", server_default=""), *_all(SMALL, "reader_version", server_default="0"),
        *_all(NUMBER, "attempts", server_default="0"), *_all(TIME, "retry_at", nullable=True), *_all(TIME,
        "created_at"), key="id", unique=["root name"])
    _index("rejected_files", "retry_at")
    _table("signing_keys", *_all(NUMBER, "number", autoincrement=False), *_all(TEXT, "sealed"), key="number")
    _table("subjects", *_all(ROW_ID, "id"), *_all(TEXT, "uid name folded"), *_all(FLAG, "favorite",
        server_default=sa.false()), *_all(TIME, "updated_at"), key="id", unique=["folded", "uid"])
    _table("throttle", *_all(TEXT, "key"), *_all(BIG, "full_at"), key="key")
    _index("throttle", "full_at")
    _table("users", *_all(ROW_ID, "id"), *_all(TEXT, "uid name display_name email role password_hash"),
        *_all(NUMBER, "password_version"), *_all(FLAG, "disabled"), *_all(TEXT, "totp_secret"), *_all(TEXT,
        "recovery_key", server_default=""), *_all(FLAG, "totp_confirmed"), *_all(BIG, "totp_last_step"), *_all(TIME,
        "login_at", nullable=True), *_all(TIME, "created_at updated_at"), key="id", unique=["name", "uid"],
        sqlite_autoincrement=True)
    _table("zip_selections", *_all(ROW_ID, "id"), *_all(TEXT, "name principal_uid title file_ids"), *_all(TIME,
        "expires_at"), key="id", unique=["name"])
    _index("zip_selections", "expires_at")
    _index("zip_selections", "principal_uid")
    _table("cells", *_all(TEXT, "id place_id"), key="id", refers=[("place_id", "places.id", None)])
    _index("cells", "place_id")
    _table("clients", *_all(ROW_ID, "id"), *_all(TEXT, "uid secret_digest name role scope"),
        *_all(ROW_ID, "user_id", nullable=True), *_all(NUMBER, "token_lifetime token_limit"),
        *_all(TEXT, "token_format"), *_all(FLAG, "enabled"), *_all(TIME, "created_at updated_at"), key="id",
        unique=["uid"], refers=[("user_id", "users.id", "SET NULL")], sqlite_autoincrement=True)
    _index("clients", "user_id")
    _table("jobs", *_all(ROW_ID, "id"), *_all(TEXT, "kind subject"), *_all(JSON, "arguments"), *_all(TEXT, "state"),
        *_all(FLAG, "large requested cancelled"), *_all(NUMBER, "attempts"), *_all(TIME, "not_before"), *_all(TEXT,
        "owner"), *_all(TIME, "leased_until", nullable=True), *_all(TEXT, "outcome"), *_all(JSON, "report"),
        *_all(ROW_ID, "user_id", nullable=True), *_all(TIME, "created_at"), *_all(TIME, "started_at ended_at",
        nullable=True), key="id", refers=[("user_id", "users.id", "SET NULL")])
    _index("jobs", "kind started_at")
    _index("jobs", "owner", name="ix_photosvc_jobs_running", where="state = 'running'")
    _index("jobs", "user_id")
    _index("jobs", "kind subject", name="uq_photosvc_jobs_waiting", unique=True, where="state = 'waiting'")
    _table("photos", *_all(ROW_ID, "id"), *_all(TEXT, "uid type type_src"), *_all(TIME, "taken_at taken_at_local"),
        *_all(TEXT, "taken_src time_zone path name original_name title title_src description description_src"),
        *_all(NUMBER, "year month day"), *_all(TEXT, "country"), *_all(SMALL, "stack"), *_all(FLAG, "favorite"),
        *_all(TEXT, "favorite_src", server_default=""), *_all(FLAG, "private"), *_all(TEXT, "manual",
        server_default=""), *_all(FLAG, "scan panorama"), *_all(NUMBER, "iso focal_length"), *_all(REAL,
        "f_number"), *_all(TEXT, "exposure"), *_all(ROW_ID, "camera_id"), *_all(TEXT, "camera_src camera_serial"),
        *_all(ROW_ID, "lens_id"), *_all(REAL, "lat lng"), *_all(NUMBER, "altitude"), *_all(TEXT,
        "cell_id place_id place_src"), *_all(FLAG, "place_due", server_default=sa.false()), *_all(SMALL, "quality"),
        *_all(NUMBER, "resolution"), *_all(SMALL, "color"), *_all(BIG, "duration_ns"), *_all(SMALL, "rating"),
        *_all(TEXT, "subject artist copyright license notes software document_id"), *_all(TIME,
        "created_at updated_at"), *_all(TIME, "edited_at checked_at archived_at", nullable=True), *_all(TEXT,
        "archived_src", server_default=""), key="id", unique=["uid"], refers=[("camera_id", "cameras.id", None),
        ("lens_id", "lenses.id", None), ("place_id", "places.id", None)])
    _index("photos", "camera_id camera_serial taken_at_local", name="ix_photosvc_photos_camera")
    _index("photos", "document_id")
    _index("photos", "id", name="ix_photosvc_photos_due", where="place_due")
    _index("photos", "lens_id")
    _index("photos", "path name")
    _index("photos", "place_id")
    _table("recovery_codes", *_all(ROW_ID, "id user_id"), *_all(TEXT, "digest"), *_all(TIME, "created_at"),
        key="id", unique=["user_id digest"], refers=[("user_id", "users.id", "CASCADE")])
    _table("sidecars", *_all(ROW_ID, "id"), *_all(TEXT, "root name folder"), *_all(BIG, "size mtime_ns"),
        *_all(TEXT, "kind details"), *_all(ROW_ID, "album_id", nullable=True), *_all(SMALL, "reader_version"),
        *_all(TIME, "created_at updated_at"), key="id", unique=["root name"], refers=[("album_id", "albums.id",
        "SET NULL")])
    _index("sidecars", "album_id")
    _index("sidecars", "folder")
    _table("subject_names", *_all(TEXT, "folded"), *_all(ROW_ID, "subject_id"), key="folded", refers=[("subject_id",
        "subjects.id", "CASCADE")])
    _index("subject_names", "subject_id")
    _table("uploaded_files", *_all(TEXT, "hash"), *_all(ROW_ID, "user_id", nullable=True), *_all(TEXT, "name"),
        *_all(BIG, "size"), *_all(TEXT, "original_name"), *_all(TIME, "created_at"), key="hash", refers=[("user_id",
        "users.id", "SET NULL")])
    _index("uploaded_files", "user_id size")
    _table("uploads", *_all(ROW_ID, "id"), *_all(TEXT, "token"), *_all(ROW_ID, "user_id"), *_all(TEXT,
        "bundle name"), *_all(BIG, "size"), *_all(TEXT, "hash described"), *_all(FLAG, "finished"), *_all(TIME,
        "created_at expires_at"), key="id", unique=["token"], refers=[("user_id", "users.id", "CASCADE")])
    _index("uploads", "expires_at")
    _index("uploads", "user_id bundle")
    _table("album_photos", *_all(ROW_ID, "album_id photo_id"), *_all(WIDE, "position"), *_all(FLAG, "hidden"),
        *_all(TIME, "created_at"), key="album_id photo_id", refers=[("album_id", "albums.id", "CASCADE"),
        ("photo_id", "photos.id", "CASCADE")])
    _index("album_photos", "photo_id")
    _index("album_photos", "album_id position photo_id", name="ix_photosvc_album_photos_position")
    _table("credentials", *_all(ROW_ID, "id"), *_all(TEXT, "uid kind digest name scope"), *_all(ROW_ID,
        "user_id client_id parent_id", nullable=True), *_all(TIME, "expires_at", nullable=True), *_all(NUMBER,
        "idle_seconds", nullable=True), *_all(TIME, "last_used_at", nullable=True), *_all(TEXT,
        "last_ip user_agent"), *_all(TEXT, "method", server_default=""), *_all(TIME, "proved_at", nullable=True),
        *_all(TIME, "created_at"), key="id", unique=["digest", "uid"], refers=[("client_id", "clients.id",
        "CASCADE"), ("parent_id", "credentials.id", "CASCADE"), ("user_id", "users.id", "CASCADE")],
        sqlite_autoincrement=True)
    _index("credentials", "client_id")
    _index("credentials", "expires_at")
    _index("credentials", "idle_seconds last_used_at", name="ix_photosvc_credentials_idle",
        where="idle_seconds IS NOT NULL")
    _index("credentials", "user_id kind parent_id id", name="ix_photosvc_credentials_owner")
    _index("credentials", "parent_id")
    _table("distinct_photos", *_all(BIG, "number", autoincrement=False), *_all(ROW_ID, "photo_id"),
        key="number photo_id", refers=[("photo_id", "photos.id", "CASCADE")])
    _index("distinct_photos", "photo_id")
    _table("files", *_all(ROW_ID, "id"), *_all(TEXT, "uid"), *_all(ROW_ID, "photo_id"), *_all(TEXT,
        "root name original_name hash"), *_all(BIG, "size mtime_ns"), *_all(FLAG, "primary"), *_all(TEXT,
        "primary_src", server_default=""), *_all(FLAG, "sidecar missing"), *_all(FLAG, "unstacked",
        server_default=sa.false()), *_all(TEXT, "error"), *_all(TEXT, "error_detail", server_default=""),
        *_all(TEXT, "codec file_type media_type mime"), *_all(NUMBER, "width height"), *_all(SMALL, "orientation"),
        *_all(TEXT, "orientation_src", server_default=""), *_all(SMALL, "turn", server_default="1"), *_all(FLAG,
        "motion", server_default=sa.false()), *_all(BIG, "duration_ns"), *_all(REAL, "fps"), *_all(NUMBER,
        "frames"), *_all(TEXT, "projection color_profile"), *_all(SMALL, "main_color"), *_all(TEXT,
        "colors luminance"), *_all(NUMBER, "diff"), *_all(SMALL, "chroma"), *_all(NUMBER,
        "look_1 look_2 look_3 look_4", server_default="-1"), *_all(TEXT, "instance_id details"), *_all(SMALL,
        "reader_version", server_default="0"), *_all(TEXT, "chosen_names", server_default=""), *_all(TIME,
        "created_at updated_at"), key="id", unique=["root name", "uid"], refers=[("photo_id", "photos.id", None)])
    _index("files", "hash")
    _index("files", "instance_id")
    _index("files", "look_1")
    _index("files", "look_2")
    _index("files", "look_3")
    _index("files", "look_4")
    _index("files", "photo_id")
    _table("job_failures", *_all(ROW_ID, "id job_id"), *_all(TEXT, "name reason detail"), *_all(TIME, "created_at"),
        key="id", refers=[("job_id", "jobs.id", "CASCADE")])
    _index("job_failures", "job_id")
    _table("look_alikes", *_all(NUMBER, "number", autoincrement=False), *_all(SMALL, "place", autoincrement=False),
        *_all(ROW_ID, "photo_id"), *_all(SMALL, "distance"), key="number place", refers=[("photo_id", "photos.id",
        "CASCADE")])
    _index("look_alikes", "photo_id")
    _table("photo_keywords", *_all(ROW_ID, "photo_id keyword_id"), key="photo_id keyword_id", refers=[("keyword_id",
        "keywords.id", "CASCADE"), ("photo_id", "photos.id", "CASCADE")])
    _index("photo_keywords", "keyword_id")
    _table("search_texts", *_all(ROW_ID, "photo_id", autoincrement=False), *_all(TEXT,
        "words title keywords people description place description_key"), key="photo_id", refers=[("photo_id",
        "photos.id", "CASCADE")])
    _table("file_sidecars", *_all(ROW_ID, "file_id sidecar_id"), key="file_id sidecar_id", refers=[("file_id",
        "files.id", "CASCADE"), ("sidecar_id", "sidecars.id", "CASCADE")])
    _index("file_sidecars", "sidecar_id")
    _table("markers", *_all(ROW_ID, "id"), *_all(TEXT, "uid"), *_all(ROW_ID, "file_id"), *_all(TEXT,
        "type src name"), *_all(REAL, "x y w h"), *_all(TIME, "created_at"), key="id", unique=["uid"],
        refers=[("file_id", "files.id", "CASCADE")])
    _index("markers", "file_id")
    _index("markers", "name")
    _table("search_rows", *_all(ROW_ID, "file_id", autoincrement=False), *_all(ROW_ID, "photo_id"), *_all(BIG,
        "newest_key oldest_key"), *_all(FLAG, "listed present is_primary is_first"), *_all(TEXT,
        "photo_uid photo_type"), *_all(PATH, "path name"), *_all(TEXT, "path_key name_key original_key"),
        *_all(PATH, "title_key"), *_all(TEXT, "document_key"), *_all(SMALL, "stack"), *_all(FLAG,
        "stacked has_album favorite private scan panorama hidden archived"), *_all(BIG, "archived_at"), *_all(SMALL,
        "quality rating faces"), *_all(NUMBER, "resolution iso focal_length"), *_all(REAL, "f_number"),
        *_all(ROW_ID, "camera_id lens_id"), *_all(REAL, "lat lng x y z"), *_all(NUMBER, "altitude"), *_all(PATH,
        "cell_id"), *_all(TEXT, "country state_key city_key"), *_all(NUMBER,
        "year month day taken_day timeline_day"), *_all(BIG, "taken_at"), *_all(FLAG, "far_day"), *_all(BIG,
        "created_at updated_at edited_at duration"), *_all(NUMBER, "shuffle"), *_all(SMALL, "color"), *_all(NUMBER,
        "photo_diff"), *_all(BIG, "photo_size"), *_all(TEXT, "file_uid file_key hash codec"), *_all(BIG, "size"),
        *_all(NUMBER, "width height"), *_all(FLAG, "portrait"), *_all(REAL, "aspect_ratio"), *_all(SMALL, "chroma"),
        *_all(NUMBER, "diff"), *_all(FLAG, "has_error"), *_all(TEXT, "instance_key"), key="file_id",
        refers=[("file_id", "files.id", "CASCADE")])
    _index("search_rows", "newest_key private photo_id", name="ix_photosvc_search_rows_added", where="listed",
        include=["file_id"])
    _index("search_rows", "camera_id newest_key", name="ix_photosvc_search_rows_camera_id_added", where="listed")
    _index("search_rows", "camera_id taken_at newest_key", name="ix_photosvc_search_rows_camera_id_taken",
        where="listed")
    _index("search_rows", "color newest_key", name="ix_photosvc_search_rows_color_added", where="listed")
    _index("search_rows", "color taken_at newest_key", name="ix_photosvc_search_rows_color_taken", where="listed")
    _index("search_rows", "country newest_key", name="ix_photosvc_search_rows_country_added", where="listed")
    _index("search_rows", "country taken_at newest_key", name="ix_photosvc_search_rows_country_taken", where="listed")
    _index("search_rows", "created_at", name="ix_photosvc_search_rows_created", where="listed")
    _index("search_rows", "duration newest_key private", name="ix_photosvc_search_rows_duration", where="listed",
        include=["file_id"])
    _index("search_rows", "edited_at newest_key private", name="ix_photosvc_search_rows_edited", where="listed",
        include=["file_id"])
    _index("search_rows", "faces newest_key", name="ix_photosvc_search_rows_faces", where="listed AND faces > 0")
    _index("search_rows", "taken_day taken_at", name="ix_photosvc_search_rows_far_day", where="far_day")
    _index("search_rows", "file_key oldest_key listed", name="ix_photosvc_search_rows_file_key_pattern",
        where="listed", ops={"file_key": "text_pattern_ops"})
    _index("search_rows", "file_uid")
    _index("search_rows", "hash")
    _index("search_rows", "lat lng newest_key listed private is_first aspect_ratio color photo_type",
        name="ix_photosvc_search_rows_map")
    _index("search_rows", "path name oldest_key private", name="ix_photosvc_search_rows_name", where="listed",
        include=["file_id"])
    _index("search_rows", "name_key oldest_key listed", name="ix_photosvc_search_rows_name_key_pattern",
        where="listed", ops={"name_key": "text_pattern_ops"})
    _index("search_rows", "taken_at oldest_key private photo_id", name="ix_photosvc_search_rows_oldest",
        where="listed", include=["file_id"])
    _index("search_rows", "path_key", name="ix_photosvc_search_rows_path", where="listed")
    _index("search_rows", "photo_id taken_at newest_key private listed", name="ix_photosvc_search_rows_photo",
        include=["file_id"])
    _index("search_rows", "photo_size newest_key private", name="ix_photosvc_search_rows_photo_size", where="listed",
        include=["file_id"])
    _index("search_rows", "photo_type newest_key", name="ix_photosvc_search_rows_photo_type_added", where="listed")
    _index("search_rows", "photo_type taken_at newest_key", name="ix_photosvc_search_rows_photo_type_taken",
        where="listed")
    _index("search_rows", "photo_uid")
    _index("search_rows", "shuffle newest_key private listed", name="ix_photosvc_search_rows_random", where="listed",
        include=["file_id"])
    _index("search_rows", "rating newest_key", name="ix_photosvc_search_rows_rating", where="listed AND rating > 0")
    _index("search_rows", "quality taken_at newest_key private", name="ix_photosvc_search_rows_relevance",
        where="listed", include=["file_id"])
    _index("search_rows", "color cell_id photo_diff oldest_key private", name="ix_photosvc_search_rows_similar",
        where="listed", include=["file_id"])
    _index("search_rows", "size newest_key private", name="ix_photosvc_search_rows_size", where="listed",
        include=["file_id"])
    _index("search_rows", "taken_at newest_key private photo_id", name="ix_photosvc_search_rows_taken",
        where="listed", include=["file_id"])
    _index("search_rows", "timeline_day taken_at newest_key listed private is_first aspect_ratio color photo_type",
        name="ix_photosvc_search_rows_timeline")
    _index("search_rows", "title_key name oldest_key private listed", name="ix_photosvc_search_rows_title",
        where="listed", include=["file_id"])
    _index("search_rows", "country city_key newest_key listed private is_first aspect_ratio color photo_type",
        name="ix_photosvc_search_rows_towns")
    _index("search_rows", "newest_key", name="ix_photosvc_search_rows_unlisted", where="NOT listed")
    _index("search_rows", "updated_at newest_key private", name="ix_photosvc_search_rows_updated", where="listed",
        include=["file_id"])
    _index("search_rows", "lens_id year photo_type stack stacked has_album favorite scan panorama quality rating "
        "faces resolution iso focal_length f_number camera_id altitude country state_key city_key "
        "month day color codec width height aspect_ratio chroma newest_key private listed",
        name="ix_photosvc_search_rows_values", where="listed")
    _index("search_rows", "year newest_key", name="ix_photosvc_search_rows_year_added", where="listed")
    _index("search_rows", "year taken_at newest_key", name="ix_photosvc_search_rows_year_taken", where="listed")
    _table("stack_keys", *_all(BIG, "key", autoincrement=False), *_all(ROW_ID, "file_id"), key="key file_id",
        refers=[("file_id", "files.id", "CASCADE")], sqlite_with_rowid=False)
    _index("stack_keys", "file_id")
    _table("search_albums", *_all(ROW_ID, "album_id file_id"), *_all(BIG, "taken_at newest_key oldest_key"),
        key="album_id file_id", refers=[("album_id", "albums.id", "CASCADE"), ("file_id", "search_rows.file_id",
        "CASCADE")])
    _index("search_albums", "album_id newest_key file_id", name="ix_photosvc_search_albums_added")
    _index("search_albums", "file_id")
    _index("search_albums", "album_id taken_at oldest_key file_id", name="ix_photosvc_search_albums_oldest")
    _index("search_albums", "album_id taken_at newest_key file_id", name="ix_photosvc_search_albums_taken")
    _table("search_documents", *_all(ROW_ID, "file_id", autoincrement=False), *_all(TEXT, "result_head file"),
        key="file_id", refers=[("file_id", "search_rows.file_id", "CASCADE")])
    # fmt: on
