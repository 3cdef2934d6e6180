"""Sightings: when and where a camera was, as far as its photos tell. Places of other photos are estimated from them.

A change of sightings marks the photos between the located neighbours of what changed, in its own transaction;
`index.estimates` estimates the marked photos.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Update, and_, bindparam, exists, func, not_, or_, select, update
from sqlalchemy.orm import Session, aliased

from photosvc.core.times import shifted
from photosvc.core.vocabulary import AUTO, DEFAULT, ESTIMATE, META, XMP
from photosvc.index.file_columns import load_metadata
from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, File, Photo
from photosvc.models.statements import among, run_many

#: Photos further away in time say nothing.
WINDOW: Final = timedelta(hours=36)
_VIDEO: Final = "video"
_GUESSED: Final = frozenset((AUTO, DEFAULT, ESTIMATE))
#: The furthest that wall times of two zones are from each other.
_FURTHEST: Final = timedelta(hours=26)
_COLUMNS: Final = (
    Photo.id, Photo.camera_id, Photo.camera_serial, Photo.taken_at_local, Photo.taken_src, Photo.day, Photo.place_src,
    Photo.cell_id, Photo.quality, Photo.lat, Photo.lng, Photo.place_id, Photo.type,
)  # fmt: skip


class Sighting(NamedTuple):
    """The time and place of a camera, as far as one photo tells."""

    camera_id: int
    serial: str
    at: datetime
    """Wall time, or UTC when `in_utc`."""
    located: bool
    shown: bool
    """True if the photo has files."""
    lat: float
    lng: float
    place_id: str
    in_utc: bool = False
    """True for a video without position whose files have UTC alone, which is compared with others' UTC."""


def _is_located(photo: Any) -> ColumnElement[bool]:  # noqa: ANN401 - `Photo` or an alias of it
    known = not_(_is_guessed(photo.place_src)), not_(_is_guessed(photo.taken_src))
    return and_(*known, photo.cell_id != UNKNOWN_PLACE, photo.day > 0, photo.quality >= 0, not_(_is_sent(photo)))


def _is_sent(photo: Any) -> ColumnElement[bool]:  # noqa: ANN401 - `Photo` or an alias of it
    return exists().where(File.photo_id == photo.id, File.contributed)


def _is_guessed(source: Any) -> ColumnElement[bool]:  # noqa: ANN401 - a column
    return or_(*(source == guess for guess in sorted(_GUESSED)))  # an IN cannot be executed for many parameters


#: Photos that visitors of a link or contributors of an album sent.
SENT: Final[ColumnElement[bool]] = _is_sent(Photo)
#: Photos whose position other photos are estimated from.
LOCATED: Final[ColumnElement[bool]] = _is_located(Photo)


def sighting(photo: Any) -> Sighting | None:  # noqa: ANN401 - a photo or a row of its columns
    """Return the sighting of a photo; None when camera or time are unknown."""
    if photo.camera_id in {None, UNKNOWN_ID} or photo.taken_src in _GUESSED or photo.day < 1:
        return None
    located = photo.place_src not in _GUESSED and photo.cell_id != UNKNOWN_PLACE and photo.quality >= 0
    lat, lng, place_id = (photo.lat, photo.lng, photo.place_id) if located else (0.0, 0.0, "")
    in_utc = not located and photo.type == _VIDEO and photo.taken_src in {META, XMP} and _have_utc_alone(photo)
    at, shown = photo.taken_at if in_utc else photo.taken_at_local, photo.quality >= 0
    return Sighting(photo.camera_id, photo.camera_serial, at, located, shown, lat, lng, place_id, in_utc)


def _have_utc_alone(photo: Any) -> bool:  # noqa: ANN401
    """Return whether no file has a wall time; False for rows, which stand for photos that are no longer estimated."""
    files = [file for file in getattr(photo, "files", ()) if not file.missing]
    return bool(files) and all(load_metadata(file.details).taken_local is None for file in files)


def stored_sightings(session: Session, photo_ids: Collection[int]) -> dict[int, Sighting | None]:
    """Return the sightings of these photos, at most some hundreds, as they are in the database."""
    query = select(*_COLUMNS).where(among(session, Photo.id, photo_ids))
    return {row.id: sighting(row) for row in session.connection().execute(query)}


def mark_due(session: Session, before: Mapping[int, Sighting | None], after: Mapping[int, Sighting | None]) -> None:
    """Mark the photos whose place depends on sightings that differ. The session is flushed; no other column changes."""
    cameras: dict[tuple[int, str], list[tuple[datetime, bool]]] = defaultdict(list)
    for photo_id in before.keys() | after.keys():
        one, other = before.get(photo_id), after.get(photo_id)
        if one != other:
            for seen in filter(None, (one, other)):
                cameras[seen.camera_id, seen.serial].append((seen.at, seen.located))
    spans = [
        _span(camera_id, serial, first, last, WINDOW if located else timedelta())
        for (camera_id, serial), moments in cameras.items()
        for first, last, located in _spans(moments)
    ]
    run_many(session.connection(), _MARK, spans)


def _spans(moments: Iterable[tuple[datetime, bool]]) -> list[tuple[datetime, datetime, bool]]:
    """Return first and last moment of runs without a gap as long as the window, and whether any has a position."""
    spans: list[tuple[datetime, datetime, bool]] = []
    for at, located in sorted(moments):
        if spans and at - spans[-1][1] <= WINDOW:
            spans[-1] = (spans[-1][0], at, spans[-1][2] or located)
        else:
            spans.append((at, at, located))
    return spans


def _span(camera_id: int, serial: str, first: datetime, last: datetime, window: timedelta) -> dict[str, object]:
    """Return the parameters of `_MARK` for the moments from `first` to `last`."""
    before, after = shifted(first, -window), shifted(last, window)
    span = {"camera": camera_id, "serial": serial, "first": first, "last": last, "before": before, "after": after}
    return span | {"earliest": shifted(before, -_FURTHEST), "latest": shifted(after, _FURTHEST)}


def _mark_span() -> Update:
    """Return the statement that marks the photos whose estimate depends on a span, and videos, which may be in UTC.

    These lie between the located photos before and after the span, at most a window away: photos beyond have other
    neighbours. For a span without a position the window is 0, and nothing lies between.
    """
    near = aliased(Photo)
    located = (_same_camera(near), _is_located(near))
    at, first, last = near.taken_at_local, _moment("first"), _moment("last")
    before, after = _moment("before"), _moment("after")
    previous = select(func.max(at)).where(*located, at >= before, at < first).scalar_subquery()
    following = select(func.min(at)).where(*located, at > last, at <= after).scalar_subquery()
    between = Photo.taken_at_local.between(func.coalesce(previous, before), func.coalesce(following, after))
    at_most = Photo.taken_at_local.between(_moment("earliest"), _moment("latest"))
    due = or_(Photo.type == _VIDEO, between)
    marked = update(Photo).where(_same_camera(Photo), at_most, due, _is_guessed(Photo.place_src))
    return marked.where(Photo.place_due.is_(False), Photo.quality >= 0).values(place_due=True)


def _same_camera(photo: Any) -> ColumnElement[bool]:  # noqa: ANN401 - `Photo` or an alias of it
    return and_(photo.camera_id == bindparam("camera"), photo.camera_serial == bindparam("serial"))


def _moment(name: str) -> BindParameter[datetime]:
    return bindparam(name, type_=Photo.taken_at_local.type)


_MARK: Final = _mark_span()
