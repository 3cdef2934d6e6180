"""`svc locks`: the locks of WebDAV clients."""

from urllib.parse import quote, unquote

import click
from sqlalchemy import delete, func, or_, select

from photosvc.cli.group import LazyGroup, with_database
from photosvc.cli.terminal import confirm, count_option, format_options, print_list, yes_option
from photosvc.core.errors import NotFoundError
from photosvc.core.message import counted
from photosvc.models import DavLock, User
from photosvc.web.service import Service

_COLUMNS = {
    "Path": "Path", "Account": "Account", "Scope": "Scope", "Depth": "Depth", "ExpiresAt": "Expires", "Token": "Token",
}  # fmt: skip


@click.group(cls=LazyGroup)
def locks() -> None:
    """List and end the locks of WebDAV clients."""


@locks.command()
@count_option
@format_options
@with_database
def ls(service: Service, count: int) -> None:
    """List the locks by path. Clients that are at work refresh theirs, and change its end by that."""
    query = select(DavLock, User.name).outerjoin(User, User.uid == DavLock.user_uid)
    query = query.where(DavLock.expires_at > service.now()).order_by(DavLock.root, DavLock.token).limit(count)
    with service.reading(orm=True) as session:
        rows = [
            {
                "Path": unquote(lock.root),
                "Account": name or "",
                "Scope": "exclusive" if lock.exclusive else "shared",
                "Depth": "infinity" if lock.deep else "0",
                "ExpiresAt": lock.expires_at,
                "Token": lock.token,
            }
            for lock, name in session.execute(query)
        ]
    print_list(_COLUMNS, rows)


@locks.command()
@click.argument("lock")
@yes_option
@with_database
def rm(service: Service, lock: str, yes: bool) -> None:
    """End locks. LOCK is a token of `svc locks ls`, or the path of a file or folder: all locks on it end."""
    chosen = or_(DavLock.token == lock, DavLock.root == "/" + quote(lock.strip("/")))
    with service.reading(orm=True) as session:
        number = session.scalar(select(func.count()).select_from(DavLock).where(chosen)) or 0
    if not number:
        raise NotFoundError(f"there is no lock {lock[:200]}", field="LOCK")
    confirm(f"End {counted(number, 'lock')}? What its client has not stored yet is refused then.", yes=yes)
    with service.writing() as session:
        session.execute(delete(DavLock).where(chosen))
    click.echo(f"{counted(number, 'lock')} ended.", err=True)
