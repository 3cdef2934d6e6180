"""The projection: from a photo to its search rows. The only writer of `search_rows` and `search_documents`."""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import orjson
from sqlalchemy import delete, insert, select, update
from sqlalchemy.orm import Session, joinedload, selectinload

from photosvc.models import (
    CHANGES,
    PROJECTION,
    PROJECTION_VERSION,
    UNKNOWN_PLACE,
    AlbumPhoto,
    File,
    LibraryState,
    Photo,
    SearchDocument,
    SearchRow,
)
from photosvc.query.fold import fold
from photosvc.records.file import FileSchema
from photosvc.records.photo import PhotoResultSchema

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RANKS = 1 << 16
_BATCH = 500
_RESULTS, _FILES = PhotoResultSchema(), FileSchema()


@dataclass(frozen=True, slots=True)
class Result:
    """What `PhotoResultSchema` dumps."""

    photo: Photo
    file: File
    merged: bool = False
    files: Sequence[File] = ()

    @property
    def id(self) -> str:
        """`<photo_id>-<file_id>`, unique for each row."""
        return f"{self.photo.id}-{self.file.id}"

    @property
    def faces(self) -> int:
        """Number of faces marked on the file."""
        return sum(marker.type == "face" for marker in self.file.markers)


def render_result(photo: Photo, file: File) -> str:
    """The photo search result of one file, as JSON text (spec section 2.2)."""
    return orjson.dumps(_RESULTS.dump(Result(photo, file))).decode()


def render_file(file: File) -> str:
    """The file record, as JSON text (spec section 2.3)."""
    return orjson.dumps(_FILES.dump(file)).decode()


def project(session: Session, photo_ids: Iterable[int]) -> int:
    """Make the search rows of these photos anew, in the session's transaction; gives how many rows there are now.

    Photos that are gone lose their rows. Counts the change of the library.
    """
    session.flush()
    count = 0
    for batch in _batches(photo_ids):
        session.execute(delete(SearchDocument).where(SearchDocument.file_id.in_(_rows_of(batch))))
        session.execute(delete(SearchRow).where(SearchRow.photo_id.in_(batch)))
        rows, documents = [], []
        in_album = set(session.scalars(select(AlbumPhoto.photo_id).where(AlbumPhoto.photo_id.in_(batch)).distinct()))
        for photo in _load(session, batch):
            files = sorted(photo.files, key=lambda file: (not file.primary, file.id))
            for rank, file in enumerate(files):
                rows.append(_row(photo, file, rank, files, has_album=photo.id in in_album))
                documents.append({"file_id": file.id, "result": render_result(photo, file), "file": render_file(file)})
        if rows:
            session.execute(insert(SearchRow), rows)
            session.execute(insert(SearchDocument), documents)
        count += len(rows)
    count_change(session)
    return count


def rebuild(session: Session) -> int:
    """Make every search row anew from the library; gives how many there are."""
    session.execute(delete(SearchDocument))
    session.execute(delete(SearchRow))
    count = project(session, list(session.scalars(select(Photo.id).order_by(Photo.id))))
    _set_state(session, PROJECTION, PROJECTION_VERSION)
    return count


def is_stale(session: Session) -> bool:
    """Whether the search rows were made by another version of the projection."""
    state = session.get(LibraryState, PROJECTION)
    return state is not None and state.value != PROJECTION_VERSION


def count_change(session: Session) -> None:
    """Add one to the library's change counter."""
    if not session.execute(
        update(LibraryState).where(LibraryState.name == CHANGES).values(value=LibraryState.value + 1)
    ).rowcount:  # type: ignore[attr-defined]
        session.add(LibraryState(name=CHANGES, value=1))
        session.add(LibraryState(name=PROJECTION, value=PROJECTION_VERSION))
        session.flush()


def _set_state(session: Session, name: str, value: int) -> None:
    session.merge(LibraryState(name=name, value=value))
    session.flush()


