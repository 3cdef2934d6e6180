"""Photos as the projection reads them: with their files, markers, keywords, gear and places, as plain objects."""

from collections import defaultdict
from collections.abc import Collection, Sequence

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from photosvc.models import Camera, File, Keyword, Lens, Marker, Photo, Place, photo_keywords
from photosvc.models.among import among
from photosvc.models.plain import plain, select_plain


def load(session: Session, photo_ids: Sequence[int]) -> list[Photo]:
    """Those of these photos that have search rows, by id, as the database has them; pending changes are not seen."""
    photos = {photo.id: photo for photo in select_plain(session, Photo, "id", photo_ids)}
    _add_files(session, photos)
    shown = {photo_id: photo for photo_id, photo in photos.items() if not is_missing(photo)}
    _add_keywords(session, shown)
    every = shown.values()
    cameras = {one.id: one for one in select_plain(session, Camera, "id", {photo.camera_id for photo in every})}
    lenses = {one.id: one for one in select_plain(session, Lens, "id", {photo.lens_id for photo in every})}
    places = {one.id: one for one in select_plain(session, Place, "id", {photo.place_id for photo in every})}
    for photo in every:
        photo.camera, photo.lens = cameras[photo.camera_id], lenses[photo.lens_id]
        photo.place = places[photo.place_id]
    return list(every)


def is_missing(photo: Photo) -> bool:
    """Whether none of its files is on disk."""
    return all(file.missing for file in photo.files)


def _add_files(session: Session, photos: dict[int, Photo]) -> None:
    for photo in photos.values():
        photo.files = []
    files = {file.id: file for file in select_plain(session, File, "photo_id", photos.keys())}
    for file in files.values():
        file.photo, file.markers = photos[file.photo_id], []
        file.photo.files.append(file)
    for marker in select_plain(session, Marker, "file_id", files.keys()):
        marker.file = files[marker.file_id]
        marker.file.markers.append(marker)


def _add_keywords(session: Session, photos: dict[int, Photo]) -> None:
    words: defaultdict[int, list[Keyword]] = defaultdict(list)
    known: dict[int, Keyword] = {}
    for photo_id, keyword_id, word, folded in _keywords(session, photos.keys()):
        if keyword_id not in known:
            known[keyword_id] = plain(Keyword, id=keyword_id, word=word, folded=folded)
        words[photo_id].append(known[keyword_id])
    for photo_id, photo in photos.items():
        photo.keywords = words[photo_id]


def _keywords(session: Session, photo_ids: Collection[int]) -> Sequence[Row[int, int, str, str]]:
    query = (
        select(photo_keywords.c.photo_id, Keyword.id, Keyword.word, Keyword.folded)
        .join(Keyword, Keyword.id == photo_keywords.c.keyword_id)
        .where(among(session, photo_keywords.c.photo_id, photo_ids))
        .order_by(photo_keywords.c.photo_id, Keyword.word)
    )
    return session.connection().execute(query).all()
