"""Collects requests and sends the end of slow answers in the loop, and uses threads only for the work between.

gunicorn's threaded worker gives a thread to each new connection before it has sent anything, and waits for clients to
close their end in the loop that accepts connections. Here the loop collects a request until its head and a small body
are complete, sends the end of answers that clients are slow to take, and waits for the close of many connections.

It extends gunicorn.workers.gthread, whose methods setup.cfg pins to one major version.
"""

import errno
import gc
import importlib
import resource
import socket
import struct
import time
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any, Final

from flask import Flask
from gunicorn.errors import AppImportError
from gunicorn.http2 import negotiation
from gunicorn.workers.gthread import TConn, ThreadWorker
from sqlalchemy.exc import SQLAlchemyError

from photosvc.auth.accounts import passwords
from photosvc.auth.errors import OtherServiceKeyError
from photosvc.core.errors import SchemaError, SettingError
from photosvc.serving.arrival import is_complete
from photosvc.serving.budget import WaitBudget
from photosvc.serving.client import STALL_SECONDS, Client
from photosvc.serving.lingering import Lingering
from photosvc.web.auditing import write_last_refusals
from photosvc.web.current import EXTENSION, Service

#: Seconds that a client has to send the head of a request and a small body.
REQUEST_SECONDS: Final = 10.0
_RECEIVE: Final = 64 << 10
#: Bytes of answers that clients are slow to take; above, the client that waits longest is dropped.
_MOST_UNSENT: Final = 64 << 20
#: Seconds that a thread discards a body which the application did not read, before it ends the connection instead.
_DISCARD_SECONDS: Final = 0.1
#: Connections below the limit of gunicorn at which those that wait longest for their client are dropped, so that new
#: ones are always accepted; and descriptors that the application needs for itself.
_SPARE_CONNECTIONS: Final = 50
_OWN_DESCRIPTORS: Final = 200
#: Seconds to wait when the process may open no more files and no connection can be dropped.
_SHORT_OF_FILES_SECONDS: Final = 0.05
#: Seconds without a byte after which a thread gives up reading a large body.
_STALL: Final = struct.pack("ll", STALL_SECONDS, 0)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """Threads only work on requests that have arrived."""

    @classmethod
    def setup(cls) -> None:
        """Import the service in the master process, before it forks: workers share the memory of its modules.

        Objects that the collector of cycles looks at are written to, and with that copied by each worker. It leaves
        those alone that are frozen.
        """
        importlib.import_module("photosvc.app")
        gc.collect()
        gc.freeze()

    def init_process(self) -> None:
        """Serve until the end of the process."""
        self._lingering = Lingering()
        self._unsent: dict[TConn, Future[object]] = {}
        self._budget = WaitBudget(self.cfg.threads)
        passwords.let_wait(self.cfg.threads)
        self._is_short_of_files = False
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = min(self.worker_connections - _SPARE_CONNECTIONS, descriptors - _OWN_DESCRIPTORS)
        self._most_connections = max(self.cfg.threads, most)
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the app; what its operator has to mend ends the server with one sentence instead of a traceback.

        Raises:
            AppImportError: a setting is not valid, or the database belongs to another service key.

        """
        try:
            super().load_wsgi()
            _check_service(self.wsgi)
        except (SettingError, OtherServiceKeyError) as error:
            raise AppImportError(error.message) from None

    def run(self) -> None:
        """Serve until a signal ends the process; what it only counted of the security log is then written."""
        try:
            super().run()
        finally:
            # Anything else is a middleware around an app, or no app of ours.
            if isinstance(self.wsgi, Flask):
                write_last_refusals(self.wsgi)

    def accept(self, listener: socket.socket) -> None:
        """Take a connection, and wait for its request without a thread."""
        try:
            client, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            if error.errno not in {errno.EMFILE, errno.ENFILE}:
                raise
            self._is_short_of_files = True
            return
        client = Client(client, self._budget)
        self.nr_conns += 1
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            client.setsockopt(socket.SOL_SOCKET, option, _STALL)
        connection = TConn(self.cfg, client, address, listener.getsockname())
        connection.close = partial(self._close, connection)
        if self.cfg.is_ssl or negotiation.prior_knowledge_allowed(self.cfg, address):
            connection.sock.setblocking(True)
            self.enqueue_req(connection)
        else:
            self._await_request(connection)

    def on_client_socket_readable(self, conn: TConn, client: socket.socket) -> None:
        """The next request on a kept connection."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        if self.cfg.is_ssl or conn.is_http2:
            self.enqueue_req(conn)
        else:
            self._await_request(conn)

    def handle(self, conn: TConn) -> object:
        """Answer a request; runs in a thread."""
        received = getattr(conn, "received", b"")
        if received:
            conn.sock.early += received
            conn.received = b""
        return super().handle(conn)

    def handle_request(self, req: Any, conn: TConn) -> object:  # noqa: ANN401 - gunicorn has no types
        """Answer one request of a connection; runs in a thread."""
        if self.cfg.is_ssl:
            return super().handle_request(req, conn)
        conn.sock.begin_answer()
        try:
            return super().handle_request(req, conn)
        finally:
            conn.sock.end_answer()

    def _keepalive_after(self, conn: TConn, keepalive: object) -> bool:
        """Whether the connection can have another request: not while a body that the app left unread still arrives."""
        deadline = time.monotonic() + _DISCARD_SECONDS
        return bool(keepalive and conn.parser.finish_body(deadline=deadline))

    def finish_request(self, conn: TConn, fs: Future[object]) -> None:
        """Send the end of the answer, if the client was slow to take it, and then go on with the connection."""
        if self.cfg.is_ssl or not conn.sock.unsent:
            self._go_on(conn, fs)
            return
        conn.sock.setblocking(False)
        conn.sock.wait_for_client()
        self._unsent[conn] = fs
        self.poller.register(conn.sock, EVENT_WRITE, partial(self._send_unsent, conn))
        while sum(len(other.sock.unsent) for other in self._unsent) > _MOST_UNSENT:
            self._give_up(next(iter(self._unsent)))

    def _send_unsent(self, conn: TConn, client: Client) -> None:
        try:
            if not client.send_unsent():
                return
        except OSError:
            self._give_up(conn)
            return
        self.poller.unregister(client)
        self._go_on(conn, self._unsent.pop(conn))

    def _go_on(self, conn: TConn, fs: Future[object]) -> None:
        """Wait for the next request of the connection, take the one that came with the last, or close it."""
        if not self.cfg.is_ssl and conn.sock.early and not fs.cancelled() and not fs.exception() and fs.result():
            self.enqueue_req(conn)
        else:
            super().finish_request(conn, fs)

    def _give_up(self, conn: TConn) -> None:
        """Drop a client that does not take its answer."""
        del self._unsent[conn]
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Drop clients that did not send their request, take their answer, or close their end, in time."""
        super().murder_pending()
        now = time.monotonic()
        # Here, because an event of a connection that is dropped may be among those that are dispatched together.
        while self.nr_conns > self._most_connections and self._drop_waiting():
            pass
        if self._is_short_of_files:
            self._is_short_of_files = False
            if not self._drop_waiting():
                time.sleep(_SHORT_OF_FILES_SECONDS)
        self._lingering.drop_late(self.poller, now)
        for conn in [conn for conn in self._unsent if conn.sock.is_too_slow()]:
            self._give_up(conn)

    def _drop_waiting(self) -> bool:
        """Drop the connection that waits longest for a request; whether there was one."""
        waiting = self.pending_conns or self.keepalived_conns
        if not waiting:
            return False
        conn = waiting.popleft()
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()
        return True

    def _await_request(self, conn: TConn) -> None:
        conn.received = bytearray()
        conn.timeout = time.monotonic() + REQUEST_SECONDS
        conn.sock.setblocking(False)
        if not self._receive(conn):
            self.pending_conns.append(conn)
            self.poller.register(conn.sock, EVENT_READ, partial(self._receive_more, conn))

    def _receive_more(self, conn: TConn, client: socket.socket) -> None:
        if self._receive(conn):
            self.poller.unregister(client)
            self.pending_conns.remove(conn)

    def _receive(self, conn: TConn) -> bool:
        """Read what has arrived; True when there is no more to wait for."""
        try:
            data = conn.sock.recv(_RECEIVE)
        except BlockingIOError:
            return False
        except OSError:
            data = b""
        conn.received += data
        if data and not is_complete(conn.received):
            return False
        # A client that closes in the middle of a request gets the parser's answer to what it sent, like any other.
        conn.data_ready = True
        self.enqueue_req(conn)
        return True

    def _close(self, conn: TConn, *, graceful: bool = False) -> None:
        """Close the connection; when `graceful`, after the client has, so that it receives the whole answer."""
        if graceful and not self.cfg.is_ssl:
            self._lingering.close(conn.sock, self.poller)
        else:
            conn.sock.close()


def _check_service(app: Any) -> None:  # noqa: ANN401 - any WSGI app
    """Look at the database once before the first request; one that cannot be reached may still come.

    Raises:
        OtherServiceKeyError: it belongs to another service key.

    """
    service: Service | None = getattr(app, "extensions", {}).get(EXTENSION)
    if service is None:
        return
    with app.app_context(), suppress(SQLAlchemyError, SchemaError):
        service.require_schema()
