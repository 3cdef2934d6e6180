import json
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from sqlalchemy import MetaData, Table, Text, create_engine, inspect, text
from sqlalchemy.orm import Session

from photosvc.core.errors import SchemaError
from photosvc.models import SCHEMA_VERSION, TABLE_PREFIX, Album, Base, migrations, schema
from photosvc.models.named_numbers import named_number
from tests.helpers.clock import NOW

MIGRATIONS = Path(migrations.__file__).parent


def own_tables(engine):
    return {name for name in inspect(engine).get_table_names() if name.startswith(TABLE_PREFIX)}


def test_the_code_expects_the_newest_migration():
    assert schema.head() == SCHEMA_VERSION


@pytest.mark.slow
def test_tables_go_up_down_and_up_again_and_fit_the_models(engine):
    assert schema.upgrade(engine) == (None, SCHEMA_VERSION)
    assert schema.differences(engine) == []
    assert {table.name for table in Base.metadata.sorted_tables} <= own_tables(engine)
    schema.downgrade(engine, "base")
    assert {name for name in own_tables(engine) if name != TABLE_PREFIX + "schema"} == set()
    assert schema.upgrade(engine)[1] == SCHEMA_VERSION
    assert schema.differences(engine) == []


@pytest.mark.slow
def test_the_indexes_of_search_rows_are_replaced_and_created_again(engine):
    def indexes():
        return {index["name"]: index["column_names"] for index in inspect(engine).get_indexes("photosvc_search_rows")}

    schema.upgrade(engine, "0050")
    former = indexes()
    schema.upgrade(engine)
    assert schema.differences(engine) == []
    assert (len(former), len(indexes())) == (39, 28)
    schema.downgrade(engine, "0050")
    assert indexes() == former
    schema.upgrade(engine)
    assert schema.differences(engine) == []


_COLLATIONS = """
    SELECT table_name || '.' || column_name, collation_name FROM information_schema.columns
    WHERE table_name LIKE 'photosvc\\_%' AND data_type = 'text'
"""


@pytest.mark.slow
@pytest.mark.parametrize("former", [(), ("search_rows.name_key", "search_texts.words", "places.id", "albums.title")])
def test_postgresql_compares_all_texts_by_code_point_as_sqlite_does(empty_postgres, former):
    """By the rules of a language, blanks and hyphens count less than letters: ranges and pages would differ."""
    engine = create_engine(empty_postgres())
    schema.upgrade(engine, "0066")
    with engine.begin() as connection:
        if former:
            connection.execute(text("ALTER TABLE photosvc_search_texts DROP COLUMN terms"))
        for table, column in (name.split(".") for name in former):
            change = f'ALTER COLUMN {column} TYPE text COLLATE "default"'
            connection.execute(text(f"ALTER TABLE photosvc_{table} {change}"))
        if former:
            terms = "GENERATED ALWAYS AS (array_to_tsvector(string_to_array(btrim(words), ' '))) STORED"
            connection.execute(text(f"ALTER TABLE photosvc_search_texts ADD COLUMN terms tsvector {terms}"))
    schema.upgrade(engine)
    columns = [column for table in Base.metadata.sorted_tables for column in table.columns]
    with engine.connect() as connection:
        found = dict(connection.execute(text(_COLLATIONS)).all())
    assert found == {str(column): "C" for column in columns if isinstance(column.type, Text)}
    indexes = inspect(engine).get_indexes("photosvc_search_texts")
    assert [index["name"] for index in indexes] == ["ix_photosvc_search_texts_terms"]
    engine.dispose()


def test_a_second_upgrade_changes_nothing(engine):
    schema.upgrade(engine)
    assert schema.upgrade(engine) == (SCHEMA_VERSION, SCHEMA_VERSION)


@pytest.mark.slow
def test_a_missing_column_is_reported(engine):
    schema.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE photosvc_albums DROP COLUMN description"))
    assert len(schema.differences(engine)) == 1
    assert "description" in schema.differences(engine)[0]