def _batches(photo_ids: Iterable[int]) -> Iterator[list[int]]:
    ids = iter(photo_ids)
    while batch := list(islice(ids, _BATCH)):
        yield batch


def _rows_of(batch: list[int]) -> Any:  # noqa: ANN401
    return select(SearchRow.file_id).where(SearchRow.photo_id.in_(batch))


def _load(session: Session, batch: list[int]) -> Sequence[Photo]:
    statement = (
        select(Photo)
        .where(Photo.id.in_(batch))
        .options(
            joinedload(Photo.camera),
            joinedload(Photo.lens),
            joinedload(Photo.place),
            selectinload(Photo.files).selectinload(File.markers),
        )
        .execution_options(populate_existing=True)
    )
    return session.scalars(statement).all()


def _row(photo: Photo, file: File, rank: int, files: Sequence[File], *, has_album: bool) -> dict[str, Any]:
    archived = photo.archived_at is not None
    known_place = photo.cell_id != UNKNOWN_PLACE
    primary = files[0]
    return {
        "file_id": file.id,
        "photo_id": photo.id,
        "newest_key": photo.id * _RANKS + _RANKS - 1 - rank,
        "oldest_key": photo.id * _RANKS + rank,
        "listed": not (file.missing or file.error or file.sidecar or archived or photo.quality < 0),
        "is_primary": file.primary,
        "photo_uid": photo.uid,
        "photo_type": photo.type,
        "path": photo.path,
        "name": photo.name,
        "original_name": photo.original_name,
        "title": photo.title,
        "title_key": fold(photo.title),
        "description": photo.description,
        "stack": photo.stack,
        "stacked": sum(not (other.sidecar or other.missing) for other in files) > 1,
        "has_album": has_album,
        "favorite": photo.favorite,
        "private": photo.private,
        "scan": photo.scan,
        "panorama": photo.panorama,
        "hidden": photo.quality < 0,
        "archived": archived,
        "quality": photo.quality,
        "resolution": photo.resolution,
        "iso": photo.iso,
        "focal_length": photo.focal_length,
        "f_number": photo.f_number,
        "camera_id": photo.camera_id,
        "camera_text": f"{photo.camera.make} {photo.camera.model}".strip(),
        "lens_id": photo.lens_id,
        "lens_text": f"{photo.lens.make} {photo.lens.model}".strip(),
        "lat": photo.lat if known_place else None,
        "lng": photo.lng if known_place else None,
        "altitude": photo.altitude,
        "cell_id": photo.cell_id,
        "country": photo.country,
        "state": photo.place.state,
        "city": photo.place.city,
        "year": photo.year,
        "month": photo.month,
        "day": photo.day,
        "taken_day": _day(photo),
        "taken_at": _microseconds(photo.taken_at),
        "created_at": _microseconds(photo.created_at),
        "updated_at": _microseconds(photo.updated_at),
        "edited_at": _microseconds(photo.edited_at) if photo.edited_at else 0,
        "duration": photo.duration_ns,
        "shuffle": zlib.crc32(photo.uid.encode()) & 0x7FFFFFFF,
        "color": photo.color,
        "photo_diff": primary.diff,
        "photo_size": max(other.size for other in files),
        "file_uid": file.uid,
        "file_name": file.name,
        "hash": file.hash,
        "file_type": file.file_type,
        "media_type": file.media_type,
        "codec": file.codec,
        "size": file.size,
        "width": file.width,
        "height": file.height,
        "portrait": file.portrait,
        "aspect_ratio": file.aspect_ratio,
        "file_color": file.main_color,
        "chroma": file.chroma,
        "diff": file.diff,
        "has_error": bool(file.error),
        "instance_id": file.instance_id,
        "document_id": photo.document_id,
    }


def _day(photo: Photo) -> int:
    return photo.year * 10_000 + photo.month * 100 + photo.day if min(photo.year, photo.month, photo.day) > 0 else 0


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
