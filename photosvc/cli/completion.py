"""The words that shells complete: names in the library, such as accounts and albums, and words of the commands."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final

import click

from photosvc.cli.group import find_app

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from photosvc.web.current import Service


#: The most completions that a shell shows.
_MOST: Final = 100
#: Returns the values that begin with the typed text, each with a name or description for people.
Finder = Callable[["Service", str], Iterable[tuple[str, str]]]
Completer = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]


def completing(find: Finder) -> Completer:
    """Make the `shell_complete` of a parameter from a finder of its values."""

    def complete(ctx: click.Context, _parameter: click.Parameter, typed: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        from photosvc.web.current import current_service

        try:
            with find_app(ctx).app_context():
                service = current_service()
                service.require_schema()
                return [CompletionItem(value, help=shown or None) for value, shown in find(service, typed)]
        except Exception:  # noqa: BLE001 - a completing shell cannot show errors
            return []

    return complete


def _users(service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from photosvc.auth.accounts import list_users

    with service.reading(orm=True) as session:
        found = list_users(session, search=typed, limit=_MOST)
        return [(user.name, user.role) for user in found if user.name.startswith(typed.lower())]


def _clients(service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from photosvc.auth.clients import list_clients

    with service.reading(orm=True) as session:
        every = list_clients(session, search="", limit=_MOST * 10)
        return _beginning(typed, ((client.uid, client.name) for client in every))


def _credentials(service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from photosvc.auth.credentials import list_credentials

    with service.reading(orm=True) as session:
        every = list_credentials(session, search="", limit=_MOST * 10)
        return _beginning(typed, ((one.uid, one.name) for one in every))


def _albums(service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from sqlalchemy import select

    from photosvc.models import Album

    with service.reading(orm=True) as session:
        query = select(Album.uid, Album.title).where(Album.deleted_at.is_(None)).order_by(Album.title)
        return _beginning(typed, session.execute(query.limit(_MOST * 10)).tuples())


def _links(service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from photosvc.library.links import list_links

    with service.reading(orm=True) as session:
        return _beginning(typed, ((link.uid, link.slug) for link in list_links(session, limit=_MOST * 10)))


def _scopes(_service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from photosvc.auth.scopes import SCOPES

    return [(scope.name, scope.description) for scope in SCOPES if scope.name.startswith(typed)]


def _orders(_service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    from photosvc.search.reading.request import ORDERS

    return [(name, "") for name in ORDERS if name.startswith(typed)]


def _folders(service: "Service", typed: str) -> Iterable[tuple[str, str]]:
    """Find the folders of originals at the next level."""
    from itertools import islice

    from photosvc.index.exclusions import is_left_out

    root, (inner, _, begun) = service.settings.originals.resolve(), typed.rpartition("/")
    folder = (root / inner).resolve()
    if not folder.is_relative_to(root):
        return []
    names = (path.name for path in folder.iterdir() if path.is_dir() and path.name.startswith(begun))
    prefix = f"{inner}/" if inner else ""
    return sorted((f"{prefix}{name}", "") for name in islice((one for one in names if not is_left_out(one)), _MOST))


def _beginning(typed: str, pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the pairs of which a text begins as typed."""
    return [pair for pair in pairs if any(text.lower().startswith(typed.lower()) for text in pair)][:_MOST]


complete_users = completing(_users)
complete_clients = completing(_clients)
complete_credentials = completing(_credentials)
complete_albums = completing(_albums)
complete_links = completing(_links)
complete_scopes = completing(_scopes)
complete_orders = completing(_orders)
complete_folders = completing(_folders)
