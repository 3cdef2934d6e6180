"""Albums of people are made, changed, deleted and restored; `library.album_photos` has the photos in them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypeAlias

from sqlalchemy import func, not_, select
from sqlalchemy.orm import Session

from photosvc.auth.policy import decide
from photosvc.auth.principal import Principal
from photosvc.core import ids
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.message import Message, of_field
from photosvc.core.text import clean_line
from photosvc.core.vocabulary import MANUAL as CHOSEN
from photosvc.library.album_photos import MOST_AT_ONCE, lock_photos, project_members, set_hidden
from photosvc.models import Album, AlbumPhoto, SearchAlbum, SearchRow
from photosvc.models.counters import record_change
from photosvc.models.engine import Writing
from photosvc.models.statements import in_portions
from photosvc.query.areas import locate
from photosvc.query.fold import fold
from photosvc.query.parser import parse_query
from photosvc.search.reading.albums_named import find_library_album
from photosvc.search.reading.compile import visible_albums, visible_photos
from photosvc.search.reading.request import ALBUM_ORDERS, MANUAL

MOST_ALBUMS: Final = 20_000
#: Most smart albums of one owner, because each is a search.
MOST_SMART_ALBUMS: Final = 200
#: `library.album_photos.add_photos` or `remove_photos`.
PhotosChange: TypeAlias = Callable[[Session, Album, Sequence[int], datetime], list[int]]


def album_of_people(session: Session, uid: str, *, sees_private: bool) -> Album:
    """Return the album with this UID.

    Raises:
        NotFoundError: there is none, or it may not be seen.
        ConflictError: it is a folder, a month or a state, which nobody can change.
    """
    album = None
    if ids.is_uid(uid, ids.ALBUM):
        query = select(Album).where(Album.uid == uid, visible_albums(sees_private=sees_private))
        album = session.scalars(query).first()
        if album is None and find_library_album(session.connection(), uid):
            msg = "folders, months and states follow from the library and cannot be changed; clone them into an album"
            raise ConflictError(msg, field="uid")
    if album is None:
        raise NotFoundError("there is no such album", field="uid")
    return album


def album_to_change(session: Session, uid: str, *, sees_private: bool) -> Album:
    """Return the album of `album_of_people`, locked until the transaction ends, so that changes do not overlap."""
    album = album_of_people(session, uid, sees_private=sees_private)
    # `FOR UPDATE` would block projections of photos in the album, which refer to its row.
    session.refresh(album, with_for_update={"key_share": True})
    return album


def uids_by_title(session: Session) -> dict[str, list[str]]:
    """Return title without case and accents -> UIDs of the albums, private ones included."""
    uids: dict[str, list[str]] = {}
    query = select(Album.uid, Album.title).where(visible_albums(sees_private=True)).order_by(Album.id)
    for uid, title in session.execute(query):
        uids.setdefault(fold(title), []).append(uid)
    return uids


def album_named(session: Session, name: str, titles: Mapping[str, Sequence[str]] | None = None) -> Album:
    """Return the album with this UID or whole title, in upper or lower case, private ones included.

    Args:
        titles: the result of `uids_by_title`, to look up several albums.

    Raises:
        NotFoundError: there is none.
        ConflictError: several albums have the title; the message has their UIDs.
    """
    if ids.is_uid(name, ids.ALBUM):
        return album_of_people(session, name, sees_private=True)
    uids = (uids_by_title(session) if titles is None else titles).get(fold(name), ())
    if not uids:
        msg = f"there is no album {name!r}" if name.strip() else "the name of the album is empty"
        raise NotFoundError(msg, field="album")
    if len(uids) > 1:
        raise ConflictError(f"several albums are called {name!r}: use one of {', '.join(uids)}", field="album")
    return album_of_people(session, uids[0], sees_private=True)


def albums_among(session: Session, uids: Sequence[str], *, sees_private: bool) -> list[str]:
    """Return the UIDs that belong to visible albums of people, in their order."""
    present: set[str] = set()
    for portion in in_portions(uids):
        query = select(Album.uid).where(Album.uid.in_(portion), visible_albums(sees_private=sees_private))
        present.update(session.scalars(query))
    return [uid for uid in uids if uid in present]


def make_album(session: Session, values: Mapping[str, Any], now: datetime, owner_uid: str = "") -> Album:
    """Make an album of values as `AlbumEditSchema` loads them; a `filter` makes it a smart one.

    Raises:
        InvalidValueError: it has no title, or the filter is not a valid query.
        ConflictError: the owner has the largest number of albums.
    """
    title = clean_line(values.get("title", ""))  # uploads and commands give titles of their own
    if not title:
        raise InvalidValueError(_NO_TITLE, field="Title")
    check_values(values, now, smart=bool(values.get("filter")))
    _check_number(session, owner_uid, smart=bool(values.get("filter")))
    uid = ids.new_uid(ids.ALBUM, now)
    given = {**_without_cover(values), "title": title}
    album = Album(uid=uid, owner_uid=owner_uid, created_at=now, updated_at=now, **given)
    session.add(album)
    session.flush()
    record_change(session, private=album.private)
    return album


def change_album(
    session: Session, album: Album, values: Mapping[str, Any], now: datetime, *, sees_private: bool = True
) -> None:
    """Write values into an album, as `AlbumEditSchema` loads them; absent values stay.

    Args:
        sees_private: whether a private photo may become the cover.

    Raises:
        InvalidValueError: a value is not valid, or would make a smart album of another one.
    """
    values = _with_cover(session, album, values, sees_private=sees_private)
    changed = {name: value for name, value in values.items() if value != getattr(album, name)}
    if not changed:
        return
    if changed.get("title") == "":
        raise InvalidValueError(_NO_TITLE, field="Title")
    if "filter" in changed and not (changed["filter"] and album.filter):
        msg = "Filter: an album cannot become a smart album, or a smart album an album of chosen photos; make a new one"
        raise InvalidValueError(msg, field="Filter")
    check_values(changed, now, smart=bool(album.filter))
    was_private = album.private
    for name, value in changed.items():
        setattr(album, name, value)
    album.updated_at = now
    session.flush()
    record_change(session, private=was_private and album.private)


def _with_cover(session: Session, album: Album, values: Mapping[str, Any], *, sees_private: bool) -> dict[str, Any]:
    """Return the values with the chosen photo in place of its hash. The cover that is shown already is no choice."""
    given, content_hash = _without_cover(values), values.get("thumb")
    if content_hash == "" or values.get("thumb_src", CHOSEN) != CHOSEN:
        return {**given, "cover": ""}
    if content_hash is None:
        return given
    shown = select(SearchRow.photo_uid, SearchRow.hash).join(SearchAlbum, SearchAlbum.file_id == SearchRow.file_id)
    shown = shown.where(SearchAlbum.album_id == album.id, visible_photos(sees_private=sees_private))
    photo_uid = session.scalar(shown.where(SearchRow.hash == content_hash.lower()).limit(1))
    if photo_uid is None:
        raise InvalidValueError("Thumb: no photo in the album has this hash", field="Thumb")
    latest = session.scalar(shown.order_by(SearchAlbum.taken_at.desc(), SearchAlbum.newest_key.desc()).limit(1))
    is_choice = "thumb_src" in values or photo_uid != latest
    return {**given, "cover": photo_uid} if is_choice else given


def _without_cover(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in ("thumb", "thumb_src")}


def delete_album(session: Session, album: Album, now: datetime) -> bool:
    """Delete an album, or hide some of its photos if it has many; return whether it is deleted.

    Its photos stay in the library. The rows stay, too, so that `restore_album` can restore the album.
    """
    members = _members(session, album, hidden=False, most=MOST_AT_ONCE + 1)
    if len(members) > MOST_AT_ONCE:
        set_hidden(session, album, members[:-1], hidden=True)
        return False
    album.deleted_at = now
    lock_photos(session, members)
    project_members(session, members)
    return True


def deleted_album(session: Session, uid: str, *, sees_private: bool) -> Album | None:
    """Return the album with this UID if it is deleted, or if `delete_album` has begun to hide its photos."""
    if not ids.is_uid(uid, ids.ALBUM):
        return None
    query = select(Album).where(Album.uid == uid, *([] if sees_private else [not_(Album.private)]))
    album = session.scalars(query).first()
    if album is None or album.deleted_at is not None:
        return album
    return album if not album.filter and _members(session, album, hidden=True, most=1) else None


def restore_album(session: Session, album: Album) -> bool:
    """Restore a deleted album, or some of its photos if it has many; return whether it is complete.

    The album is locked until the transaction ends, because another request may restore it at the same time.

    Raises:
        ConflictError: the owner has the largest number of albums.
    """
    session.refresh(album, with_for_update={"key_share": True})
    if album.deleted_at is not None:
        _check_number(session, album.owner_uid, smart=bool(album.filter))
        album.deleted_at = None
        members = _members(session, album, hidden=False)
        lock_photos(session, members)
        project_members(session, members)
    else:
        set_hidden(session, album, _members(session, album, hidden=True, most=MOST_AT_ONCE), hidden=False)
    return bool(album.filter) or not _members(session, album, hidden=True, most=1)


def delete_whole(writing: Writing, uid: str, now: datetime, *, sees_private: bool) -> str:
    """Delete an album, in several transactions if it has many photos; return its title.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: the album follows from the library.
    """
    done = False
    while not done:
        with writing(library=True) as session:
            album = album_to_change(session, uid, sees_private=sees_private)
            title, done = album.title, delete_album(session, album, now)
    return title


def restore_whole(writing: Writing, uid: str, *, sees_private: bool) -> None:
    """Restore a deleted album, in several transactions if it has many photos.

    Raises:
        NotFoundError: there is no such deleted album, or it may not be seen.
        ConflictError: the owner has the largest number of albums.
    """
    done = False
    while not done:
        with writing(library=True) as session:
            album = deleted_album(session, uid, sees_private=sees_private)
            if album is None:
                msg = "This deleted album does not exist, or you have no permission to see it."
                raise NotFoundError(msg, field="uid")
            done = restore_album(session, album)


def change_members(
    writing: Writing, uid: str, photo_ids: Sequence[int], change: PhotosChange, now: datetime, *, sees_private: bool
) -> list[int]:
    """Add photos to an album or remove them, in several transactions if they are many; return the changed ids.

    Raises:
        NotFoundError: there is no such album, or it may not be seen.
        ConflictError: the album follows from the library.
    """
    changed: list[int] = []
    for portion in in_portions(photo_ids, MOST_AT_ONCE):
        with writing(library=True) as session:
            album = album_to_change(session, uid, sees_private=sees_private)
            changed += change(session, album, portion, now)
    return changed


def _members(session: Session, album: Album, *, hidden: bool, most: int | None = None) -> Sequence[int]:
    """Return the ids of hidden or other photos in the album, at most `most`."""
    query = select(AlbumPhoto.photo_id).where(AlbumPhoto.album_id == album.id, AlbumPhoto.hidden.is_(hidden))
    return session.scalars(query.order_by(AlbumPhoto.photo_id).limit(most)).all()


_NO_TITLE: Final = of_field("Title", "an album needs a title")


def _check_number(session: Session, owner_uid: str, *, smart: bool) -> None:
    query = select(func.count()).select_from(Album)
    query = query.where(visible_albums(sees_private=True), Album.owner_uid == owner_uid)
    limits = [(Message("there are {most} albums already; delete some", most=MOST_ALBUMS), MOST_ALBUMS, query)]
    if smart:
        msg = Message("there are {most} smart albums already; delete some", most=MOST_SMART_ALBUMS)
        limits.append((msg, MOST_SMART_ALBUMS, query.where(Album.filter != "")))
    for msg, most, counted in limits:
        if (session.scalar(counted) or 0) >= most:
            raise ConflictError(msg)


def check_values(values: Mapping[str, Any], now: datetime, *, smart: bool) -> None:
    """Raise `InvalidValueError` for an order or a query that no album has."""
    locate(parse_query(values.get("filter", ""), now.date(), "Filter"))
    orders = [order for order in ALBUM_ORDERS if not smart or order != MANUAL.name]
    if "order" in values and values["order"] not in orders:
        raise InvalidValueError(f"Order: use one of {', '.join(orders)}", field="Order")


def albums_by_name(writing: Writing, names: Sequence[str], who: Principal, now: datetime) -> list[str]:
    """Return the UIDs of the albums with these UIDs or titles; make an album for a title that none has.

    Raises:
        NotFoundError: there is no album with this UID.
        PermissionDeniedError: the principal may not change albums, or make one.
        ConflictError: photos cannot be added to this album.
    """
    if not names:
        return []
    decide(who, "albums.update")
    with writing(library=True) as session:
        # Read once for all names, because the transaction keeps others from writing.
        titles = uids_by_title(session) if any(not ids.is_uid(name, ids.ALBUM) for name in names) else {}
        return [_album_by_name(session, name, titles, who, now) for name in dict.fromkeys(names)]


def _album_by_name(session: Session, name: str, titles: dict[str, list[str]], who: Principal, now: datetime) -> str:
    uid = name
    if not ids.is_uid(name, ids.ALBUM):
        try:
            uid = album_named(session, name, titles).uid
        except NotFoundError:
            decide(who, "albums.create")
            uid = make_album(session, {"title": name}, now, who.owner_uid).uid
            titles[fold(name)] = [uid]
    return album_of_people(session, uid, sees_private=who.sees_private).uid
