"""The stored JSON texts of files, read in chunks, and how they are completed to results."""

from collections.abc import Sequence
from http import HTTPStatus

import orjson
from sqlalchemy import Connection

from photosvc.core.errors import PhotosvcError
from photosvc.models import SearchDocument
from photosvc.models.database.prepared import run_text

_TABLE = SearchDocument.__tablename__

#: One parameter for any number of files, so that the text of the statement stays the same.
_BY_IDS = {
    "sqlite": "file_id IN (SELECT value FROM json_each(?))",
    "postgresql": "file_id = ANY(%s)",
}


#: What follows the head in the result of one file, and in a merged result up to its files.
_SINGLE, _MERGED = ',"Merged":false,"Files":[]}', ',"Merged":true,"Files":['


class LibraryChangedError(PhotosvcError):
    """The library changed while this was read; ask again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def result_heads(connection: Connection, file_ids: Sequence[int]) -> list[str]:
    """The heads of the photo search results of these files, in their order.

    Raises:
        LibraryChangedError: one of them was removed meanwhile.

    """
    return _read(connection, "result_head", file_ids)


def files(connection: Connection, file_ids: Sequence[int]) -> list[str]:
    """The file records of these files, in their order.

    Raises:
        LibraryChangedError: one of them was removed meanwhile.

    """
    return _read(connection, "file", file_ids)


def _read(connection: Connection, column: str, file_ids: Sequence[int]) -> list[str]:
    dialect = connection.dialect.name
    query = f"SELECT file_id, {column} FROM {_TABLE} WHERE {_BY_IDS[dialect]}"  # noqa: S608 - names of this module
    ids = orjson.dumps(file_ids).decode() if dialect == "sqlite" else list(file_ids)
    texts: dict[int, str] = dict(run_text(connection, query, (ids,)))  # type: ignore[arg-type]
    try:
        return [texts[file_id] for file_id in file_ids]
    except KeyError:
        raise LibraryChangedError from None


def join_results(heads: Sequence[str]) -> str:
    """The results of single files, separated by commas."""
    if not heads:
        return ""
    *others, last = heads
    return f"{_SINGLE},".join((*others, last + _SINGLE))  # one copy of the text, which may have megabytes


def merge_result(head: str, files: Sequence[str]) -> str:
    """The result of a photo with the records of its files."""
    return f"{head}{_MERGED}{','.join(files)}]}}"
