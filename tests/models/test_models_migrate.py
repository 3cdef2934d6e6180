from datetime import datetime
from json import loads

import pytest
from sqlalchemy import MetaData, create_engine, inspect, select, text
from sqlalchemy.orm import Session

from photosvc.core.problems import Problem
from photosvc.index.requested import due, waiting
from photosvc.index.run_log import reports
from photosvc.library import import_jobs as imports
from photosvc.library import look_alikes
from photosvc.models import (
    SCHEMA_VERSION,
    TABLE_PREFIX,
    Album,
    AlbumPhoto,
    Base,
    File,
    Job,
    Photo,
    RejectedFile,
    SearchAlbum,
    schema,
)
from photosvc.models.engine import configure_engine
from photosvc.search.rows.write import project
from tests.support.clock import NOW
from tests.support.factories.accounts import add_client, add_user
from tests.support.factories.photos import add_photos
from tests.support.factories.varied_library import fill_varied_library


@pytest.fixture
def engine(empty_database):
    engine = create_engine(empty_database())
    configure_engine(engine)
    yield engine
    engine.dispose()


def own_tables(engine):
    return {name for name in inspect(engine).get_table_names() if name.startswith(TABLE_PREFIX)}


def test_the_code_expects_the_newest_migration():
    assert schema.head() == SCHEMA_VERSION


def test_tables_go_up_down_and_up_again_and_fit_the_models(engine):
    assert schema.upgrade(engine) == (None, SCHEMA_VERSION)
    assert schema.differences(engine) == []
    assert {table.name for table in Base.metadata.sorted_tables} <= own_tables(engine)
    schema.downgrade(engine, "base")
    assert {name for name in own_tables(engine) if name != TABLE_PREFIX + "schema"} == set()
    assert schema.upgrade(engine)[1] == SCHEMA_VERSION
    assert schema.differences(engine) == []


def test_the_albums_of_a_library_get_their_rows(engine):
    schema.upgrade(engine)
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
    schema.downgrade(engine, "0002")
    schema.upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(rows).all() == projected


def test_stored_results_lose_their_last_two_fields_and_get_them_back(engine):
    schema.upgrade(engine)
    with Session(engine) as session:
        add_photos(session, 6, NOW)
        session.commit()
    heads = text("SELECT file_id, result_head FROM photosvc_search_documents ORDER BY file_id")
    with engine.connect() as connection:
        projected = connection.execute(heads).all()
    assert len(projected) == 8
    schema.downgrade(engine, "0004")
    with engine.connect() as connection:
        whole = connection.execute(text("SELECT result FROM photosvc_search_documents")).scalars().all()
    assert {(loads(result)["Merged"], len(loads(result)["Files"])) for result in whole} == {(False, 0)}
    schema.upgrade(engine)
    with engine.connect() as connection:
        assert connection.execute(heads).all() == projected


def test_a_second_upgrade_changes_nothing(engine):
    schema.upgrade(engine)
    assert schema.upgrade(engine) == (SCHEMA_VERSION, SCHEMA_VERSION)


def test_a_missing_column_is_reported(engine):
    schema.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE photosvc_albums DROP COLUMN description"))
    assert len(schema.differences(engine)) == 1
    assert "description" in schema.differences(engine)[0]


