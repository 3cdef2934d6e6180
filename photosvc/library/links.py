"""Public links to albums: people make, change and end them, and visitors without an account open them.

Only the digest of a link's token is stored, so that a copy of the database opens no album. The token is derived from
the service key, so that those who may share an album find its address again; not after the key was replaced.
The operations write their entries of the security log.

If a link allows uploads, the files of visitors count in the quota of the account that made it. Their limits are buckets
as for failed log-ins: a used allowance comes back evenly, so that no link is closed for a whole day.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from sqlalchemy import Connection, delete, func, or_, select, update
from sqlalchemy.orm import Session

from photosvc.auth import policy, tokens
from photosvc.auth.accounts import find_user
from photosvc.auth.audit import Event
from photosvc.auth.credentials import delete_credentials, expiry
from photosvc.auth.errors import ThrottledError
from photosvc.auth.login import Login
from photosvc.auth.operation import Operation
from photosvc.auth.passwords import hash_password
from photosvc.auth.policy import SHARERS
from photosvc.auth.principal import Origin, Principal
from photosvc.auth.service_key import derive_key
from photosvc.auth.throttle import Allowance, Charge, seconds_to_wait, take, units_left
from photosvc.core import ids
from photosvc.core.accounts import NO_LIMIT, VISIT_SECONDS
from photosvc.core.errors import ConflictError, InvalidValueError, NotFoundError
from photosvc.core.message import Message, counted, of_field
from photosvc.models import VISIT, Album, Client, Credential, Link, User, Visit
from photosvc.models.statements import in_portions
from photosvc.records import limits
from photosvc.records.photos import slug
from photosvc.search.reading.albums import AlbumRecord
from photosvc.search.reading.compile import visible_albums
from photosvc.settings import Settings

#: Links of one album.
MOST_LINKS: Final = 100
#: Open visits of one link: a further one ends the oldest.
MOST_VISITS: Final = 500
#: Visits beyond `MOST_VISITS` that a further visit ends at most.
_MOST_ENDED: Final = 5
#: The scope of visits; the policy also limits what visitors may do.
_SCOPE: Final = "albums config files photos sessions"
_LONGEST_SLUG: Final = 100
#: Albums in one statement.
_PORTION: Final = 500
_MIB: Final = 1 << 20
#: Files by one link: the guests of a large party add some thousand pictures in a day. Each file costs a transaction, a
#: row, and time of the index.
_FILES: Final = Allowance("link-files", burst=4000, seconds=21)
#: MiB by one link: the pictures of the same party at 5 MB. If the account has no quota, only the disk is another limit.
_MIBS: Final = Allowance("link-mib", burst=20 * 1024, seconds=4)
#: Characters of the note of a link in the security log, whose texts are short.
_LONGEST_NOTE: Final = 60


@dataclass(frozen=True, slots=True)
class NewLink:
    """A new link and its token, which is shown once and not stored."""

    link: Link
    token: str


@dataclass(frozen=True, slots=True)
class FoundLink:
    """A link that opens an album now."""

    id: int
    uid: str
    slug: str
    album_uid: str
    password_hash: str
    max_views: int


def list_links(session: Session, album_uid: str = "", *, limit: int = MOST_LINKS) -> Sequence[Link]:
    """Return the links of an album, or of all albums, the latest first."""
    query = select(Link).order_by(Link.id.desc()).limit(limit)
    return session.scalars(query.where(Link.album_uid == album_uid) if album_uid else query).all()


def links_state(connection: Connection) -> tuple[int, int]:
    """Return two numbers of which one differs after each change of the set of links, because ids are not reused."""
    count, latest = connection.execute(select(func.count(), func.coalesce(func.max(Link.id), 0))).one()
    return count, latest


def with_link_counts(connection: Connection, albums: Sequence[AlbumRecord]) -> list[AlbumRecord]:
    """Return the albums with the numbers of their links."""
    counts: dict[str, int] = {}
    for uids in in_portions([album.uid for album in albums], _PORTION):
        query = select(Link.album_uid, func.count()).where(Link.album_uid.in_(uids)).group_by(Link.album_uid)
        counts.update((row[0], row[1]) for row in connection.execute(query))
    return [replace(album, link_count=counts.get(album.uid, 0)) for album in albums]


def find_link(session: Session, uid: str, album_uid: str = "") -> Link:
    """Return the link with this UID, which must belong to the album if one is given.

    Raises:
        NotFoundError: there is none.
    """
    link = session.scalar(select(Link).where(Link.uid == uid)) if ids.is_uid(uid, ids.LINK) else None
    if link is None or (album_uid and link.album_uid != album_uid):
        raise NotFoundError("there is no such link", field="link")
    return link


def new_password_hash(values: Mapping[str, Any]) -> str | None:
    """Return the hash of the password in these values, "" for no password; None if the values have none.

    It takes about 20 ms: call it before a write transaction.

    Raises:
        InvalidValueError: the password is too short or too long.
        BusyError: too many passwords are hashed at present.
    """
    password = values.get("password")
    return hash_password(check_link_password(password)) if password else password


def check_link_password(password: str) -> str:
    """Return the password; raise `InvalidValueError` if it is too short or too long."""
    if not limits.SHORTEST_LINK_PASSWORD <= len(password) <= limits.LONGEST_PASSWORD:
        least, most = limits.SHORTEST_LINK_PASSWORD, limits.LONGEST_PASSWORD
        msg = Message("the password of a link has {least} to {most} characters", least=least, most=most)
        raise InvalidValueError(of_field("Password", msg), field="Password")
    return password


def add_link(
    operation: Operation,
    album: Album,
    values: Mapping[str, Any],
    password_hash: str | None,
    settings: Settings,
    *,
    account: str = "",
) -> NewLink:
    """Make a link to an album, with these values as `LinkEditSchema` loads them.

    Args:
        album: must not be private.
        password_hash: from `new_password_hash`.
        account: the name or UID of the owner, for the command line, which has no account.

    Raises:
        InvalidValueError: a value is not valid, or the account may not share albums.
        NotFoundError: there is no such account.
        ConflictError: the album is private, takes no uploads, or has the largest number of links.
    """
    if album.private:
        raise ConflictError("the album is private: show it to all accounts before you share it", field="uid")
    session, now, who = operation.session, operation.now, operation.principal
    if (session.scalar(select(func.count()).where(Link.album_uid == album.uid)) or 0) >= MOST_LINKS:
        raise ConflictError(
            Message("an album has at most {most} links: end one that is no longer used", most=MOST_LINKS)
        )
    owner = find_user(session, account) if account else None
    if owner is not None and owner.role not in SHARERS:
        msg = f"{owner.name}: this account may not share albums, so its links would open nothing"
        raise InvalidValueError(msg, field="account")
    uid = ids.new_uid(ids.LINK, now)
    token = _token(settings, uid)
    link = Link(
        uid=uid,
        digest=ids.digest(token),
        slug=_slug(album.title),
        album_uid=album.uid,
        user_id=account_of(session, who) if owner is None else owner.id,
        created_by=maker_of(who),
        comment="",
        password_hash=password_hash or "",
        max_views=0,
        views=0,
        downloads=False,
        metadata_shown=False,
        uploads=False,
        created_at=now,
    )
    _write(link, values, now)
    _check_uploads(operation, link, album)
    session.add(link)
    session.flush()
    operation.record(Event.LINK_MADE, target=link.uid, detail=_described(link))
    return NewLink(link, token)


def change_link(operation: Operation, link: Link, values: Mapping[str, Any], password_hash: str | None) -> None:
    """Write values into a link, as `LinkEditSchema` loads them; another password ends its visits.

    Raises:
        InvalidValueError: a value is not valid.
        ConflictError: the album takes no uploads.
    """
    before, took_uploads = _described(link), link.uploads
    _write(link, values, operation.now)
    if not took_uploads:
        album = operation.session.scalar(select(Album).where(Album.uid == link.album_uid))
        _check_uploads(operation, link, album)
    if password_hash is not None:
        link.password_hash = password_hash
        _end_visits(operation.session, link.id)
    operation.session.flush()
    changed = "another password, " if password_hash else "no password, " if password_hash == "" else ""
    operation.record(Event.LINK_CHANGED, target=link.uid, detail=f"{changed}{before} to {_described(link)}")


def end_link(operation: Operation, link: Link) -> None:
    """End a link and its visits, at once on all workers."""
    operation.record(Event.LINK_ENDED, target=link.uid, detail=f"album {link.album_uid}")
    _end_visits(operation.session, link.id)
    operation.session.execute(delete(Link).where(Link.id == link.id))


def path_of(made: NewLink) -> str:
    """Return the path of a new link's page below the address of the service."""
    return f"/s/{made.token}/{quote(made.link.slug)}".rstrip("/")


