"""`svc albums`: albums of people, and the folders, months and states of the library."""

from typing import Any

import click

from photosvc.cli.group import LazyGroup, with_database
from photosvc.cli.terminal import confirm, count_option, format_options, print_list, print_record, yes_option
from photosvc.core.errors import NotFoundError
from photosvc.core.message import counted
from photosvc.library.album_photos import add_photos, select_photos
from photosvc.library.albums import album_named, change_members, delete_whole, make_album
from photosvc.records.albums import AlbumResultSchema
from photosvc.search.reading.albums import KnownAlbums, parse_albums_request
from photosvc.search.reading.albums_named import kind_of
from photosvc.search.reading.selection import Selection
from photosvc.web.service import Service

_LISTED = {"UID": "UID", "Title": "Title", "PhotoCount": "Photos", "Favorite": "Favorite", "Private": "Private"}
_SHOWN = {
    **_LISTED, "Type": "Type", "Description": "Description", "Filter": "Query", "Order": "Order",
    "CreatedAt": "Created", "UpdatedAt": "Updated",
}  # fmt: skip


@click.group(cls=LazyGroup)
def albums() -> None:
    """List, show, fill and delete albums. ALBUM is a UID or a whole title."""


@albums.command()
@click.argument("text", default="")
@click.option("--type", "kind", default="album", show_default=True, help="album, folder, month or state.")
@click.option("--order", default="", help="Sort order, as in the API.")
@count_option
@format_options
@with_database
def ls(service: Service, text: str, kind: str, order: str, count: int) -> None:
    """List albums, private ones included; with TEXT, only albums with this text in their titles."""
    request = parse_albums_request({"type": kind, "order": order, "q": text}, count, 0)
    with service.reading() as connection:
        found = service.only(KnownAlbums).page(
            connection, request, sees_private=True, today=service.today(), steps=None
        )
    print_list(_LISTED, AlbumResultSchema(many=True).dump(found))


@albums.command()
@click.argument("album")
@format_options
@with_database
def show(service: Service, album: str) -> None:
    """Show one album."""
    uid = album if kind_of(album) else uid_of_album(service, album)
    print_record(_SHOWN, _record(service, uid))


@albums.command()
@click.argument("album")
@click.argument("query", nargs=-1, required=True)
@click.option("--new", "is_new", is_flag=True, help="Create an album with this title.")
@yes_option
@format_options
@with_database
def add(service: Service, album: str, query: tuple[str, ...], is_new: bool, yes: bool) -> None:
    """Add the photos that QUERY finds to an album, private ones included."""
    selection = Selection(query=" ".join(query))
    with service.reading(orm=True) as session:
        existing = None if is_new else album_named(session, album)
        uid, title = ("", album) if existing is None else (existing.uid, existing.title)
        photos = list(select_photos(session, selection, service.today(), sees_private=True))
    confirm(f"Add {counted(len(photos), 'photo')} to {'the new album' if is_new else 'the album'} {title}?", yes=yes)
    now = service.now()
    if is_new:
        with service.writing(library=True) as session:
            uid = make_album(session, {"title": album}, now).uid
    added = change_members(service.writing, uid, photos, add_photos, now, sees_private=True)
    click.echo(f"{counted(len(added), 'photo')} added.", err=True)
    print_record(_SHOWN, _record(service, uid))


@albums.command()
@click.argument("album")
@yes_option
@with_database
def rm(service: Service, album: str, yes: bool) -> None:
    """Delete an album. Its photos stay in the library."""
    with service.reading(orm=True) as session:
        album_row = album_named(session, album)
        uid, title = album_row.uid, album_row.title
    confirm(f"Delete the album {title}? Its photos stay.", yes=yes)
    delete_whole(service.writing, uid, service.now(), sees_private=True)
    click.echo(f"The album {title} is deleted.", err=True)


def uid_of_album(service: Service, name: str) -> str:
    """Return the UID of the album with this UID or whole title."""
    with service.reading(orm=True) as session:
        return album_named(session, name).uid


def _record(service: Service, uid: str) -> dict[str, Any]:
    with service.reading() as connection:
        found = service.only(KnownAlbums).find(connection, uid, sees_private=True, today=service.today())
    if found is None:
        raise NotFoundError(f"there is no album {uid}", field="album")
    record: dict[str, Any] = AlbumResultSchema().dump(found)
    return record
