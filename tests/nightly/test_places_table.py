"""The table of places that is shipped."""

import sqlite3
from contextlib import closing

from photosvc import data
from photosvc.index.gazetteer import Gazetteer
from tools import build_places


def test_the_shipped_table_is_the_one_that_is_built_again_from_itself(tmp_path):
    built = tmp_path / "built.sqlite"
    build_places.write(build_places.read_built(data.PLACES), built)
    with closing(sqlite3.connect(built)) as table:
        for name, rows in {"region": 3_000, "place": 150_000, "town": 150_000}.items():
            found = table.execute(f"SELECT * FROM {name}").fetchall()
            assert len(found) > rows
            assert found == Gazetteer.load()._table.connection.execute(f"SELECT * FROM {name}").fetchall()