def address_of(settings: Settings, link: Link) -> str:
    """Return the path of a link's page below the address of the service; empty after the service key was replaced."""
    token = _token(settings, link.uid)
    return path_of(NewLink(link, token)) if ids.digest(token) == link.digest else ""


def _token(settings: Settings, uid: str) -> str:
    return ids.link_token(derive_key(settings.secret_key, f"token of the link {uid}"))


def find_open(connection: Connection, token: str, now: datetime) -> FoundLink | None:
    """Return the link with this token; None if it has ended, had its last visit, or lost its album or account."""
    if not ids.is_link_token(token):
        return None
    columns = (Link.id, Link.uid, Link.slug, Link.album_uid, Link.password_hash, Link.max_views)
    row = connection.execute(
        select(*columns)
        .join(Album, Album.uid == Link.album_uid)
        .outerjoin(User, User.id == Link.user_id)
        .where(
            Link.digest == ids.digest(token),
            *_is_open(now),
            visible_albums(sees_private=False),
            or_(Link.user_id.is_(None), User.disabled.is_(False) & User.role.in_(SHARERS)),
        )
    ).first()
    return None if row is None else FoundLink(*row)


def open_visit(operation: Operation, link: FoundLink, origin: Origin, *, counts: bool) -> Login:
    """Open a visit by a link.

    Args:
        counts: false for a page that programs may fetch to preview an address: `count_visit` counts the visit when the
            browser comes back. This opens only links without a limit of visits.

    Raises:
        NotFoundError: the link has ended meanwhile, or had its last visit.
    """
    session, now = operation.session, operation.now
    same = Link.id == link.id, Link.password_hash == link.password_hash, *_is_open(now)
    if counts:
        counted = update(Link).where(*same).values(views=Link.views + 1, last_view_at=now).returning(Link.expires_at)
        row = session.execute(counted.execution_options(synchronize_session=False)).first()
    else:
        row = session.execute(select(Link.expires_at).where(*same, Link.max_views == 0)).first()
    if row is None:
        raise NotFoundError("there is no such link", field="token")
    _end_oldest_visits(session, link.id)
    secret, expires_at = ids.new_access_token(), now + timedelta(seconds=VISIT_SECONDS)
    visit = Credential(
        uid=ids.new_credential_uid(),
        kind=VISIT,
        digest=ids.digest(secret),
        name=link.uid,
        scope=_SCOPE,
        expires_at=expires_at if row.expires_at is None else min(expires_at, row.expires_at),
        last_used_at=now if counts else None,
        last_ip=origin.address,
        user_agent=origin.user_agent,
        created_at=now,
    )
    session.add(visit)
    session.flush()
    session.add(Visit(credential_id=visit.id, link_id=link.id))
    session.flush()
    return Login(secret, tokens.verify(session.connection(), secret, now))


