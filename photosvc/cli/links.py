"""`svc links`: public links to albums."""

from typing import Any

import click

from photosvc.cli.albums import uid_of_album
from photosvc.cli.group import LazyGroup, operating, with_database
from photosvc.cli.terminal import (
    Duration,
    ask_password,
    confirm,
    count_option,
    format_options,
    options,
    print_list,
    print_record,
    printing_secret,
    require_stdout,
    yes_option,
)
from photosvc.core.errors import InvalidValueError
from photosvc.library.albums import album_named
from photosvc.library.links import (
    add_link,
    change_link,
    check_link_password,
    end_link,
    find_link,
    list_links,
    new_password_hash,
    path_of,
)
from photosvc.records.albums import LinkEditSchema, LinkSchema
from photosvc.records.limits import LINK_VISITS
from photosvc.web.contract import load_values
from photosvc.web.service import Service

_COLUMNS = {
    "UID": "UID", "ShareUID": "Album", "Slug": "Slug", "ExpiresAt": "Expires", "Views": "Visits",
    "MaxViews": "Most Visits", "LastViewAt": "Last Visit", "VerifyPassword": "Password", "ShowMetadata": "Metadata",
    "CanDownload": "Downloads", "CanUpload": "Uploads", "Comment": "Comment", "CreatedBy": "Created By",
    "CreatedAt": "Created",
}  # fmt: skip
_SECRET = {"Token": "Token", "Address": "Address"}


#: The options for the values of a link.
_link_options = options(
    click.option("--expires", "-e", type=Duration(), metavar="LIFETIME", help="Seconds, or 30d; 0 for no end."),
    click.option("--max-views", type=click.IntRange(0, LINK_VISITS), help="Maximum number of visits; 0: any number."),
    click.option("--metadata/--no-metadata", "metadata_shown", default=None, help="Show places, people, texts."),
    click.option("--download/--no-download", "downloads", default=None, help="Allow downloads of originals."),
    click.option("--upload/--no-upload", "uploads", default=None, help="Let visitors add photos to the album."),
    click.option("--ask-password", "asks", is_flag=True, help="Ask for a password that visitors must enter."),
    click.option("--password-stdin", is_flag=True, help="Read the password from standard input."),
    click.option("--slug", help="Readable end of the address; by default the title of the album."),
    click.option("--comment", help="A note about the link."),
)


@click.group(cls=LazyGroup)
def links() -> None:
    """Make, list, change and end public links to albums. ALBUM is a UID or a whole title."""


@links.command()
@click.argument("album", default="")
@count_option
@format_options
@with_database
def ls(service: Service, album: str, count: int) -> None:
    """List the links of ALBUM, or of all albums, the latest first. Tokens are not stored."""
    with service.reading(orm=True) as session:
        uid = album_named(session, album).uid if album else ""
        rows = LinkSchema(many=True).dump(list_links(session, uid, limit=count))
    print_list(_COLUMNS, rows)


@links.command()
@click.argument("album")
@_link_options
@click.option(
    "--account",
    default="",
    help="Account that the link belongs to; uploads count in its quota.",
)
@format_options
@with_database
def add(
    service: Service,
    /,
    album: str,
    asks: bool,
    password_stdin: bool,
    account: str,
    **given: Any,  # noqa: ANN401
) -> None:
    """Make a link to an album. Its token is shown only now."""
    require_stdout()
    uid = uid_of_album(service, album)
    values = _values(given)
    password_hash = new_password_hash(_with_password(values, ask=asks, from_stdin=password_stdin))
    with operating() as operation:
        shared = album_named(operation.session, uid)
        new_link = add_link(operation, shared, values, password_hash, service.settings, account=account)
        address = f"{service.settings.base_url or service.url_prefix}{path_of(new_link)}"
        record = {**LinkSchema().dump(new_link.link), "Token": new_link.token, "Address": address}
    with printing_secret(lambda operation: end_link(operation, find_link(operation.session, record["UID"]))):
        print_record({**_SECRET, **_COLUMNS}, record)


@links.command()
@click.argument("link")
@_link_options
@click.option("--no-password", is_flag=True, help="Ask visitors for no password any more.")
@format_options
@with_database
def mod(
    service: Service,
    /,
    link: str,
    asks: bool,
    password_stdin: bool,
    no_password: bool,
    **given: Any,  # noqa: ANN401
) -> None:
    """Change a link, by its UID. Another password ends its visits."""
    if no_password and (asks or password_stdin):
        raise InvalidValueError("--no-password: give either this or a password", field="--no-password")
    with service.reading(orm=True) as session:
        find_link(session, link)
    values = _values(given)
    password_hash = (
        "" if no_password else new_password_hash(_with_password(values, ask=asks, from_stdin=password_stdin))
    )
    with operating() as operation:
        link_row = find_link(operation.session, link)
        change_link(operation, link_row, values, password_hash)
        record = LinkSchema().dump(link_row)
    print_record(_COLUMNS, record)


@links.command()
@click.argument("link")
@yes_option
@with_database
def rm(service: Service, link: str, yes: bool) -> None:
    """End a link, by its UID: it opens nothing from then on."""
    with service.reading(orm=True) as session:
        slug = find_link(session, link).slug
    confirm(f"End the link {slug}?", yes=yes)
    with operating() as operation:
        end_link(operation, find_link(operation.session, link))
    click.echo(f"The link {slug} has ended.", err=True)


def _values(options_given: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given, as the record of a link loads them."""
    names = {
        "max_views": "MaxViews",
        "metadata_shown": "ShowMetadata",
        "downloads": "CanDownload",
        "uploads": "CanUpload",
    }
    named = {names.get(name, name.title()): value for name, value in options_given.items() if value is not None}
    return load_values(LinkEditSchema(), named)


def _with_password(values: dict[str, Any], *, ask: bool, from_stdin: bool) -> dict[str, Any]:
    if not ask and not from_stdin:
        return values
    return {**values, "password": ask_password(check_link_password, from_stdin=from_stdin)}
