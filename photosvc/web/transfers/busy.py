"""Requests that occupy a thread for long: only some at a time, of all clients and of each."""

from collections.abc import Callable
from http import HTTPStatus

from photosvc.core.errors import PhotosvcError
from photosvc.pictures.slots import Slots
from photosvc.web.protector import principal


class ServerBusyError(PhotosvcError):
    """The server does as much of this as it may: ask again."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 5


class TooManyAtOnceError(PhotosvcError):
    """You are doing several of these already: wait until one of them is complete."""

    status = HTTPStatus.TOO_MANY_REQUESTS
    retry_after = 5


def take_slot(slots: Slots, busy: type[ServerBusyError], too_many: type[TooManyAtOnceError]) -> Callable[[], None]:
    """Take a slot for the principal of the request; gives what frees it.

    Raises:
        ServerBusyError: the one given; this process has no slot left.
        TooManyAtOnceError: the one given; the principal has no slot left.

    """
    free = slots.take(principal().owner_uid)
    if free is None:
        raise busy if slots.is_full else too_many
    return free
