"""Migrations that let older code go on only add what that code need not know, or drop what it was said not to use."""

import pytest
from sqlalchemy import create_engine, inspect

from photosvc.models import SCHEMA_VERSION, TABLE_PREFIX, schema

#: Attribute of a migration: the columns, as `table.column`, and tables that code of its revision uses no more.
UNUSED = "unused"


def shape(engine):
    """Return each own table with its columns and with what it requires of rows."""
    found = inspect(engine)
    names = [name for name in found.get_table_names() if name.startswith(TABLE_PREFIX)]
    return {
        name: {
            "columns": {column["name"]: column for column in found.get_columns(name)},
            "requires": {
                *(f"unique {sorted(one['column_names'])}" for one in found.get_unique_constraints(name)),
                *(f"unique {one['column_names']}" for one in found.get_indexes(name) if one["unique"]),
                *(f"check {one['sqltext']}" for one in found.get_check_constraints(name)),
                *(f"reference {one['constrained_columns']}" for one in found.get_foreign_keys(name)),
            },
        }
        for name in names
    }


def breaks(before, after, unused):
    """Return what code that was written for `before` cannot do with `after`, but for what it does not use."""
    found = []
    for table, was in before.items():
        if table in unused:
            continue
        if table not in after:
            found.append(f"{table} is gone")
            continue
        now = after[table]
        for name, column in was["columns"].items():
            if f"{table}.{name}" in unused:
                continue
            if name not in now["columns"]:
                found.append(f"{table}.{name} is gone")
            elif str(now["columns"][name]["type"]) != str(column["type"]):
                found.append(f"{table}.{name} has another type")
            elif column["nullable"] and not now["columns"][name]["nullable"]:
                found.append(f"{table}.{name} must have a value")
        for name, column in now["columns"].items():
            if name not in was["columns"] and not column["nullable"] and column["default"] is None:
                found.append(f"{table}.{name} must have a value")
        found += [f"{table} has a new rule: {rule}" for rule in sorted(now["requires"] - was["requires"])]
    return found


def broken_by(engine, one):
    """Migrate to a script, and return what it breaks for the oldest code that it names."""
    schema.upgrade(engine, one.down_revision)
    before = shape(engine)
    schema.upgrade(engine, one.revision)
    oldest = getattr(one.module, schema.OLDEST_CODE, one.revision)
    scripts = [other for other in schema._scripts().walk_revisions() if other.revision <= oldest]
    return breaks(before, shape(engine), {name for other in scripts for name in getattr(other.module, UNUSED, ())})


def early():
    """Return the migrations, first ones first, that name an earlier revision as the oldest code."""
    scripts = reversed(list(schema._scripts().walk_revisions()))
    return [one for one in scripts if getattr(one.module, schema.OLDEST_CODE, one.revision) < one.revision]


@pytest.mark.slow
def test_no_migration_breaks_the_oldest_code_that_it_names(engine, add_migration):
    later = add_migration(SCHEMA_VERSION, "op.add_column('photosvc_albums', sa.Column('note', sa.Text()))")
    scripts = early()
    assert scripts[-1].revision == later  # so that this test cannot pass for want of migrations
    assert {one.revision: broken_by(engine, one) for one in scripts} == {one.revision: [] for one in scripts}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("upgrade", "broken"),
    [
        ("op.drop_column('photosvc_albums', 'description')", ["photosvc_albums.description is gone"]),
        (
            "op.execute('ALTER TABLE photosvc_albums RENAME COLUMN description TO words')",
            ["photosvc_albums.description is gone", "photosvc_albums.words must have a value"],
        ),
        ("op.drop_table('photosvc_album_photos')", ["photosvc_album_photos is gone"]),
        (
            "op.add_column('photosvc_albums', sa.Column('note', sa.Text(), nullable=False, server_default='none'))",
            [],
        ),
        ("op.create_table('photosvc_notes', sa.Column('id', sa.Integer(), primary_key=True))", []),
        (
            "op.create_index('ix_photosvc_once', 'photosvc_albums', ['title'], unique=True)",
            ["photosvc_albums has a new rule: unique ['title']"],
        ),
    ],
)
def test_a_migration_that_takes_something_from_older_code_is_found(engine, add_migration, upgrade, broken):
    later = add_migration(SCHEMA_VERSION, upgrade)
    assert broken_by(engine, early()[-1]) == broken
    assert early()[-1].revision == later


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "broken"),
    [
        ("SET NOT NULL", "photosvc_albums.note must have a value"),
        ("TYPE INTEGER USING 1", "photosvc_albums.note has another type"),
    ],
)
def test_a_column_that_becomes_narrower_is_found(empty_postgres, add_migration, change, broken):
    engine = create_engine(empty_postgres())
    wide = add_migration("", "op.add_column('photosvc_albums', sa.Column('note', sa.VARCHAR(99)))")
    add_migration(wide, f"op.execute('ALTER TABLE photosvc_albums ALTER COLUMN note {change}')")
    assert broken_by(engine, early()[-1]) == [broken]
    engine.dispose()


@pytest.mark.slow
def test_a_column_that_the_oldest_code_does_not_use_may_go(engine, add_migration):
    drop = "op.drop_column('photosvc_albums', 'description')"
    without = add_migration("", unused=["photosvc_albums.description"])
    add_migration(without, drop)
    assert broken_by(engine, early()[-1]) == []


@pytest.mark.slow
def test_a_column_that_only_later_code_does_not_use_must_stay(engine, add_migration):
    drop = "op.drop_column('photosvc_albums', 'description')"
    add_migration(SCHEMA_VERSION, unused=["photosvc_albums.description"])
    add_migration(SCHEMA_VERSION, drop)
    assert broken_by(engine, early()[-1]) == ["photosvc_albums.description is gone"]