@pytest.mark.slow
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


@pytest.mark.slow
@pytest.mark.parametrize("table", ["users", "clients", "credentials"])
def test_ids_that_say_who_may_do_what_are_never_reused_on_sqlite(tmp_path, table):
    engine = create_engine(f"sqlite:///{tmp_path / 'ids.db'}")
    schema.upgrade(engine)
    with engine.connect() as connection:
        query = text("SELECT sql FROM sqlite_master WHERE name = :name")
        assert "AUTOINCREMENT" in connection.execute(query, {"name": TABLE_PREFIX + table}).scalar_one()
    engine.dispose()


@pytest.mark.slow
def test_a_later_migration_is_applied_and_its_database_is_newer_for_versions_without_it(engine, tmp_path, monkeypatch):
    schema.upgrade(engine)
    folder, later = tmp_path / "migrations", f"{int(SCHEMA_VERSION) + 1:04}"
    shutil.copytree(MIGRATIONS, folder)
    (folder / f"versions/{later}_notes.py").write_text(
        "import sqlalchemy as sa\n"
        "from alembic import op\n"
        f"revision, down_revision, branch_labels, depends_on = '{later}', '{SCHEMA_VERSION}', None, None\n"
        "def upgrade():\n"
        "    op.add_column('photosvc_albums', sa.Column('note', sa.Text(), nullable=False, server_default='none'))\n"
        "def downgrade():\n"
        "    op.drop_column('photosvc_albums', 'note')\n"
    )
    with Session(engine) as session:
        session.add(Album(uid="a" * 16, title="Some", created_at=NOW, updated_at=NOW))
        session.commit()
    with monkeypatch.context() as patch:
        patch.setattr(schema, "_MIGRATIONS", folder)
        assert schema.upgrade(engine) == (SCHEMA_VERSION, later)
    with engine.connect() as connection:
        assert connection.execute(text("SELECT title, note FROM photosvc_albums")).all() == [("Some", "none")]
    with pytest.raises(SchemaError, match=f"schema {later}, newer than this photosvc \\({SCHEMA_VERSION}\\)"):
        schema.upgrade(engine)


def test_each_migration_names_a_known_revision_as_the_oldest_code():
    known = [one.revision for one in schema._revisions(schema._scripts())]
    for one in schema._scripts().walk_revisions():
        oldest = getattr(one.module, schema.OLDEST_CODE, one.revision)
        assert known.index(oldest) <= known.index(one.revision), one.revision


@pytest.mark.slow
def test_the_code_that_may_use_a_newer_schema_is_recorded_in_the_database(engine, add_migration):
    schema.upgrade(engine)
    with engine.connect() as connection:
        assert schema.plan(connection) is None
    first = add_migration(SCHEMA_VERSION)
    with engine.connect() as connection:
        plan = schema.plan(connection)
    assert plan == ([f"{first}: Something."], SCHEMA_VERSION, SCHEMA_VERSION)
    assert plan.may_go_on
    assert schema.upgrade(engine) == (SCHEMA_VERSION, first)
    with engine.connect() as connection:
        schema.check_schema(connection)
        assert (schema.oldest_code(connection, first), schema.is_newer(connection)) == (SCHEMA_VERSION, True)
    # The newest of all: the first one counts no more, whatever the last one says.
    second, third = add_migration(first), add_migration(SCHEMA_VERSION)
    with engine.connect() as connection:
        assert schema.plan(connection) == ([f"{one}: Something." for one in (second, third)], first, first)
    schema.upgrade(engine)
    with engine.connect() as connection, pytest.raises(SchemaError, match=f"{third}, newer than this photosvc"):
        schema.check_schema(connection)
    fourth = add_migration("")
    with engine.connect() as connection:
        assert not schema.plan(connection).may_go_on
    schema.upgrade(engine)
    with engine.connect() as connection:
        assert schema.oldest_code(connection, fourth) == fourth
        assert named_number(connection, schema.OLDEST_CODE) is None


