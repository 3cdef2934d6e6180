import pytest
from sqlalchemy import create_engine, inspect, select, text
from sqlalchemy.orm import Session

from photosvc.models import SCHEMA_VERSION, TABLE_PREFIX, Album, AlbumPhoto, Base, Photo, SearchAlbum, migrate
from photosvc.models.database import configure_engine
from photosvc.search.projection.project import project
from tests.clock import NOW
from tests.factories.photos import add_photos


@pytest.fixture
def engine(new_database):
    engine = create_engine(new_database())
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


def test_a_second_upgrade_changes_nothing(engine):
    migrate.upgrade(engine)
    assert migrate.upgrade(engine) == (SCHEMA_VERSION, SCHEMA_VERSION)


def test_a_missing_column_is_told(engine):
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
