"""Requests that send files: each occupies a thread until its last byte, so only some are read at the same time."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from photosvc.core.errors import PermissionDeniedError
from photosvc.library.staging import Staging
from photosvc.library.staging.errors import ReadOnlyError
from photosvc.web.current import current_service
from photosvc.web.protector import principal
from photosvc.web.transfers.busy import ServerBusyError, TooManyAtOnceError, take_slot


class ReceptionsBusyError(ServerBusyError):
    """The server receives as many files as it may: send it again."""


class TooManyReceptionsError(TooManyAtOnceError):
    """You are sending several files already: wait until one of them is complete."""


class Sender(NamedTuple):
    """An account that sends files."""

    user_id: int
    staging: Staging


def sender() -> Sender:
    """Who sends files in this request.

    Raises:
        ReadOnlyError: the service accepts no files.
        PermissionDeniedError: the credential belongs to no account.

    """
    settings = current_service().settings
    if settings.readonly:
        raise ReadOnlyError
    user_id = principal().user_id
    if user_id is None:
        raise PermissionDeniedError
    return Sender(user_id, Staging(settings.originals))


@contextmanager
def receiving() -> Iterator[None]:
    """Hold one of the slots for requests that send files.

    Raises:
        ReceptionsBusyError: this process has no slot left.
        TooManyReceptionsError: the principal has no slot left.

    """
    free = take_slot(current_service().receptions, ReceptionsBusyError, TooManyReceptionsError)
    try:
        yield
    finally:
        free()
