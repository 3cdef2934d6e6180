"""Tables and models shipped with the service. See NOTICE for their sources."""

import sqlite3
from functools import cache
from pathlib import Path
from threading import local

#: The gazetteer, an SQLite file; `tools/build_places.py` in the source repository describes it.
PLACES = Path(__file__).with_name("places.sqlite")

#: Names of places in other languages, an SQLite file; `tools/build_names.py` in the source repository describes it.
NAMES = Path(__file__).with_name("names.sqlite")

#: The model that finds labels, in ONNX.
LABEL_MODEL = Path(__file__).parent / "models" / "efficientnet-lite2-int8.onnx"

#: Bytes of a table that connections read through the page cache of the system.
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

    Threads that share a connection wait for its mutex, some of them while they hold the lock of Python. A function in
    Python that SQL calls would wait for that lock, and the process would stop for good. Therefore each thread has its
    own connection, and no connection has functions in Python.
    """

    def __init__(self, path: Path = PLACES) -> None:
        # Because the file never changes, SQLite needs neither locks nor checks for writers.
        self.connection = sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)
        self.connection.execute(f"PRAGMA mmap_size={_MAPPED}")  # all connections share the pages of the file