@pytest.mark.slow
def test_a_database_that_is_newer_and_fits_is_left_as_it_is_by_an_upgrade(engine, add_migration, monkeypatch):
    schema.upgrade(engine)
    later = add_migration(SCHEMA_VERSION)
    schema.upgrade(engine)
    monkeypatch.undo()
    assert schema.upgrade(engine) == (later, later)


@pytest.mark.slow
def test_a_migration_lets_others_use_the_tables_that_it_waits_for(empty_postgres, add_migration, monkeypatch):
    engine = create_engine(empty_postgres())
    schema.upgrade(engine)
    later = add_migration(SCHEMA_VERSION, "op.add_column('photosvc_albums', sa.Column('note', sa.Text()))")
    monkeypatch.setattr(schema, "_TRIES", 2)
    read = text("SELECT count(*) FROM photosvc_albums")
    with engine.connect() as reader:
        reader.execute(read)  # and keeps its lock until the end of the transaction
        with pytest.raises(SchemaError, match="Other processes use the tables without a pause"):
            schema.upgrade(engine)
        with engine.connect() as other:
            other.execute(text("SET lock_timeout = 100"))
            assert other.scalar(read) == 0
            assert schema.schema_version(other) == SCHEMA_VERSION
        monkeypatch.setattr(schema, "_TRIES", 1000)
        with ThreadPoolExecutor(1) as pool:
            upgraded = pool.submit(schema.upgrade, engine)
            time.sleep(1.2)
            assert not upgraded.done()
            reader.rollback()
            assert upgraded.result(60) == (SCHEMA_VERSION, later)
    engine.dispose()


