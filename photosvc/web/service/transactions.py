"""The transactions of a request or command: where they begin and end, and that there is one at a time."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from flask import g, has_request_context
from sqlalchemy import Connection, Engine
from sqlalchemy.orm import Session

from photosvc.auth.audit import lines
from photosvc.models.database.transactions import lock_library, open_reader, session_on, write_if_free, write_session
from photosvc.web.service.streamed import StreamedRead

#: What holds the open transaction, a read connection or a writing session: its name in `flask.g`.
_OPEN = "photosvc_open"
#: The read of a streamed answer, which closes it: its name in `flask.g`.
_STREAMED = "photosvc_streamed"


class Transactions:
    """Transactions on the database of a service.

    A request or command has one at a time: with two, it could wait for itself, for the write lock or for a second
    connection of the pool. The session of a host app is never used.
    """

    __slots__ = ()

    engine: Callable[[], Engine]

    def reading(self) -> "_Reading":
        """A connection in a read transaction, all of whose statements see the same state of the database.

        Within a request, the transaction stays open after the block: the token check and the view share it. It ends
        with the request, at an exception, or when a write transaction begins. Elsewhere it ends with the block.

        Raises:
            RuntimeError: a write transaction is open.

        """
        return _Reading(self)

    @contextmanager
    def loading(self) -> Iterator[Session]:
        """As `reading`, with a session to load ORM objects by; changes to them are not stored."""
        with self.reading() as connection, session_on(connection) as session:
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A session in a write transaction: committed at the end of the block, rolled back by an exception.

        Raises:
            RuntimeError: a write transaction is open.

        """
        self.end_reading()
        with write_session(self.engine()) as session:
            g.photosvc_open = session
            try:
                yield session
            finally:
                g.pop(_OPEN, None)
        lines.log_committed(session)

    @contextmanager
    def changing(self) -> Iterator[Session]:
        """As `writing`, for changes of photos and albums: no other process changes any meanwhile.

        Raises:
            RuntimeError: a write transaction is open.

        """
        with self.writing() as session:
            lock_library(session)
            yield session

    def write_if_free(self, write: Callable[[Session], object], *, lasting: bool = True) -> bool:
        """Do and commit a write that may be left out; whether it was done.

        It is left out when other writers hold the lock for over 50 ms.

        Args:
            write: gets a session in a write transaction.
            lasting: whether it must outlast a loss of power.

        Raises:
            RuntimeError: a write transaction is open.

        """
        self.end_reading()
        return write_if_free(self.engine(), write, lasting=lasting)

    def end_reading(self) -> None:
        """End the read transaction, if there is one.

        Raises:
            RuntimeError: a write transaction is open.

        """
        if isinstance(g.get(_OPEN), Session):
            raise _already_writing()
        self.close()

    def keep_open(self) -> StreamedRead:
        """Leave the read connection to a streamed answer, which closes it."""
        g.photosvc_streamed = read = StreamedRead(g.pop(_OPEN))
        return read

    def close(self, error: BaseException | None = None) -> None:
        """End the open session or connection without a commit; after an error, a streamed answer is not sent either."""
        opened: Connection | Session | None = g.pop(_OPEN, None)
        if opened is not None:
            opened.close()
        if error is not None and _STREAMED in g:
            g.photosvc_streamed.close()


class _Reading:
    """The block of `Transactions.reading`. A class, because a generator costs a page of ten results 2 % of its time."""

    __slots__ = ("_transactions",)

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def __enter__(self) -> Connection:
        opened: Connection | Session | None = g.get(_OPEN)
        if opened is None:
            g.photosvc_open = opened = open_reader(self._transactions.engine())
        elif isinstance(opened, Session):
            raise _already_writing()
        return opened

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not None or not has_request_context():
            self._transactions.close()


def _already_writing() -> RuntimeError:
    return RuntimeError("a write transaction is open already: use its session")
