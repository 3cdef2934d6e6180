"""The list of search columns and the database, the filters and the orders agree."""

import re

import pytest
from sqlalchemy import create_engine, inspect

from photosvc.models import (
    FILTER_COLUMNS,
    LOOKUP_COLUMNS,
    RARE_COLUMNS,
    SCANNED_COLUMNS,
    SEARCH_COLUMNS,
    SORT_KEYS,
    VALUE_COLUMNS,
    VALUE_GROUPS,
    SearchAlbum,
    SearchRow,
    schema,
)
from photosvc.models.engine import configure_engine
from photosvc.query.filters import FILTERS

#: Column names of filters that are not answered by search rows but by words, albums, cameras and lenses.
#: `weekday` and `hour` are computed from the photo.
ELSEWHERE = {
    "nothing", "place", "description", "keywords", "labels", "subjects", "albums", "camera_text", "lens_text",
    "weekday", "hour",
}  # fmt: skip

#: Columns that neither a filter nor an order compares: keys, and what conditions on who sees what and where need.
INTERNAL = {
    "file_id",
    "listed",
    "present",
    "x",
    "y",
    "z",
    "shuffle",
    "is_first",
    "timeline_day",
    "archived_at",
}


@pytest.fixture(scope="module")
def migrated(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    schema.upgrade(engine)
    yield engine
    engine.dispose()


def predicate(index, dialect):
    """The condition of a partial index, in one spelling for both databases."""
    text = str(index.get("dialect_options", {}).get(f"{dialect}_where", ""))
    spelled = re.sub(r"^\((.*)\)$", r"\1", text)
    spelled = re.sub(r"^(\w+) = 0$", r"NOT \1", spelled)
    return re.sub(r"^(\w+) = 1\b", r"\1", spelled).replace("(", "").replace(")", "").replace("::text", "")


def indexes_of(engine, table):
    return {
        index["name"].removeprefix(f"ix_{table}_"): (*index["column_names"], predicate(index, engine.dialect.name))
        for index in inspect(engine).get_indexes(table)
    }


def test_a_migrated_database_has_exactly_the_declared_columns(migrated):
    for model in (SearchRow, SearchAlbum):
        found = {column["name"]: column for column in inspect(migrated).get_columns(model.__tablename__)}
        assert set(found) == {column.key for column in model.__table__.columns}
        for column in model.__table__.columns:
            assert found[column.key]["nullable"] is False
            declared = column.type.dialect_impl(migrated.dialect)
            assert found[column.key]["type"]._type_affinity is declared._type_affinity, column.key
    assert set(SEARCH_COLUMNS) == {column.key for column in SearchRow.__table__.columns}


def test_a_migrated_database_has_exactly_the_declared_indexes_of_search_rows(migrated):
    orders = {keys.index: (*keys.columns, *keys.appended, "listed") for keys in SORT_KEYS.values()}
    values = {
        f"{column}_{keys.index}": (column, *keys.columns, "listed")
        for column in VALUE_COLUMNS
        for keys in SORT_KEYS.values()
        if keys.by_value
    }
    rare = {name: (name, "newest_key", f"listed AND {condition}") for name, condition in RARE_COLUMNS.items()}
    scanned = (*VALUE_GROUPS, *(name for name in SCANNED_COLUMNS if name not in VALUE_GROUPS))
    read = ("listed", "private", "is_first", "aspect_ratio", "color", "photo_type")
    others = {
        "unlisted": ("newest_key", "NOT listed"),
        "name_key_pattern": ("name_key", "oldest_key", "listed", "listed"),
        "file_key_pattern": ("file_key", "oldest_key", "listed", "listed"),
        "path": ("path_key", "listed"),
        "values": (*scanned, "newest_key", "private", "listed", "listed"),
        "photo": ("photo_id", "taken_at", "newest_key", "private", "listed", ""),
        "timeline": ("timeline_day", "taken_at", "newest_key", *read, ""),
        "map": ("lat", "lng", "newest_key", *read, ""),
    }
    assert indexes_of(migrated, SearchRow.__tablename__) == {**orders, **values, **rare, **others}


def test_every_lookup_column_leads_its_index_or_follows_another_lookup_column(migrated):
    found = indexes_of(migrated, SearchRow.__tablename__)
    for column, index in LOOKUP_COLUMNS.items():
        leading = [name for name, own in LOOKUP_COLUMNS.items() if own == index]
        assert column in found[index][: len(leading)]


def test_a_migrated_database_has_exactly_the_declared_indexes_of_search_albums(migrated):
    orders = {keys.index: ("album_id", *keys.columns, "file_id", "") for keys in SORT_KEYS.values() if keys.by_album}
    assert indexes_of(migrated, SearchAlbum.__tablename__) == {**orders, "file_id": ("file_id", "")}


def test_albums_hold_every_column_that_their_orders_sort_by():
    held = {column.key for column in SearchAlbum.__table__.columns}
    assert {name for keys in SORT_KEYS.values() if keys.by_album for name in keys.columns} <= held


def test_every_filter_names_columns_that_are_declared():
    named = {name for spec in FILTERS.values() for name in spec.columns} - ELSEWHERE
    assert {FILTER_COLUMNS.get(name, name) for name in named} <= set(SEARCH_COLUMNS)
    assert set(FILTER_COLUMNS) <= named


def test_every_column_is_compared_by_a_filter_or_an_order():
    filtered = {FILTER_COLUMNS.get(name, name) for spec in FILTERS.values() for name in spec.columns}
    sorted_by = {name for keys in SORT_KEYS.values() for name in keys.columns}
    assert set(SEARCH_COLUMNS) - filtered - sorted_by == INTERNAL
