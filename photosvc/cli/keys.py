"""`svc keys`: the keys that sign metadata and JWT access tokens."""

from typing import TYPE_CHECKING, Any

import click

from photosvc.cli.group import LazyGroup, with_service
from photosvc.cli.report import format_options, print_list, print_record

if TYPE_CHECKING:
    from photosvc.auth.oauth.signing_keys import SigningKey
    from photosvc.web.current import Service

_COLUMNS = {
    "kid": "Key ID",
    "algorithm": "Algorithm",
    "signs": "Signs",
    "created_at": "Created",
    "published_until": "Published Until",
}


@click.group(cls=LazyGroup)
def keys() -> None:
    """List and rotate the keys that sign metadata and JWT access tokens."""


@keys.command()
@format_options()
@with_service
def ls(service: "Service") -> None:
    """List the keys, the signing one first. The first key is created when it is needed."""
    print_list(_COLUMNS, [_row(key) for key in service.signing_keys.existing()])


@keys.command()
@format_options()
@with_service
def rotate(service: "Service") -> None:
    """Make a new key that signs from now on.

    The old ones stay published until all tokens they signed have expired, at most 31 days.
    """
    from photosvc.auth.audit.events import Event
    from photosvc.web.auditing import record_alone

    key = service.signing_keys.rotate()
    record_alone(Event.KEY_ROTATED, target=key.kid, detail="signing key")
    print_record(_COLUMNS, _row(key))


def _row(key: "SigningKey") -> dict[str, Any]:
    from photosvc.auth.oauth.signing_keys import ALGORITHM
    from photosvc.records.fields import rfc3339

    return {
        "kid": key.kid,
        "algorithm": ALGORITHM,
        "signs": key.published_until is None,
        "created_at": rfc3339(key.created_at),
        "published_until": None if key.published_until is None else rfc3339(key.published_until),
    }
