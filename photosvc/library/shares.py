"""Albums that are shared with accounts, as viewers or contributors.

Guests see the photos of their shared albums, and nothing else of the library. Contributors add photos to an album by
uploading them, unless it is a smart one, and take out photos that they uploaded.
"""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

from sqlalchemy import Connection, Select, delete, func, select
from sqlalchemy.orm import Session, aliased, joinedload

from photosvc.auth.accounts import find_user
from photosvc.auth.audit import Event
from photosvc.auth.operation import Operation
from photosvc.auth.principal import Principal
from photosvc.auth.tokens import open_shares
from photosvc.core import ids
from photosvc.core.accounts import SHARE_ROLES
from photosvc.core.errors import (
    ConflictError,
    InvalidValueError,
    NeverPermittedError,
    NotFoundError,
    PermissionDeniedError,
)
from photosvc.library.album_photos import remove_photos
from photosvc.library.albums import album_to_change
from photosvc.library.links import account_of, maker_of, not_shared
from photosvc.models import ORIGINALS_ROOT, Album, AlbumPhoto, AlbumShare, File, Photo, UploadedFile, User
from photosvc.search.reading.albums import AlbumRecord, KnownAlbums
from photosvc.search.reading.compile import visible_albums
from photosvc.search.reading.covers import with_album_covers

#: Accounts that one album is shared with, and albums that are shared with one account.
MOST_SHARES: Final = 100
#: Photos that one request takes out of an album.
MOST_TAKEN_OUT: Final = 500


class SharedAlbum(NamedTuple):
    """An album that is shared with an account, as the account sees it."""

    uid: str
    contributes: bool
    """True if the account may add photos: the share allows it, and the album is no smart one."""
    shared_at: datetime
    shared_by: str
    """The display name of the account that shared it; may be empty."""


def user_id_of(who: Principal) -> int:
    """Return the id of the account that a principal belongs to.

    Raises:
        PermissionDeniedError: it belongs to none.
    """
    if who.user_id is None:
        raise PermissionDeniedError
    return who.user_id


def list_shares(session: Session, album_uid: str = "", *, limit: int = MOST_SHARES) -> Sequence[AlbumShare]:
    """Return the shares of an album, or of all albums, with their accounts, the latest first."""
    query = select(AlbumShare).options(joinedload(AlbumShare.user)).order_by(AlbumShare.id.desc()).limit(limit)
    return session.scalars(query.where(AlbumShare.album_uid == album_uid) if album_uid else query).all()


def find_share(session: Session, album_uid: str, account: str) -> AlbumShare:
    """Return the share of an album with the account of this name or UID.

    Raises:
        NotFoundError: there is no such account, or the album is not shared with it.
    """
    user = find_user(session, account)
    share = session.scalar(_between(user.id, album_uid).options(joinedload(AlbumShare.user)))
    if share is None:
        raise NotFoundError("the album is not shared with this account", field="account")
    return share


def share_album(operation: Operation, album: Album, account: str, *, contributes: bool) -> AlbumShare:
    """Share an album with the account of this name or UID.

    Raises:
        NotFoundError: there is no such account.
        InvalidValueError: it is the account that shares the album.
        ConflictError: the album is private, is shared with the account already, or is a smart one to which nobody can
            contribute; or the album or the account has the largest number of shares.
    """
    session, now, who = operation.session, operation.now, operation.principal
    if album.private:
        raise ConflictError("the album is private: show it to all accounts before you share it", field="uid")
    user = find_user(session, account)
    if who is not None and user.id == who.user_id:
        raise InvalidValueError("Account: this is your own account", field="Account")
    _check_contribution(album, contributes=contributes)
    for condition, message in (
        (AlbumShare.album_uid == album.uid, f"an album is shared with at most {MOST_SHARES} accounts"),
        (AlbumShare.user_id == user.id, f"at most {MOST_SHARES} albums are shared with one account"),
    ):
        if (session.scalar(select(func.count()).select_from(AlbumShare).where(condition)) or 0) >= MOST_SHARES:
            raise ConflictError(message)
    if session.scalar(_between(user.id, album.uid)) is not None:
        raise ConflictError("the album is shared with this account already", field="Account")
    share = AlbumShare(
        user=user,
        album_uid=album.uid,
        contributes=contributes,
        owner_id=account_of(session, who),
        created_by=maker_of(who),
        created_at=now,
        updated_at=now,
    )
    session.add(share)
    session.flush()
    operation.record(Event.ALBUM_SHARED, subject=user, target=album.uid, detail=role_of(share))
    return share


def change_share(operation: Operation, album: Album, share: AlbumShare, *, contributes: bool) -> None:
    """Let an account contribute to a shared album, or only view it.

    Raises:
        ConflictError: nobody can contribute to the album, because it is a smart one.
    """
    _check_contribution(album, contributes=contributes)
    if share.contributes == contributes:
        return
    before, share.contributes, share.updated_at = role_of(share), contributes, operation.now
    operation.session.flush()
    detail = f"{before} to {role_of(share)}"
    operation.record(Event.SHARE_CHANGED, subject=share.user, target=share.album_uid, detail=detail)


def end_share(operation: Operation, share: AlbumShare) -> None:
    """End a share, at once on all workers."""
    operation.record(Event.SHARE_ENDED, subject=share.user, target=share.album_uid, detail=role_of(share))
    operation.session.execute(delete(AlbumShare).where(AlbumShare.id == share.id))