def count_visit(session: Session, who: Principal, now: datetime) -> None:
    """Count a visit once, if `open_visit` has not counted it."""
    if tokens.touch(session, who, now):
        link = select(Visit.link_id).where(Visit.credential_id == who.credential_id).scalar_subquery()
        counted = update(Link).where(Link.id == link).values(views=Link.views + 1, last_view_at=now)
        session.execute(counted.execution_options(synchronize_session=False))


def _is_open(now: datetime) -> tuple[Any, ...]:
    return or_(Link.expires_at.is_(None), Link.expires_at > now), or_(Link.max_views == 0, Link.views < Link.max_views)


def _end_visits(session: Session, link_id: int) -> None:
    delete_credentials(session, Credential.id.in_(select(Visit.credential_id).where(Visit.link_id == link_id)))


def _end_oldest_visits(session: Session, link_id: int) -> None:
    """End the oldest visits of a link to make room for one more."""
    of_link = select(Visit.credential_id).where(Visit.link_id == link_id)
    newest_surplus = of_link.order_by(Visit.credential_id.desc()).offset(MOST_VISITS - 1).limit(1).scalar_subquery()
    oldest = of_link.where(Visit.credential_id <= newest_surplus).order_by(Visit.credential_id).limit(_MOST_ENDED)
    if ended := session.scalars(oldest).all():
        delete_credentials(session, Credential.id.in_(ended))


def _write(link: Link, values: Mapping[str, Any], now: datetime) -> None:
    for name in ("comment", "max_views", "downloads", "metadata_shown", "uploads"):
        if name in values:
            setattr(link, name, values[name])
    if "slug" in values:
        link.slug = _slug(values["slug"])
    if "expires" in values:
        link.expires_at = expiry(values["expires"] or NO_LIMIT, now)
    if link.downloads and not link.metadata_shown:
        msg = "CanDownload: originals contain their metadata, so a link with downloads must show it too: ShowMetadata"
        raise InvalidValueError(msg, field="CanDownload")
    link.updated_at = now


