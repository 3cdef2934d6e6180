from datetime import datetime
from json import loads

import pytest
from sqlalchemy import MetaData, create_engine, inspect, select, text
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem
from photosvc.models import (
    SCHEMA_VERSION,
    TABLE_PREFIX,
    Album,
    AlbumPhoto,
    Base,
    File,
    Photo,
    RejectedFile,
    SearchAlbum,
    migrate,
)
from photosvc.models.database.engine import configure_engine
from photosvc.search.projection.project import project
from tests.clock import NOW
from tests.factories.accounts import add_client, add_user
from tests.factories.photos import add_photos
from tests.factories.varied_library import fill_varied_library


@pytest.fixture
def engine(empty_database):
    engine = create_engine(empty_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


def own_tables(engine):
    return {name for name in inspect(engine).get_table_names() if name.startswith(TABLE_PREFIX)}


def test_the_code_expects_the_newest_migration():
    assert migrate.head() == SCHEMA_VERSION


def test_tables_go_up_down_and_up_again_and_fit_the_models(engine):
    assert migrate.upgrade(engine) == (None, SCHEMA_VERSION)
    assert migrate.differences(engine) == []
    assert {table.name for table in Base.metadata.sorted_tables} <= own_tables(engine)
    migrate.downgrade(engine, "base")
    assert {name for name in own_tables(engine) if name != TABLE_PREFIX + "schema"} == set()
    assert migrate.upgrade(engine)[1] == SCHEMA_VERSION
    assert migrate.differences(engine) == []


def test_the_albums_of_a_library_get_their_rows(engine):
    migrate.upgrade(engine)
    with Session(engine) as session:
        add_photos(session, 6, NOW)
        session.add(Album(id=1, uid="a" * 16, title="Some", created_at=NOW, updated_at=NOW))
        session.flush()
        ids = list(session.scalars(select(Photo.id)))
        taken_out = {ids[3]}
        session.add_all(AlbumPhoto(album_id=1, photo_id=n, hidden=n in taken_out, created_at=NOW) for n in ids[:4])
        project(session, ids)
        session.commit()
    rows = select(SearchAlbum.__table__).order_by(SearchAlbum.file_id)
    with engine.connect() as connection:
        projected = connection.execute(rows).all()
    assert len(projected) >= 3
    migrate.downgrade(engine, "0002")
    migrate.upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(rows).all() == projected


def test_stored_results_lose_their_last_two_fields_and_get_them_back(engine):
    migrate.upgrade(engine)
    with Session(engine) as session:
        add_photos(session, 6, NOW)
        session.commit()
    heads = text("SELECT file_id, result_head FROM photosvc_search_documents ORDER BY file_id")
    with engine.connect() as connection:
        projected = connection.execute(heads).all()
    assert len(projected) == 8
    migrate.downgrade(engine, "0004")
    with engine.connect() as connection:
        whole = connection.execute(text("SELECT result FROM photosvc_search_documents")).scalars().all()
    assert {(loads(result)["Merged"], len(loads(result)["Files"])) for result in whole} == {(False, 0)}
    migrate.upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(heads).all() == projected


def test_a_second_upgrade_changes_nothing(engine):
    migrate.upgrade(engine)
    assert migrate.upgrade(engine) == (SCHEMA_VERSION, SCHEMA_VERSION)


def test_a_missing_column_is_reported(engine):
    migrate.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE photosvc_albums DROP COLUMN description"))
    assert len(migrate.differences(engine)) == 1
    assert "description" in migrate.differences(engine)[0]


def test_tables_of_a_host_are_left_alone(engine):
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER PRIMARY KEY, nick TEXT)"))
        connection.execute(text("CREATE TABLE photos (id INTEGER PRIMARY KEY, users_id INTEGER REFERENCES users (id))"))
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO users VALUES (1, 'host')"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('the host''s')"))
    migrate.upgrade(engine)
    assert migrate.differences(engine) == []
    migrate.downgrade(engine, "base")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT id, nick FROM users")).all() == [(1, "host")]
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "the host's"
    assert {"users", "photos", "alembic_version"} <= set(inspect(engine).get_table_names())


@pytest.mark.parametrize("table", ["users", "clients", "credentials"])
def test_ids_that_say_who_may_do_what_are_never_reused_on_sqlite(tmp_path, table):
    engine = create_engine(f"sqlite:///{tmp_path / 'ids.db'}")
    migrate.upgrade(engine)
    with engine.connect() as connection:
        query = text("SELECT sql FROM sqlite_master WHERE name = :name")
        assert "AUTOINCREMENT" in connection.execute(query, {"name": TABLE_PREFIX + table}).scalar_one()
    engine.dispose()


