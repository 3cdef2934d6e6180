"""The photos of an album are added, removed and arranged by hand.

The query of a smart album selects its photos; people take photos out of it and put them back, so that its entries are
hidden. In other albums, photos are hidden while a large album is being deleted or restored.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import Select, delete, func, not_, select, tuple_, update
from sqlalchemy.orm import Session

from photosvc.core.errors import InvalidValueError, NotFoundError
from photosvc.core.message import Message
from photosvc.models import Album, AlbumPhoto, Photo, SearchRow
from photosvc.models.counters import record_change
from photosvc.models.statements import in_portions, insert_into
from photosvc.search.reading.compile import visible_ids
from photosvc.search.reading.request import MANUAL
from photosvc.search.reading.selection import Selection, selected_ids
from photosvc.search.rows.write import renew

#: Most files of one selection.
MOST_FILES: Final = 200_000
#: Photos that one transaction adds or removes, which holds the write lock for less than a tenth of a second.
MOST_AT_ONCE: Final = 1000
#: The distance between the positions of neighbours, so that most moves change no other photo.
_STEP: Final = 1 << 20
#: Entries of an album that are read at once in search of room for moved photos.
_WINDOW: Final = 64


def lock_photos(session: Session, photo_ids: Sequence[int]) -> set[int]:
    """Lock the existing ones of these photos, and return their ids.

    PostgreSQL waits for transactions that change them, whose projections might not see the changes that follow.
    """
    query = select(Photo.id).order_by(Photo.id).with_for_update(key_share=True)
    portions = in_portions(sorted(photo_ids))
    return {photo_id for portion in portions for photo_id in session.scalars(query.where(Photo.id.in_(portion)))}


def select_photos(session: Session, selection: Selection, today: date, *, sees_private: bool) -> dict[int, str]:
    """Return photo id -> UID of the selected photos, in the order of the selection.

    Raises:
        NotFoundError: nothing selected exists, or may be seen.
        InvalidValueError: the query or an album of the selection finds too many files.
    """
    file_ids = selected_ids(
        session.connection(), selection, limit=MOST_FILES + 1, sees_private=sees_private, today=today
    )
    if not file_ids:
        raise NotFoundError("none of the selected items exists", field="photos")
    if len(file_ids) > MOST_FILES:
        raise InvalidValueError(Message("more than {most} files are selected", most=MOST_FILES), field="photos")
    selected: dict[int, str] = {}
    for portion in in_portions(file_ids):
        query = select(SearchRow.file_id, SearchRow.photo_id, SearchRow.photo_uid)
        rows = session.execute(query.where(SearchRow.file_id.in_(portion))).all()
        photos = {file_id: (photo_id, uid) for file_id, photo_id, uid in rows}
        selected.update(photos[file_id] for file_id in portion if file_id in photos)
    return selected


def add_photos(session: Session, album: Album, photo_ids: Sequence[int], now: datetime) -> list[int]:
    """Append photos to an album, or put them back into a smart one; return the ids of the added photos."""
    present = lock_photos(session, photo_ids)
    entry_hidden = _entries(session, album, photo_ids)
    if album.filter:
        added_ids = [photo_id for photo_id in photo_ids if photo_id in entry_hidden]
        _delete_entries(session, album, added_ids)
    else:
        added_ids = [photo_id for photo_id in photo_ids if entry_hidden.get(photo_id, True) and photo_id in present]
        last = session.scalar(select(func.max(AlbumPhoto.position)).where(AlbumPhoto.album_id == album.id)) or 0
        row = {"album_id": album.id, "hidden": False, "created_at": now}
        positions = enumerate(added_ids, 1)
        rows = [{**row, "photo_id": photo_id, "position": last + number * _STEP} for number, photo_id in positions]
        if rows:
            added = insert_into(AlbumPhoto, session)
            changed = {name: added.excluded[name] for name in ("position", "hidden", "created_at")}
            session.execute(added.on_conflict_do_update(index_elements=["album_id", "photo_id"], set_=changed), rows)
    _finish(session, album, added_ids, now)
    return added_ids


def remove_photos(session: Session, album: Album, photo_ids: Sequence[int], now: datetime) -> list[int]:
    """Take photos out of an album; return the ids of the removed photos."""
    present = lock_photos(session, photo_ids)
    entry_hidden = _entries(session, album, photo_ids)
    if album.filter:
        removed = [photo_id for photo_id in photo_ids if not entry_hidden.get(photo_id) and photo_id in present]
        row = {"album_id": album.id, "position": 0, "hidden": True, "created_at": now}
        entries = insert_into(AlbumPhoto, session)
        if removed:
            session.execute(
                entries.on_conflict_do_update(index_elements=["album_id", "photo_id"], set_={"hidden": True}),
                [{**row, "photo_id": photo_id} for photo_id in removed],
            )
    else:
        removed = [photo_id for photo_id in photo_ids if entry_hidden.get(photo_id) is False]
        _delete_entries(session, album, removed)
    _finish(session, album, removed, now)
    return removed


def _delete_entries(session: Session, album: Album, photo_ids: Sequence[int]) -> None:
    for portion in in_portions(photo_ids):
        session.execute(delete(AlbumPhoto).where(AlbumPhoto.album_id == album.id, AlbumPhoto.photo_id.in_(portion)))


def set_hidden(session: Session, album: Album, photo_ids: Sequence[int], *, hidden: bool) -> None:
    """Hide photos of an album that is not a smart one, or show them again at their old positions."""
    lock_photos(session, photo_ids)
    for portion in in_portions(photo_ids):
        of_portion = AlbumPhoto.album_id == album.id, AlbumPhoto.photo_id.in_(portion)
        session.execute(update(AlbumPhoto).where(*of_portion).values(hidden=hidden))
    project_members(session, photo_ids)


def photos_in_order(session: Session, album: Album, *, sees_private: bool) -> list[str]:
    """Return the UIDs of the visible photos of an album, in the order made by hand."""
    query = _seen_entries(album, sees_private=sees_private).where(not_(AlbumPhoto.hidden))
    return list(session.scalars(query.order_by(AlbumPhoto.position, AlbumPhoto.photo_id)))


def photos_taken_out(session: Session, album: Album, *, most: int, sees_private: bool) -> list[str]:
    """Return the UIDs of visible photos taken out of a smart album, the last one first, at most `most`."""
    query = _seen_entries(album, sees_private=sees_private).where(AlbumPhoto.hidden)
    return list(session.scalars(query.order_by(AlbumPhoto.created_at.desc(), AlbumPhoto.photo_id).limit(most)))


def _seen_entries(album: Album, *, sees_private: bool) -> Select[str]:
    """Return the query for the UIDs of visible photos that have an entry in the album."""
    shown = visible_ids(sees_private=sees_private).where(SearchRow.photo_id == AlbumPhoto.photo_id).exists()
    query = select(Photo.uid).join(AlbumPhoto, AlbumPhoto.photo_id == Photo.id)
    return query.where(AlbumPhoto.album_id == album.id, shown)


def arrange_photos(
    session: Session,
    album: Album,
    uids: Sequence[str],
    before: str | None,
    now: datetime,
    *,
    last: bool = False,
    sees_private: bool,
) -> None:
    """Move photos of an album, in this order, before another photo, to the beginning or to the end.

    Reads and changes the photos around the new place only, however many the album has.

    Args:
        before: UID of the photo that follows them; None for the beginning.
        last: true for the end.

    Raises:
        InvalidValueError: it is a smart album, or a photo is not in the album or occurs twice.
    """
    if album.filter:
        raise InvalidValueError("a smart album has no order by hand", field="photos")
    if last and before is not None:
        raise InvalidValueError("photos move to the end or before another photo, not both", field="before")
    query = _seen_entries(album, sees_private=sees_private).where(not_(AlbumPhoto.hidden))
    query = query.add_columns(AlbumPhoto.photo_id, AlbumPhoto.position)
    seen: dict[str, tuple[int, int]] = {}
    for portion in in_portions([*uids, *([] if before is None else [before])]):
        rows = session.execute(query.where(Photo.uid.in_(portion))).all()
        seen.update({row.uid: (row.photo_id, row.position) for row in rows})
    moved = dict(seen[uid] for uid in uids if uid in seen)
    if len(moved) != len(uids):
        raise InvalidValueError("each photo must be in the album, and be named once", field="photos")
    if before is not None and (before not in seen or before in uids):
        raise InvalidValueError("before names another photo of the album", field="before")
    order = _Order(session, album, moved)
    positions = order.at_end() if last else order.before(None if before is None else seen[before])
    values = [
        {"album_id": album.id, "photo_id": photo_id, "position": position}
        for photo_id, position in positions.items()
        if moved.get(photo_id) != position
    ]
    if values:
        session.execute(update(AlbumPhoto), values)
        album.updated_at = now
        record_change(session, private=album.private)


@dataclass(frozen=True, slots=True)
class _Order:
    """The order of an album's entries, in which some photos get new positions. Hidden entries keep their places."""

    session: Session
    album: Album
    moved: Collection[int]
    """Ids of the photos, in their new order."""

    def at_end(self) -> dict[int, int]:
        """Return id -> position after all other photos."""
        last = next(self._others(backwards=True), None)
        start = 0 if last is None else last.position + _STEP
        return {photo_id: start + number * _STEP for number, photo_id in enumerate(self.moved)}

    def before(self, entry: tuple[int, int] | None) -> dict[int, int]:
        """Return id -> position before an entry, also of entries from there on that must make way.

        Args:
            entry: id and position; None for the first one.
        """
        place = None if entry is None else (entry[1], entry[0])
        preceding = None if place is None else next(self._others(place, backwards=True), None)
        spread = list(self.moved)
        if preceding is None:
            following = next(self._others(), None)
            start = 0 if following is None else following.position - _STEP * len(spread)
            return {photo_id: start + number * _STEP for number, photo_id in enumerate(spread)}
        for other in self._others(place):
            # The more photos make way, the more room each gets: 3,000 moves to one place take 10 positions each.
            if (gap := other.position - preceding.position) > len(spread) ** 2:
                break
            spread.append(other.photo_id)
        else:
            gap = (len(spread) + 1) * _STEP
        parts = len(spread) + 1
        return {photo_id: preceding.position + gap * number // parts for number, photo_id in enumerate(spread, 1)}

    def _others(self, place: tuple[int, int] | None = None, *, backwards: bool = False) -> Iterator[Any]:
        """Yield photo_id and position of the entries that are not moved, from a place on, or backwards before it."""
        keys = AlbumPhoto.position, AlbumPhoto.photo_id
        query = select(AlbumPhoto.photo_id, AlbumPhoto.position).where(AlbumPhoto.album_id == self.album.id)
        if place is not None:
            query = query.where(tuple_(*keys) < place if backwards else tuple_(*keys) >= place)
        query = query.order_by(*(key.desc() if backwards else key for key in keys))
        with self.session.execute(query, execution_options={"yield_per": _WINDOW}) as entries:
            yield from (entry for entry in entries if entry.photo_id not in self.moved)


def keep_shown_order(session: Session, album: Album, order: str, today: date) -> None:
    """Store the order in which somebody sees the photos as their positions, and make the album one that has them.

    Hidden photos follow.
    """
    if order == MANUAL.name:
        return
    album.order = order
    _keep_order(session, album, today)
    album.order = MANUAL.name
    record_change(session, private=album.private)


def _keep_order(session: Session, album: Album, today: date) -> None:
    entries = select(AlbumPhoto.photo_id).where(AlbumPhoto.album_id == album.id)
    known = list(session.scalars(entries.order_by(AlbumPhoto.position, AlbumPhoto.photo_id)))
    session.flush()
    shown = select_photos(session, Selection(albums=(album.uid,)), today, sees_private=True)
    rank = {photo_id: number for number, photo_id in enumerate(shown)}
    places = enumerate(sorted(known, key=lambda photo_id: rank.get(photo_id, len(rank))))
    values = [{"album_id": album.id, "photo_id": photo_id, "position": number * _STEP} for number, photo_id in places]
    session.execute(update(AlbumPhoto), values)


def _entries(session: Session, album: Album, photo_ids: Sequence[int]) -> dict[int, bool]:
    """Return id -> whether it is hidden, of photos with an entry in the album."""
    query = select(AlbumPhoto.photo_id, AlbumPhoto.hidden).where(AlbumPhoto.album_id == album.id)
    hidden: dict[int, bool] = {}
    for portion in in_portions(photo_ids):
        rows = session.execute(query.where(AlbumPhoto.photo_id.in_(portion)))
        hidden.update({row.photo_id: row.hidden for row in rows})
    return hidden


def _finish(session: Session, album: Album, photo_ids: Sequence[int], now: datetime) -> None:
    if photo_ids:
        album.updated_at = now
        project_members(session, sorted(photo_ids))


def project_members(session: Session, photo_ids: Sequence[int]) -> None:
    """Write the search rows of photos whose albums have changed."""
    renew(session, photo_ids)
    record_change(session)  # even if all photos are private, because the album itself has changed