def _check_uploads(operation: Operation, link: Link, album: Album | None) -> None:
    """Refuse uploads to a smart album, or by a link that does not belong to the principal's account."""
    if not link.uploads:
        return
    if album is not None and album.filter:
        msg = "the query of a smart album decides which photos it has: visitors cannot add any"
        raise ConflictError(msg, field="CanUpload")
    if link.user_id is None:
        msg = "files of visitors count in the quota of the account that made the link, and this one has none"
        raise InvalidValueError(of_field("CanUpload", msg), field="CanUpload")
    who = operation.principal
    if who is not None and account_of(operation.session, who) != link.user_id:
        msg = "files of visitors would count in the quota of another account; make a link of your own"
        raise InvalidValueError(of_field("CanUpload", msg), field="CanUpload")


def maker_of(who: Principal | None) -> str:
    """Return the UID of the account or client that shares an album; empty for the command line."""
    return "" if who is None else who.user_uid or who.client_uid or who.credential_uid


def account_of(session: Session, who: Principal | None) -> int | None:
    """Return the id of the account whose deletion ends a new link or share; for a client, the id of its owner."""
    if who is None:
        return None
    if who.client_id is None:
        return who.user_id
    return session.scalar(select(Client.user_id).where(Client.id == who.client_id))


def _slug(text: str) -> str:
    return slug(text)[:_LONGEST_SLUG].strip("-")


def _described(link: Link) -> str:
    """Return the album and the rights of a link for the security log."""
    options = (("metadata", link.metadata_shown), ("downloads", link.downloads), ("uploads", link.uploads))
    rights = [name for name, is_allowed in options if is_allowed]
    until = f"until {link.expires_at:%Y-%m-%d %H:%M}" if link.expires_at else "without end"
    limits = f", at most {link.max_views} visits" if link.max_views else ""
    protected = ", password" if link.password_hash else ""
    return f"album {link.album_uid}, {' and '.join(rights) or 'pictures only'}, {until}{limits}{protected}"


def require_uploads(connection: Connection, who: Principal, album_uid: str, now: datetime) -> None:
    """Make sure that a visitor may add files to the album now: links may end while files arrive.

    Raises:
        InvalidTokenError: the visit or its link has ended.
        PermissionDeniedError: the link no longer allows uploads.
        NotFoundError: the visitor does not see the album, or it is a smart one.
    """
    present = tokens.verify_uid(connection, who.credential_uid, now)
    policy.decide(present, "shared.add")
    shown = select(Album.id).where(Album.uid == album_uid, Album.filter == "", visible_albums(sees_private=False))
    if present.shared is None or album_uid not in present.shared.albums or connection.scalar(shown) is None:
        raise not_shared()


def not_shared() -> NotFoundError:
    """Return the error of an album that is not shared with the account or visitor."""
    return NotFoundError("there is no such album among those that are shared with you", field="uid")


def bytes_of_today(connection: Connection, link_uid: str, now: datetime) -> int:
    """Return the bytes that visitors of a link may still add now.

    Raises:
        ThrottledError: the allowance of bytes or files is used up.
    """
    charges = [Charge(_FILES, link_uid), Charge(_MIBS, link_uid)]
    if wait := max(seconds_to_wait(connection, charge, now) for charge in charges):
        raise ThrottledError(wait, "files by this link")
    return units_left(connection, charges[1], now) * _MIB


def count_files(operation: Operation, link_uid: str, album_uid: str, number: int, size: int) -> None:
    """Count received files against the allowance of a link, and record them.

    Raises:
        ThrottledError: simultaneous uploads used it up.
    """
    session, now = operation.session, operation.now
    for allowance, units in ((_FILES, number), (_MIBS, -(-size // _MIB))):
        charge = Charge(allowance, link_uid, min(units, allowance.burst))
        if wait := take(session, charge, now):
            raise ThrottledError(wait, "files by this link")
    note = session.scalar(select(Link.comment).where(Link.uid == link_uid)) or ""
    received = f"{counted(number, 'file')} of {size / 1_000_000:.1f} MB to album {album_uid}"
    detail = f"{received}: {note[:_LONGEST_NOTE]}" if note else received
    operation.record(Event.LINK_UPLOADED, target=link_uid, detail=detail)