def leave_album(operation: Operation, user_id: int, album_uid: str) -> None:
    """End the share of an album for the account that it is shared with.

    Raises:
        NotFoundError: the album is not shared with the account.
    """
    query = _between(user_id, album_uid).options(joinedload(AlbumShare.user))
    share = operation.session.scalar(query) if ids.is_uid(album_uid, ids.ALBUM) else None
    if share is None:
        raise not_shared()
    end_share(operation, share)


def shared_with(connection: Connection, user_id: int, album_uid: str = "") -> list[SharedAlbum]:
    """Return the albums that are shared with an account, or one of them; the latest share first."""
    contributes = AlbumShare.contributes & (Album.filter == "")
    query = (
        select(AlbumShare.album_uid, contributes, AlbumShare.created_at, func.coalesce(User.display_name, ""))
        .join(Album, Album.uid == AlbumShare.album_uid)
        .outerjoin(User, User.id == AlbumShare.owner_id)
        .where(AlbumShare.user_id == user_id, visible_albums(sees_private=False), open_shares())
        .order_by(AlbumShare.id.desc())
    )
    rows = connection.execute(query.where(AlbumShare.album_uid == album_uid) if album_uid else query)
    return [SharedAlbum(*row) for row in rows]


def shared_albums(
    connection: Connection, albums: KnownAlbums, user_id: int, today: date
) -> list[tuple[SharedAlbum, AlbumRecord]]:
    """Return the albums that are shared with an account, with their covers; the latest share first."""
    shared = [
        (share, album)
        for share in shared_with(connection, user_id)
        if (album := albums.find(connection, share.uid, sees_private=False, today=today)) is not None
    ]
    covered = with_album_covers(connection, [album for _, album in shared], sees_private=False)
    return [(share, album) for (share, _), album in zip(shared, covered, strict=True)]


def find_shared(connection: Connection, user_id: int, album_uid: str) -> SharedAlbum:
    """Return an album that is shared with an account.

    Raises:
        NotFoundError: it is not shared, or it was deleted or made private.
    """
    albums = shared_with(connection, user_id, album_uid) if ids.is_uid(album_uid, ids.ALBUM) else []
    if not albums:
        raise not_shared()
    return albums[0]


def require_contributor(connection: Connection, user_id: int, album_uid: str) -> None:
    """Make sure that an account may add photos to a shared album.

    Raises:
        NotFoundError: the album is not shared with it.
        PermissionDeniedError: it may only see the album.
    """
    if not find_shared(connection, user_id, album_uid).contributes:
        raise NeverPermittedError("This album is shared with you for looking at it, not for adding photos.")


def own_photos(connection: Connection, user_id: int, album_uid: str) -> list[str]:
    """Return the UIDs of the photos in an album that an account uploaded."""
    return list(connection.scalars(_own_photos(user_id, album_uid)))


def take_out(session: Session, user_id: int, album_uid: str, photo_uids: Sequence[str], now: datetime) -> list[str]:
    """Take photos that an account uploaded out of a shared album, and return their UIDs; they stay in the library.

    Raises:
        NotFoundError: the album is not shared with the account, or the account uploaded none of these photos.
        InvalidValueError: there are too many photos.
    """
    if len(photo_uids) > MOST_TAKEN_OUT:
        raise InvalidValueError(f"photos: at most {MOST_TAKEN_OUT} at once", field="photos")
    find_shared(session.connection(), user_id, album_uid)
    album = album_to_change(session, album_uid, sees_private=False)
    selected = set(photo_uids)
    query = _own_photos(user_id, album_uid).add_columns(Photo.id)
    photos = {uid: photo_id for uid, photo_id in session.execute(query) if uid in selected}
    if album.filter or not photos:
        raise NotFoundError("none of these photos in the album is one that you uploaded", field="photos")
    remove_photos(session, album, list(photos.values()), now)
    return list(photos)


def role_of(share: AlbumShare) -> str:
    """Return the role of an account in a shared album."""
    return SHARE_ROLES[share.contributes]


def _between(user_id: int, album_uid: str) -> Select[AlbumShare]:
    return select(AlbumShare).where(AlbumShare.user_id == user_id, AlbumShare.album_uid == album_uid)


def _own_photos(user_id: int, album_uid: str) -> Select[str]:
    """Return the query for the UIDs of photos in an album whose originals were all uploaded by the account.

    Neither a copy of another photo's file counts, nor a file that joined the photo of others. Otherwise contributors
    could take out any photo.
    """
    of_photo = aliased(File)
    originals = select(func.count()).where(of_photo.photo_id == File.photo_id, of_photo.root == ORIGINALS_ROOT)
    uploaded = (
        select(File.photo_id)
        .join(UploadedFile, (UploadedFile.name == File.name) & (UploadedFile.hash == File.hash))
        .where(UploadedFile.user_id == user_id, UploadedFile.link_uid == "", File.root == ORIGINALS_ROOT)
        .group_by(File.photo_id)
        .having(func.count() == originals.correlate(File).scalar_subquery())
    )
    return (
        select(Photo.uid)
        .join(AlbumPhoto, AlbumPhoto.photo_id == Photo.id)
        .join(Album, Album.id == AlbumPhoto.album_id)
        .where(Album.uid == album_uid, AlbumPhoto.hidden.is_(False), Photo.id.in_(uploaded))
    )


def _check_contribution(album: Album, *, contributes: bool) -> None:
    if contributes and album.filter:
        msg = "the query of a smart album decides which photos it has: share it for looking at it alone"
        raise ConflictError(msg, field="Role")