#: Every sentence that schema 0003 stored, with the code and the details that take its place.
SENTENCES = {
    "the file is empty": ("empty", ""),
    "the file is larger than 1000 MB": ("too_large", "1000"),
    "its content is not a picture": ("wrong_content", "picture"),
    "its content is not a video": ("wrong_content", "video"),
    "the file cannot be read: permission denied": ("unreadable", "EACCES"),
    "the file cannot be read: input/output error": ("unreadable", "EIO"),
    "needs the extra \"heic\": pip install 'photosvc[heic]'": ("missing_extra", "heic"),
    "the picture is truncated": ("truncated", ""),
    "the picture is damaged": ("undecodable", ""),
    "the picture's header cannot be read": ("bad_header", ""),
    "the file cannot be read": ("read_error", ""),
    "the picture has 144 megapixels, the limit is 100": ("over_pixel_limit", "144\n100"),
    "the picture has more than 150 megapixels": ("over_header_limit", "150"),
    "the picture unpacks to 20480 times its size": ("over_ratio", "20480"),
    "the picture needs more memory than there is": ("over_available_memory", ""),
    "a sidecar has no pixels to open": ("no_pixels", "sidecar"),
    "LibRaw cannot read this raw": ("undecodable_raw", ""),
    "the raw has too many pixels": ("raw_size", ""),
    "the raw has no colours": ("raw_without_colors", ""),
    "the file holds no video": ("no_video", ""),
    "the video has no size, or one beyond 50 megapixels": ("video_size", "50"),
    "The file needs more memory to read than allowed.": ("out_of_memory", ""),
    "The file took longer than 0.5 s to read.": ("timeout", "0.5"),
    "The file made its reader crash.": ("crashed", ""),
    "The file made its reader crash (Segmentation fault).": ("killed", "SIGSEGV"),
    "The file could not be read (ValueError).": ("reader_error", "ValueError"),
    "the same content as a/b (2).jpg": ("duplicate", "a/b (2).jpg"),
    "it cannot be stored (DataError)": ("unstorable", "DataError"),
    "words of a stranger": ("legacy", "words of a stranger"),
}
#: Sentences that read the same as others now.
SAME = {
    "it is not a regular file": ("not_regular", ""),
    "its extension is not one of a picture, a video or a sidecar": ("unknown_extension", ""),
}


FAILED = {code for code, _ in SENTENCES.values()} - {
    "empty",
    "too_large",
    "wrong_content",
    "missing_extra",
    "duplicate",
}


def test_sentences_become_codes_that_give_the_same_sentences(engine):
    migrate.upgrade(engine, "0003")
    stored = [*SENTENCES, *SAME]
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO photosvc_rejected_files (root, name, size, mtime_ns, failed, reason, created_at)"
                " VALUES ('/', :reason, 1, 2, :failed, :reason, '2026-01-01 00:00:00')"
            ),
            [{"reason": reason, "failed": {**SENTENCES, **SAME}[reason][0] in FAILED} for reason in stored],
        )
        insert_old_files(connection, ["", *stored])
    migrate.upgrade(engine)
    with Session(engine) as session:
        rejected = {row.name: (row.reason, row.detail) for row in session.scalars(select(RejectedFile))}
        files = {row.name: (row.error, row.error_detail) for row in session.scalars(select(File))}
    assert rejected == {**SENTENCES, **SAME}
    assert files == {"": ("", ""), **SENTENCES, **SAME}
    assert {name: Problem.from_columns(*SENTENCES[name]).sentence for name in SENTENCES} == {
        name: name for name in SENTENCES
    }
    migrate.downgrade(engine, "0003")
    with engine.connect() as connection:
        query = "SELECT name, reason, failed FROM photosvc_rejected_files"
        back = {name: (reason, bool(failed)) for name, reason, failed in connection.execute(text(query))}
        errors = dict(connection.execute(text("SELECT name, error FROM photosvc_files")).all())
    assert back == {name: (name, {**SENTENCES, **SAME}[name][0] in FAILED) for name in stored}
    assert errors == {name: name for name in ["", *stored]}


def insert_old_files(connection, errors):
    """Files with these errors in the tables of an older schema; each error is the file's name as well."""
    tables = MetaData()
    tables.reflect(connection, only=["photosvc_photos", "photosvc_files"])
    photos, files = tables.tables["photosvc_photos"], tables.tables["photosvc_files"]
    connection.execute(photos.insert().values(required(photos) | {"id": 1}))
    connection.execute(
        files.insert(),
        [required(files) | {"uid": f"f{error}", "photo_id": 1, "name": error, "error": error} for error in errors],
    )


def required(table):
    """A value for every column that needs one, drawn by its type."""
    values = {int: 1, float: 1.0, str: "", bool: False, datetime: NOW.replace(tzinfo=None)}
    return {
        column.name: "zz" if column.name in {"cell_id", "place_id"} else values[column.type.python_type]
        for column in table.columns
        if not column.nullable and column.name != "id"
    }


def rows_of(engine):
    """Table -> its rows, sorted, without the indexed words."""
    tables = MetaData()
    tables.reflect(engine, only=[name for name in own_tables(engine) if "search_text" not in name])
    with engine.connect() as connection:
        return {
            table.name: sorted(repr(sorted(row.items())) for row in connection.execute(select(table)).mappings())
            for table in tables.sorted_tables
        }


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_rows_of_every_revision_outlive_the_way_up_and_down(engine):
    migrate.upgrade(engine)
    with Session(engine) as session:
        fill_varied_library(session)
        add_user(session)
        add_client(session)
        session.commit()
    counts = {name: len(rows) for name, rows in rows_of(engine).items()}
    assert counts["photosvc_search_rows"] > 40
    for number in range(int(SCHEMA_VERSION) - 1, 0, -1):
        migrate.downgrade(engine, f"{number:04}")
        before = rows_of(engine)
        migrate.upgrade(engine)
        assert migrate.differences(engine) == []
        assert {name: len(rows) for name, rows in rows_of(engine).items()} == counts
        migrate.downgrade(engine, f"{number:04}")
        assert rows_of(engine) == before
        migrate.upgrade(engine)