def test_tables_of_a_host_are_left_alone(engine):
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE users (id INTEGER PRIMARY KEY, nick TEXT)"))
        connection.execute(text("CREATE TABLE photos (id INTEGER PRIMARY KEY, users_id INTEGER REFERENCES users (id))"))
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32))"))
        connection.execute(text("INSERT INTO users VALUES (1, 'host')"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('the host''s')"))
    schema.upgrade(engine)
    assert schema.differences(engine) == []
    schema.downgrade(engine, "base")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT id, nick FROM users")).all() == [(1, "host")]
        assert connection.execute(text("SELECT version_num FROM alembic_version")).scalar() == "the host's"
    assert {"users", "photos", "alembic_version"} <= set(inspect(engine).get_table_names())


@pytest.mark.parametrize("table", ["users", "clients", "credentials"])
def test_ids_that_say_who_may_do_what_are_never_reused_on_sqlite(tmp_path, table):
    engine = create_engine(f"sqlite:///{tmp_path / 'ids.db'}")
    schema.upgrade(engine)
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
    schema.upgrade(engine, "0003")
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
    schema.upgrade(engine)
    with Session(engine) as session:
        rejected = {row.name: (row.reason, row.detail) for row in session.scalars(select(RejectedFile))}
        files = {row.name: (row.error, row.error_detail) for row in session.scalars(select(File))}
    assert rejected == {**SENTENCES, **SAME}
    assert files == {"": ("", ""), **SENTENCES, **SAME}
    assert {name: Problem.from_columns(*SENTENCES[name]).sentence for name in SENTENCES} == {
        name: REWORDED.get(name, name) for name in SENTENCES
    }
    schema.downgrade(engine, "0003")
    with engine.connect() as connection:
        query = "SELECT name, reason, failed FROM photosvc_rejected_files"
        back = {name: (reason, bool(failed)) for name, reason, failed in connection.execute(text(query))}
        errors = dict(connection.execute(text("SELECT name, error FROM photosvc_files")).all())
    assert back == {name: (name, {**SENTENCES, **SAME}[name][0] in FAILED) for name in stored}
    assert errors == {name: name for name in ["", *stored]}


#: Sentences that other words have replaced since.
REWORDED = {
    "The file made its reader crash.": "The reader of the file crashed.",
    "The file made its reader crash (Segmentation fault).": "The reader of the file was killed (Segmentation fault).",
}


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
    schema.upgrade(engine)
    with Session(engine) as session:
        fill_varied_library(session)
        add_user(session)
        add_client(session)
        session.commit()
    counts = {name: len(rows) for name, rows in rows_of(engine).items()}
    assert counts["photosvc_search_rows"] > 40
    for number in range(int(SCHEMA_VERSION) - 1, 0, -1):
        schema.downgrade(engine, f"{number:04}")
        before = rows_of(engine)
        schema.upgrade(engine)
        assert schema.differences(engine) == []
        assert {name: len(rows) for name, rows in rows_of(engine).items()} == counts
        schema.downgrade(engine, f"{number:04}")
        assert rows_of(engine) == before
        schema.upgrade(engine)


def test_folders_that_wait_and_runs_of_an_earlier_version_become_jobs(engine):
    schema.upgrade(engine)
    schema.downgrade(engine, "0043")
    run = "1, :folder, :again, :state, 'slow', 9, 8, 7, 6, 5, 4, 3, 2, :at, :at"
    given = {"folder": "2023", "again": False, "state": "done", "at": NOW.replace(tzinfo=None)}
    with engine.begin() as connection:
        connection.execute(text(f"INSERT INTO photosvc_index_runs VALUES ({run})"), given)
        for folder, again in (("", False), ("2024", False), ("2025", True)):
            values = {**given, "folder": folder, "again": again}
            connection.execute(text("INSERT INTO photosvc_index_wishes VALUES (:folder, :again, 1, :at)"), values)
    assert schema.upgrade(engine) == ("0043", SCHEMA_VERSION)
    with Session(engine) as session:
        assert [(one.folder, one.force) for one in waiting(session)] == [("", False), ("2024", False), ("2025", True)]
        assert [one.folder for one in due(session, NOW)] == ["2024", "", "2025"]
        (report,) = reports(session, NOW, count=9)
    row = report.row
    assert (report.state, row.folder, row.message, row.to_read, row.read, row.indexed, row.failed, row.started_at) == (
        "done", "2023", "slow", 9, 8, 7, 2, NOW,
    )  # fmt: skip
    schema.downgrade(engine, "0043")
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT folder, force FROM photosvc_index_wishes ORDER BY folder")).all()
    assert [(folder, bool(force)) for folder, force in rows] == [("", False), ("2024", False), ("2025", True)]


def test_imports_and_looks_of_an_earlier_version_become_jobs(engine):
    schema.upgrade(engine)
    schema.downgrade(engine, "0045")
    given = {"at": NOW.replace(tzinfo=None), "no": False, "yes": True}
    report = "7, 'camera', :yes, 'failed', 'full', 4, 3, 2, 1, :at, :at, :at"
    with engine.begin() as connection:
        connection.execute(text(f"INSERT INTO photosvc_import_reports VALUES ({report})"), given)
        failed = "1, 7, 'camera/a.jpg', 'changed', '', :at"
        connection.execute(text(f"INSERT INTO photosvc_import_failures VALUES ({failed})"), given)
        connection.execute(text("INSERT INTO photosvc_import_wishes VALUES ('b', :no, NULL, 'x y', :at)"), given)
        at = int(NOW.timestamp())
        for name in ("look_alikes_wished", "look_alikes_at"):
            connection.execute(text(f"INSERT INTO photosvc_library VALUES ('{name}', {at})"))
    schema.upgrade(engine)
    with Session(engine) as session:
        (one,) = imports.waiting(session)
        (report,) = imports.reports(session, count=9, failures=9)
        assert (look_alikes.looked_at(session), look_alikes.is_look_wished(session)) == (NOW, True)
    assert (one.folder, one.moves, one.albums, one.created_at) == ("b", False, ("x", "y"), NOW)
    row = report.row
    assert (report.state, row.folder, row.moves, row.message, row.imported, row.failed) == (
        "failed", "camera", True, "full", 4, 1,
    )  # fmt: skip
    assert [name for name, _ in report.failures] == ["camera/a.jpg"]
    schema.downgrade(engine, "0045")
    with engine.connect() as connection:
        assert connection.execute(text("SELECT folder, albums FROM photosvc_import_wishes")).all() == [("b", "x y")]


def test_albums_that_files_of_an_earlier_version_wait_for_become_jobs(engine):
    schema.upgrade(engine)
    schema.downgrade(engine, "0046")
    with engine.begin() as connection:
        for content, albums in (("1a", "x y"), ("2b", "x y"), ("3c", ""), ("4d", "z")):
            values = "VALUES (:hash, NULL, :name, 1, :name, :albums, :at)"
            columns = "(hash, user_id, name, size, original_name, albums, created_at)"
            given = {"hash": content, "name": f"{content}.jpg", "albums": albums, "at": NOW.replace(tzinfo=None)}
            connection.execute(text(f"INSERT INTO photosvc_uploaded_files {columns} {values}"), given)
    schema.upgrade(engine)
    with Session(engine) as session:
        jobs = session.scalars(select(Job).where(Job.kind == "albums").order_by(Job.id)).all()
        assert [(one.arguments["albums"], one.arguments["files"], one.state, one.created_at) for one in jobs] == [
            (["x", "y"], ["1a", "2b"], "waiting", NOW), (["z"], ["4d"], "waiting", NOW),
        ]  # fmt: skip
        jobs[1].arguments = {"albums": ["z", "y"], "files": ["1a", "4d", "5e"]}
        session.commit()
    schema.downgrade(engine, "0046")
    with engine.connect() as connection:
        rows = connection.execute(text("SELECT hash, name, albums FROM photosvc_uploaded_files ORDER BY hash")).all()
        assert connection.execute(text("SELECT count(*) FROM photosvc_jobs")).scalar() == 0
    assert rows == [
        ("1a", "1a.jpg", "x y z y"), ("2b", "2b.jpg", "x y"), ("3c", "3c.jpg", ""), ("4d", "4d.jpg", "z y"),
        ("5e", "", "z y"),
    ]  # fmt: skip
