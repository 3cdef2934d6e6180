"""The stored texts of files, read in chunks: even the largest answer needs little memory."""

from collections.abc import Sequence
from http import HTTPStatus

import orjson
from sqlalchemy import Connection

from photosvc.core.errors import PhotosvcError
from photosvc.models import SearchDocument
from photosvc.models.prepared import run_text

_TABLE = SearchDocument.__tablename__

#: One parameter for any number of files, so that the text of the statement stays the same.
_BY_IDS = {
    "sqlite": "file_id IN (SELECT value FROM json_each(?))",
    "postgresql": "file_id = ANY(%s)",
}


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
