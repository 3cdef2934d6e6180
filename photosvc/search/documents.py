"""The stored texts of files: read in chunks, so that the largest answer needs little memory."""

from collections.abc import Sequence
from http import HTTPStatus

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from photosvc.core.errors import PhotosvcError
from photosvc.models import SearchDocument

_BY_IDS = SearchDocument.file_id.in_(bindparam("ids", expanding=True))
_RESULTS = select(SearchDocument.file_id, SearchDocument.result).where(_BY_IDS)
_FILES = select(SearchDocument.file_id, SearchDocument.file).where(_BY_IDS)


class LibraryChangedError(PhotosvcError):
    """The library changed while this was read; ask again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def results(session: Session, file_ids: Sequence[int]) -> list[str]:
    """The photo search results of these files, in their order.

    Raises:
        LibraryChangedError: one of them is gone.

    """
    return _in_order(session, _RESULTS, file_ids)


def files(session: Session, file_ids: Sequence[int]) -> list[str]:
    """The file records of these files, in their order.

    Raises:
        LibraryChangedError: one of them is gone.

    """
    return _in_order(session, _FILES, file_ids)


def _in_order(session: Session, query: object, file_ids: Sequence[int]) -> list[str]:
    texts = dict(session.execute(query, {"ids": file_ids}).all())  # type: ignore[call-overload]
    try:
        return [texts[file_id] for file_id in file_ids]
    except KeyError:
        raise LibraryChangedError from None
