"""`svc keys`: the keys that sign JWT access tokens, and the service key."""

from typing import Any

import click

from photosvc.auth import service_key
from photosvc.auth.audit import Event
from photosvc.auth.signing_keys import ALGORITHM, SigningKey
from photosvc.cli.group import LazyGroup, as_called, operating, with_database, with_service
from photosvc.cli.terminal import confirm, format_options, print_list, print_record, yes_option
from photosvc.records.fields import rfc3339
from photosvc.web.auditing import record_alone
from photosvc.web.service import Service

_COLUMNS = {
    "kid": "Key ID", "algorithm": "Algorithm", "signs": "Signs", "created_at": "Created",
    "published_until": "Published Until",
}  # fmt: skip
_REPLACED = {"fingerprint": "Fingerprint", "accounts": "Second Factors Encrypted", "lost": "Second Factors Lost"}


@click.group(cls=LazyGroup)
def keys() -> None:
    """List and rotate the keys that sign JWT access tokens, and replace the service key."""


@keys.command()
@format_options
@with_database
def ls(service: Service) -> None:
    """List the keys, the one that signs first. The first key is created when it is needed."""
    print_list(_COLUMNS, [_row(key) for key in service.signing_keys.existing()])


@keys.command()
@click.option("--service", "of_service", is_flag=True, help="Replace the service key instead.")
@click.option("--old-key-is-lost", is_flag=True, help="With --service: continue without the old key.")
@yes_option
@format_options
@with_service
def rotate(service: Service, of_service: bool, old_key_is_lost: bool, yes: bool) -> None:
    """Make a new key that signs from now on.

    Old keys stay published until all tokens that they signed have expired, at most 31 days.

    With --service, the service key is replaced: second factors are encrypted with the new key, and links to thumbnails
    and downloads end. Login sessions, app passwords and tokens stay valid. If the command is killed, run it again.
    --old-key-is-lost asks first.
    """
    if of_service:
        if old_key_is_lost:
            question = "Without the old key, no second factor can be read any more. Replace the service key?"
            confirm(question, yes=yes)
        _replace_service_key(service, lost=old_key_is_lost)
    elif old_key_is_lost:
        raise click.UsageError("--old-key-is-lost is for --service")
    else:
        service.require_schema()
        key = service.signing_keys.rotate()
        record_alone(Event.KEY_ROTATED, target=key.kid, detail="signing key")
        print_record(_COLUMNS, _row(key))


def _replace_service_key(service: Service, *, lost: bool) -> None:
    service.check_database(any_key=True)
    settings = service.settings
    with service_key.replacing(settings):
        with service.reading() as connection:
            stored = service_key.stored_fingerprint(connection)
        if stored is not None and not lost:
            service_key.check_key(settings, stored)
        if stored in {None, service_key.fingerprint(service_key.known_keys(settings)[0])}:
            service_key.add_key(settings)
        name = f"{service_key.fingerprint(service_key.known_keys(settings)[0]):016x}"
        with operating() as operation:
            replaced = service_key.encrypt_again(operation.session, settings, lost=lost)
            operation.record(Event.KEY_ROTATED, target=name, detail="service key")
    print_record(_REPLACED, {"fingerprint": name, "accounts": replaced.accounts, "lost": replaced.lost})
    if replaced.lost:
        line = "Accounts whose second factor is lost: svc users mod NAME --disable-2fa turns it off."
        click.echo(as_called(line), err=True)


def _row(key: SigningKey) -> dict[str, Any]:
    return {
        "kid": key.kid,
        "algorithm": ALGORITHM,
        "signs": key.published_until is None,
        "created_at": rfc3339(key.created_at),
        "published_until": None if key.published_until is None else rfc3339(key.published_until),
    }
