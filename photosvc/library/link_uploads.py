"""Uploads by the visitors of a public link: the right to add files to its album, and their number and size in a day.

The files count in the quota of the account that made the link. Their limits are buckets, as those of failures are: what
is used of a day's allowance comes back evenly, so that a link is never closed for a whole day.
"""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection, select

from photosvc.auth import policy, tokens
from photosvc.auth.audit_log import Event
from photosvc.auth.errors import ThrottledError
from photosvc.auth.operation import Operation
from photosvc.auth.principal import Principal
from photosvc.auth.throttle import Allowance, Charge, seconds_to_wait, take, units_left
from photosvc.core.errors import NotFoundError
from photosvc.core.words import counted
from photosvc.models import Album, Link
from photosvc.search.reading.compile import visible_albums

_MIB: Final = 1 << 20
#: Files by one link: the guests of a large party add some thousand pictures in a day, and each file costs a
#: transaction, a row, and reading by the index.
_FILES: Final = Allowance("link-files", burst=4000, seconds=21)
#: MiB by one link: the same party's pictures of 5 MB. Without a quota of the account, only the disk would be a limit.
_MIBS: Final = Allowance("link-mib", burst=20 * 1024, seconds=4)
#: Characters of the note of a link in the security log, whose texts are short.
_LONGEST_NOTE: Final = 60


def require_uploads(connection: Connection, who: Principal, album_uid: str, now: datetime) -> None:
    """Make sure that a visitor may add files to the album at this moment: links may end while files arrive.

    Raises:
        InvalidTokenError: the visit has ended, with its link or alone.
        PermissionDeniedError: the link takes no files any more.
        NotFoundError: the visitor does not see the album, or its query decides which photos it has.
    """
    present = tokens.verify_uid(connection, who.credential_uid, now)
    policy.decide(present, "shared.add")
    shown = select(Album.id).where(Album.uid == album_uid, Album.filter == "", visible_albums(sees_private=False))
    if present.shared is None or album_uid not in present.shared.albums or connection.scalar(shown) is None:
        msg = "there is no such album among those that are shared with you"
        raise NotFoundError(msg, field="uid")


def bytes_of_today(connection: Connection, link_uid: str, now: datetime) -> int:
    """Return the bytes that visitors of a link may still add now.

    Raises:
        ThrottledError: there are none, or no files.
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
    what = f"{counted(number, 'file')} of {size / 1_000_000:.1f} MB to album {album_uid}"
    detail = f"{what}: {note[:_LONGEST_NOTE]}" if note else what
    operation.record(Event.LINK_UPLOADED, target=link_uid, detail=detail)
