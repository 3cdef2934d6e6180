"""Limits of the searches of a request: a time, a turn when it is costly, and only while the client waits."""

from flask import request
from sqlalchemy import Connection

from photosvc.search.limits.errors import SearchTooLongError
from photosvc.search.limits.read import Read, begin_read, end_read, ended_by_limit
from photosvc.web.current import Service, current_service
from photosvc.web.requests.client_gone import ClientGone


def searching(owner: str, part: str = "q") -> "_Searching":
    """A connection as that of `Service.reading`, whose statements are ended at the limits of a search.

    Args:
        owner: whose turn a costly search takes, the `owner_uid` of the principal.
        part: the parameter that an error names when the request has no query.

    Raises:
        SearchTooLongError: by the block, when the search took too long.
        SearchesBusyError: by the block, when it is costly and too many such searches run.
        ClientGoneError: by the block, when the client closed the connection.

    """
    service = current_service()
    return _Searching(service, Read(service.limits, owner, ClientGone(request.environ), part, waits=True))


def searching_apart(service: Service, owner: str) -> "_Searching":
    """As `searching`, for a search that no request waits for.

    Raises:
        SearchTooLongError: by the block, when the search took too long.
        SearchesBusyError: by the block, when it is costly and too many such searches run.

    """
    return _Searching(service, Read(service.limits, owner, lambda: False, "q", waits=True))


def limiting(connection: Connection, owner: str, part: str = "q") -> "_Limiting":
    """Limits, as those of `searching`, for a search in a transaction that writes.

    It waits for no turn, because others would wait with it for the write lock.
    """
    service = current_service()
    return _Limiting(service, connection, Read(service.limits, owner, ClientGone(request.environ), part, waits=False))


class _Searching:
    """The block of `searching`. A class, because a generator takes longer."""

    __slots__ = ("_connection", "_outermost", "_read", "_reading", "_service")

    def __init__(self, service: Service, read: Read) -> None:
        self._service, self._read = service, read
        self._reading = service.reading()

    def __enter__(self) -> Connection:
        self._connection = connection = self._reading.__enter__()
        self._outermost = begin_read(connection, self._read)
        return connection

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._outermost:
            end_read(self._connection, self._read)
        self._reading.__exit__(kind, error, trace)
        if error is not None and self._outermost:
            _raise_if_ended(self._service, self._read, error)


class _Limiting:
    """The block of `limiting`."""

    __slots__ = ("_connection", "_outermost", "_read", "_service")

    def __init__(self, service: Service, connection: Connection, read: Read) -> None:
        self._service, self._connection, self._read = service, connection, read

    def __enter__(self) -> None:
        self._outermost = begin_read(self._connection, self._read)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._outermost:
            end_read(self._connection, self._read, goes_on=error is None)
            if error is not None:
                _raise_if_ended(self._service, self._read, error)


def _raise_if_ended(service: Service, read: Read, error: BaseException) -> None:
    """Raise the reason in place of the error by which a statement was ended."""
    if not ended_by_limit(error):
        return
    read.ended = read.ended or SearchTooLongError  # by the timeout of the database
    if (reason := read.error()) is not None:
        service.requests.add_ended_search(reason.reason)
        raise reason from error
