"""Tables shipped with the service: places, country names, common passwords. See NOTICE for their sources."""

import sqlite3
from functools import cache
from pathlib import Path
from threading import local

#: The gazetteer, an SQLite file; `tools/build_places.py` in the source repository describes it.
PLACES = Path(__file__).with_name("places.sqlite")

#: Names of places in other languages, an SQLite file; `tools/build_names.py` in the source repository describes it.
NAMES = Path(__file__).with_name("names.sqlite")

#: Bytes of the gazetteer that connections read through the page cache of the system.
_MAPPED = 2**24

#: Country codes and their English names, one country a line.
COUNTRIES = Path(__file__).with_name("countries.txt")

#: Common passwords in lower case, one a line, sorted; written by `tools/build_common_passwords.py`.
COMMON_PASSWORDS = Path(__file__).with_name("common_passwords.txt")


@cache
def countries() -> dict[str, str]:
    """Return the English names of all countries by their codes in lower case."""
    lines = COUNTRIES.read_text("utf-8").splitlines()
    return {line[:2].lower(): line[3:] for line in lines}


class PlacesTable(local):
    """A gazetteer opened read-only, with a connection for each thread that uses it.

    While a thread runs a statement, other threads that call the same connection wait for its mutex, some of them with
    Python's lock held; a function written in Python inside SQL would then wait for that lock, and the process stops for
    good. Each thread has its own connection, and none of them has functions of its own.
    """

    def __init__(self, path: Path = PLACES) -> None:
        # The file never changes, so that SQLite needs neither locks nor checks for writers.
        self.connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
        self.connection.execute(f"PRAGMA mmap_size={_MAPPED}")  # all connections share the pages of the file
