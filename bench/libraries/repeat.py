"""Repeat the photos of a made library: `python -m bench.libraries.repeat TIMES FOLDER NEW_FOLDER`.

For searches of a library that `bench.libraries.library` would take an hour to make. The copies have ids, UIDs, names
and times of their own in the columns that searches read; the records that are sent, and the words, are those of the
first. SQLite only.
"""

import shutil
import sqlite3
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from bench.libraries.library import RARE_WORD, TOKEN_FILE
from photosvc.models.search_values import RANK_BITS

DATABASE = "photosvc.db"

#: Columns of copy number `:n`; ids of photos and files are larger by `:photos` and `:files` in each further copy.
_PHOTO, _FILE, _KEY = ("{} + :n * :photos", "{} + :n * :files", f"{{}} + :n * :photos * {2**RANK_BITS}")
_IDS = {"photos": _PHOTO, "files": _FILE}
_UID, _SECONDS = "substr({}, 1, 15) || char(65 + :n)", "{} + :n * 7000000"
_ROW = {
    "file_id": _FILE,
    "photo_id": _PHOTO,
    "newest_key": _KEY,
    "oldest_key": _KEY,
    "taken_at": _SECONDS,
    "created_at": _SECONDS,
    "updated_at": _SECONDS,
    "shuffle": "({} + :n * 429496730) & 2147483647",
    "photo_uid": _UID,
    "file_uid": _UID,
    "name": "{} || '_' || :n",
    "name_key": "{} || '_' || :n",
}
_TABLES: dict[str, Mapping[str, str]] = {
    "photos": {"id": _PHOTO, "uid": _UID, "name": "{} || '_' || :n"},
    "files": {"id": _FILE, "photo_id": _PHOTO, "uid": _UID, "name": "{} || '_' || :n"},
    "photo_keywords": {"photo_id": _PHOTO},
    "album_photos": {"photo_id": _PHOTO},
    "search_texts": {"photo_id": _PHOTO},
    "search_rows": _ROW,
    "search_documents": {"file_id": _FILE},
    "search_albums": {name: _ROW[name] for name in ("file_id", "taken_at", "newest_key", "oldest_key")},
}


def repeat(database: sqlite3.Connection, times: int) -> None:
    """Make the library this many times as large."""
    for pragma in ("journal_mode=OFF", "synchronous=OFF", "cache_size=-400000"):
        database.execute(f"PRAGMA {pragma}")
    later = database.execute(
        "SELECT type, name, sql FROM sqlite_master WHERE type IN ('trigger', 'index') AND sql IS NOT NULL"
    ).fetchall()
    for kind, name, _ in later:
        database.execute(f"DROP {kind} {name}")
    highest = {name: database.execute(f"SELECT max(id) FROM photosvc_{name}").fetchone()[0] for name in _IDS}
    for number in range(1, times):
        for name, changed in _TABLES.items():
            _copy(database, f"photosvc_{name}", changed, {**highest, "n": number})
    rare = "UPDATE photosvc_search_texts SET words = replace(words, ?, 'x') WHERE photo_id > ?"
    database.execute(rare, (RARE_WORD, highest["photos"]))
    for _, _, statement in later:
        database.execute(statement)
    database.execute("INSERT INTO photosvc_search_text_index(photosvc_search_text_index) VALUES ('rebuild')")
    database.commit()
    database.execute("PRAGMA journal_mode=WAL")


def _copy(database: sqlite3.Connection, table: str, changed: Mapping[str, str], values: Mapping[str, int]) -> None:
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
    copied = ", ".join(changed.get(column, "{}").format(f'"{column}"') for column in columns)
    key, by = next((column, name) for name, rule in _IDS.items() for column in changed if changed[column] == rule)
    names = ", ".join(f'"{column}"' for column in columns)
    database.execute(f"INSERT INTO {table} ({names}) SELECT {copied} FROM {table} WHERE {key} <= :{by}", values)


def main() -> None:
    times, source, target = int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
    target.mkdir(parents=True)
    with closing(sqlite3.connect(source / DATABASE)) as old, closing(sqlite3.connect(target / DATABASE)) as new:
        old.backup(new)
        repeat(new, times)
    for name in ("secret_key", TOKEN_FILE):
        shutil.copy(source / name, target / name)


if __name__ == "__main__":
    main()
