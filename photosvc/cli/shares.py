"""`svc shares`: albums that are shared with accounts."""

import click

from photosvc.cli.albums import uid_of_album
from photosvc.cli.group import LazyGroup, operating, with_database
from photosvc.cli.terminal import confirm, count_option, format_options, print_list, print_record, yes_option
from photosvc.core.accounts import CONTRIBUTOR, SHARE_ROLES, VIEWER
from photosvc.library.albums import album_named
from photosvc.library.shares import change_share, end_share, find_share, list_shares, share_album
from photosvc.records.albums import ShareSchema
from photosvc.web.service import Service

_COLUMNS = {
    "AlbumUID": "Album", "Name": "Account", "DisplayName": "Name", "Role": "Role", "AccountUID": "UID",
    "CreatedBy": "Created By", "CreatedAt": "Created",
}  # fmt: skip
_ROLES = click.Choice(SHARE_ROLES)


@click.group(cls=LazyGroup)
def shares() -> None:
    """Share albums with accounts. ALBUM is a UID or a whole title, ACCOUNT a name or a UID."""


@shares.command()
@click.argument("album", default="")
@count_option
@format_options
@with_database
def ls(service: Service, album: str, count: int) -> None:
    """List the accounts that ALBUM, or any album, is shared with, the latest first."""
    with service.reading(orm=True) as session:
        uid = album_named(session, album).uid if album else ""
        rows = ShareSchema(many=True).dump(list_shares(session, uid, limit=count))
    print_list(_COLUMNS, rows)


@shares.command()
@click.argument("album")
@click.argument("account")
@click.option("--role", "-r", type=_ROLES, default=VIEWER, show_default=True, help="Contributors add photos, too.")
@format_options
@with_database
def add(service: Service, album: str, account: str, role: str) -> None:
    """Share ALBUM with ACCOUNT."""
    uid = uid_of_album(service, album)
    with operating() as operation:
        album_row = album_named(operation.session, uid)
        record = ShareSchema().dump(share_album(operation, album_row, account, contributes=role == CONTRIBUTOR))
    print_record(_COLUMNS, record)


@shares.command()
@click.argument("album")
@click.argument("account")
@click.option("--role", "-r", type=_ROLES, required=True, help="Contributors add photos, too.")
@format_options
@with_database
def mod(service: Service, album: str, account: str, role: str) -> None:
    """Change the role of ACCOUNT in ALBUM."""
    uid = uid_of_album(service, album)
    with operating() as operation:
        share = find_share(operation.session, uid, account)
        change_share(operation, album_named(operation.session, uid), share, contributes=role == CONTRIBUTOR)
        record = ShareSchema().dump(share)
    print_record(_COLUMNS, record)


@shares.command()
@click.argument("album")
@click.argument("account")
@yes_option
@with_database
def rm(service: Service, album: str, account: str, yes: bool) -> None:
    """Share ALBUM with ACCOUNT no longer."""
    uid = uid_of_album(service, album)
    with service.reading(orm=True) as session:
        name = find_share(session, uid, account).user.name
    confirm(f"Share the album with {name} no longer?", yes=yes)
    with operating() as operation:
        end_share(operation, find_share(operation.session, uid, account))
    click.echo(f"The album is shared with {name} no longer.", err=True)