@pytest.mark.slow
def test_a_database_from_before_the_first_release_is_left_as_it_is(engine):
    schema.upgrade(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE photosvc_schema SET version_num = '0033'"))
    with pytest.raises(SchemaError, match=r"schema 0033, from before the first release, and cannot be upgraded"):
        schema.upgrade(engine)
    with engine.connect() as connection:
        assert schema.schema_version(connection) == "0033"


UPLOADED = "SELECT hash, name, size, created_at FROM photosvc_uploaded_files ORDER BY name"


@pytest.mark.slow
def test_state_that_names_contained_moves_into_columns_and_back(engine):
    sha1, path = "a" * 40, ".photosvc/trash/2026/" + "b" * 19
    assert len(path) == 40
    schema.upgrade(engine)
    schema.downgrade(engine, "0049")
    with engine.begin() as connection:
        connection.execute(
            text(
                "INSERT INTO photosvc_library VALUES ('disk:cards/a', 1), ('disk:b', 1), ('journal:u1', 900), "
                "('changes', 7)"
            )
        )
        for content, name in ((sha1, "a.jpg"), (path, path), ("c.jpg", "c.jpg")):
            connection.execute(
                text("INSERT INTO photosvc_uploaded_files VALUES (:hash, NULL, :name, 5, '', '2026-03-01 12:00:00')"),
                {"hash": content, "name": name},
            )
        before = connection.execute(text(UPLOADED)).all()
        library = connection.execute(text("SELECT name, value FROM photosvc_library ORDER BY name")).all()
    assert schema.upgrade(engine) == ("0049", SCHEMA_VERSION)
    with engine.begin() as connection:
        assert [row[:3] for row in connection.execute(text(UPLOADED))] == [
            (None, path, 5),
            (sha1, "a.jpg", 5),
            (None, "c.jpg", 5),
        ]
        disks = connection.execute(text("SELECT folder FROM photosvc_disks ORDER BY folder")).scalars().all()
        assert disks == ["b", "cards/a"]
        assert connection.execute(text("SELECT actor_uid, size FROM photosvc_journal_sizes")).all() == [("u1", 900)]
        assert ("changes", 7) in connection.execute(text("SELECT name, value FROM photosvc_library")).all()
        name = {"name": "d.jpg"}
        connection.execute(
            text(
                "INSERT INTO photosvc_uploaded_files (hash, name, size, original_name, created_at) "
                "VALUES (NULL, :name, 5, '', '2026-03-01 12:00:00')"
            ),
            name,
        )  # rows get their ids from the database
        connection.execute(text("DELETE FROM photosvc_uploaded_files WHERE name = :name"), name)
    schema.downgrade(engine, "0049")
    with engine.connect() as connection:
        assert connection.execute(text(UPLOADED)).all() == before
        assert connection.execute(text("SELECT name, value FROM photosvc_library ORDER BY name")).all() == library


HISTORY = "SELECT before, after FROM photosvc_photo_changes ORDER BY id"


@pytest.mark.slow
def test_names_of_values_that_people_set_become_source_columns_and_a_text_again(engine):
    changes = [
        ('{"artist":"","manual":""}', '{"artist":"Änn","manual":"artist"}'),
        ('{"notes":"","manual":"artist"}', '{"notes":"n","manual":"artist notes"}'),
        ('{"manual":"artist notes"}', '{"manual":"approved artist notes"}'),
        ('{"keywords":["sun"],"manual":"keywords"}', '{"keywords":["\\"manual\\":"],"manual":""}'),
        ('{"title":"","title_src":""}', '{"title":"\\"manual\\":","title_src":"manual"}'),
    ]
    entry = {"photo_uid": "p2", "action": "photos.update", "actor_uid": "u", "actor_name": "", "created_at": NOW}
    empty = {str: "", int: 0, float: 0.0, bool: False, datetime: NOW}
    schema.upgrade(engine, "0052")
    with engine.begin() as connection:
        photos = Table("photosvc_photos", MetaData(), autoload_with=connection)
        journal = Table("photosvc_photo_changes", MetaData(), autoload_with=connection)
        for number, manual in enumerate(("", "approved artist f_number keywords", "focal_length"), 1):
            given = {column.name: empty[column.type.python_type] for column in photos.columns}
            given |= {"id": number, "uid": f"p{number}", "camera_id": 1, "lens_id": 1, "place_id": "zz"}
            connection.execute(photos.insert(), given | {"manual": manual})
        for before, after in changes:
            connection.execute(journal.insert(), {**entry, "before": before, "after": after})
    assert schema.upgrade(engine) == ("0052", SCHEMA_VERSION)
    with engine.connect() as connection:
        names = "approved, artist_src, f_number_src, keywords_src, focal_length_src, notes_src"
        rows = connection.execute(text(f"SELECT {names} FROM photosvc_photos ORDER BY id")).all()
        assert [tuple(row) for row in rows] == [
            (False, "", "", "", "", ""),
            (True, "manual", "manual", "manual", "", ""),
            (False, "", "", "", "manual", ""),
        ]
        written = [(json.loads(before), json.loads(after)) for before, after in connection.execute(text(HISTORY))]
    assert written == [
        ({"artist": "", "artist_src": ""}, {"artist": "Änn", "artist_src": "manual"}),
        ({"notes": "", "notes_src": ""}, {"notes": "n", "notes_src": "manual"}),
        ({"approved": False}, {"approved": True}),
        ({"keywords": ["sun"], "keywords_src": "manual"}, {"keywords": ['"manual":'], "keywords_src": ""}),
        ({"title": "", "title_src": ""}, {"title": '"manual":', "title_src": "manual"}),
    ]
    schema.downgrade(engine, "0052")
    with engine.connect() as connection:
        names = connection.execute(text("SELECT manual FROM photosvc_photos ORDER BY id")).scalars().all()
        assert names == ["", "approved artist f_number keywords", "focal_length"]
        after = [json.loads(row.after).get("manual") for row in connection.execute(text(HISTORY))]
    assert after == ["artist", "notes", "approved", "", None]
