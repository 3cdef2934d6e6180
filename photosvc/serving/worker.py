"""The worker: its loop collects requests and sends the end of slow answers, its threads only do the work between.

gunicorn's threaded worker gives a thread to each new connection before it has sent anything, and waits for clients to
close their end in the loop that accepts connections. Here the loop collects a request until its head and a small body
are complete, sends the end of answers that clients are slow to take, and waits for the close of many connections.

The worker extends gunicorn.workers.gthread; setup.cfg pins gunicorn to one major version, as its methods may change.
"""

import errno
import gc
import importlib
import resource
import signal
import socket
import struct
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from selectors import EVENT_READ, EVENT_WRITE
from typing import Any, Final

import orjson
from flask import Flask
from gunicorn.errors import AppImportError
from gunicorn.http.errors import LimitRequestHeaders, LimitRequestLine
from gunicorn.http2 import negotiation
from gunicorn.util import write_nonblock
from gunicorn.workers.gthread import TConn, ThreadWorker
from sqlalchemy.exc import SQLAlchemyError

from photosvc.auth import passwords
from photosvc.auth.errors import OtherServiceKeyError
from photosvc.core.errors import SchemaError, SettingError
from photosvc.core.machine import give_back, share_arenas
from photosvc.mounting import VIEWS
from photosvc.serving.arrival import Arrival, Requester, RequestQueue, State, WaitBudget, requester_of
from photosvc.serving.client import STALL_SECONDS, Client, Lingering
from photosvc.web.auditing import write_last_refusals
from photosvc.web.current import EXTENSION, Service

#: Seconds within which a client must send the head of a request and a small body.
REQUEST_SECONDS: Final = 10.0
_RECEIVE: Final = 64 << 10
#: The most bytes kept of answers to slow clients; above this, the client that waits longest is dropped.
_MOST_UNSENT: Final = 64 << 20
#: Seconds for which a thread discards a body that the application did not read; after them it closes the connection.
_DISCARD_SECONDS: Final = 0.1
#: Size in bytes from which on such a body is not discarded.
_MOST_DISCARDED: Final = 64 << 10
#: Connections kept free below gunicorn's limit: above it, those that wait longest for their client are dropped, so
#: that new ones are always accepted. File descriptors that the application needs for itself.
_SPARE_CONNECTIONS: Final = 50
_OWN_DESCRIPTORS: Final = 200
#: Seconds to wait when the process may open no more files and no connection can be dropped.
_SHORT_OF_FILES_SECONDS: Final = 0.05
#: Seconds between two times at which freed memory is given back to the system.
_RETURN_SECONDS: Final = 5.0


def _refusal(status: HTTPStatus, message: str) -> bytes:
    """Return a whole answer with an error of the API."""
    body = orjson.dumps({"code": status, "error": message})
    reason = {HTTPStatus.REQUEST_URI_TOO_LONG: "URI Too Long"}.get(status, status.phrase)
    head = f"HTTP/1.1 {status} {reason}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


_HEAD_TOO_LARGE: Final = _refusal(
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers of the request are too long or too many."
)
#: Seconds without a byte after which a thread gives up reading a large body.
_STALL: Final = struct.pack("ll", STALL_SECONDS, 0)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn has no types
    """A gunicorn worker whose threads only work on requests that have arrived."""

    @classmethod
    def setup(cls) -> None:
        """Import the service in the master process before it forks, and compile the first page.

        Workers share the memory of both, and answer their first request sooner.

        Python's garbage collector writes to the objects that it visits, which copies their memory in each worker. It
        does not visit frozen objects.
        """
        for module in ("photosvc.app", "photosvc.models.indexes", "photosvc.pictures.service", *VIEWS):
            importlib.import_module(module)
        from photosvc.pages.layout import compile_first  # after the app: pages are imported when they are mounted

        compile_first()
        gc.collect()
        gc.freeze()

    def init_process(self) -> None:
        """Prepare the worker's state and limits, and serve until the process ends."""
        self._lingering = Lingering()
        self._unsent: dict[TConn, Future[object]] = {}
        self._budget = WaitBudget(self.cfg.threads)
        self._queue = RequestQueue(self.cfg.threads, self._start)
        self._proxies = 0
        passwords.let_wait(self.cfg.threads)
        self._is_short_of_files = False
        self._next_return = 0.0
        share_arenas()
        descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = min(self.worker_connections - _SPARE_CONNECTIONS, descriptors - _OWN_DESCRIPTORS)
        self._most_connections = max(self.cfg.threads, most)
        super().init_process()

    def load_wsgi(self) -> None:
        """Load the app; errors that the operator must correct end the server with one sentence instead of a traceback.

        Raises:
            AppImportError: a setting is not valid, or the database belongs to another service key.
        """
        try:
            super().load_wsgi()
            if (service := _service_of(self.wsgi)) is not None:
                self._proxies = service.settings.proxies
                if service.is_alone:
                    # `X-Forwarded-Prefix` of trusted proxies tells the mount; gunicorn takes it from clients as well.
                    self.cfg.set("forwarder_headers", "")
                service.writers.let_write(self.cfg.threads)
                # An unreachable database is no error: it may start later.
                with self.wsgi.app_context(), suppress(SQLAlchemyError, SchemaError):
                    service.require_schema()
        except (SettingError, OtherServiceKeyError) as error:
            raise AppImportError(error.message) from None

    def run(self) -> None:
        """Serve until a signal ends the process; then write the refusals that were only counted to the security log."""
        try:
            super().run()
        finally:
            # Any other object is a middleware around an app, or an app of someone else.
            if isinstance(self.wsgi, Flask):
                write_last_refusals(self.wsgi)

    def handle_quit(self, sig: int, frame: object) -> None:
        """End at once. The signals that follow must not interrupt the last writes of this process.

        The master repeats its signal, and Ctrl+C in a terminal reaches this process beside that of the master.
        """
        for each in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(each, signal.SIG_IGN)
        super().handle_quit(sig, frame)

    def set_accept_enabled(self, enabled: bool) -> None:
        """Accept connections or not; at the end take those that wait, and close the listening sockets at once.

        Clients could connect to them until the last request is answered, and would lose what they have sent.
        """
        super().set_accept_enabled(enabled)
        if enabled or self.alive:
            return
        for listener in self.sockets:
            before = -1
            while before < self.nr_conns < self._most_connections:
                before = self.nr_conns
                self.accept(listener)
            listener.close()

    def accept(self, listener: socket.socket) -> None:
        """Accept a connection, and wait for its request without a thread."""
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
        """Begin with the next request on a kept connection."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        if self.cfg.is_ssl or conn.is_http2:
            self.enqueue_req(conn)
        else:
            self._await_request(conn)

    def enqueue_req(self, conn: TConn) -> None:
        """Give a request to a thread when its client's turn comes."""
        arrival: Arrival | None = getattr(conn, "arrival", None)
        head = b"" if arrival is None else arrival.received
        self._queue.add(requester_of(head, conn.client, self._proxies), conn)

    def _start(self, requester: Requester, conn: TConn) -> None:
        future = self.tpool.submit(self.handle, conn)
        future.add_done_callback(partial(self._end, requester, conn))

    def _end(self, requester: Requester, conn: TConn, future: "Future[object]") -> None:
        """Let the loop go on with a connection, and give its thread to the next request; runs in that thread."""
        self.method_queue.defer(self.finish_request, conn, future)
        with suppress(RuntimeError):  # a worker that ends starts no more requests
            self._queue.end(requester)

    def handle(self, conn: TConn) -> object:
        """Answer a request; runs in a thread."""
        arrival: Arrival | None = getattr(conn, "arrival", None)
        if arrival is not None:
            conn.sock.early += arrival.received
            conn.arrival = None
        return super().handle(conn)

    def handle_request(self, req: Any, conn: TConn) -> object:  # noqa: ANN401 - gunicorn has no types
        """Answer one request of a connection; runs in a thread."""
        if self.cfg.is_ssl:
            return super().handle_request(req, conn)
        conn.sock.begin_answer()
        # For the header `Connection`: without it, a proxy sends its next request on a connection that is closed.
        req.should_close = partial(_closes, req, req.should_close)
        try:
            return super().handle_request(req, conn)
        finally:
            conn.sock.end_answer()

    def handle_error(self, req: Any, client: Any, addr: Any, exc: Exception) -> None:  # noqa: ANN401 - gunicorn has no types
        """Answer a request that cannot be read; addresses and headers above the limits with an error of the API."""
        if isinstance(exc, LimitRequestLine):
            most = self.cfg.limit_request_line
            message = f"The address is too long: method, address and version may have {most:,} bytes."
            answer = _refusal(HTTPStatus.REQUEST_URI_TOO_LONG, message)
        elif isinstance(exc, LimitRequestHeaders):
            answer = _HEAD_TOO_LARGE
        else:
            super().handle_error(req, client, addr, exc)
            return
        self.log.warning("Invalid request from ip=%s: %s", addr[0] if addr else "", exc)
        with suppress(OSError):
            write_nonblock(client, answer)

    def _keepalive_after(self, conn: TConn, keepalive: object) -> bool:
        """Return whether the connection can have another request: not while a body that the app left unread arrives."""
        deadline = time.monotonic() + _DISCARD_SECONDS
        return bool(keepalive and conn.parser.finish_body(deadline=deadline, max_bytes=_MOST_DISCARDED))

    def finish_request(self, conn: TConn, fs: Future[object]) -> None:
        """Send the end of the answer if the client was slow to take it, and then go on with the connection."""
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
        if not (self.cfg.is_ssl or conn.is_http2) and not fs.cancelled() and not fs.exception() and fs.result():
            early = conn.parser.unreader.take_buffered() + conn.sock.early
            if early:
                conn.sock.early.clear()
                self._await_request(conn, early)
                return
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
        # Not while events are dispatched: one of the same batch may belong to a connection that is dropped.
        while self.nr_conns > self._most_connections and self._drop_waiting():
            pass
        if self._is_short_of_files:
            self._is_short_of_files = False
            if not self._drop_waiting():
                time.sleep(_SHORT_OF_FILES_SECONDS)
        self._lingering.drop_late(self.poller, now)
        if now >= self._next_return:
            self._next_return = now + _RETURN_SECONDS
            give_back()
        for conn in [conn for conn in self._unsent if conn.sock.is_too_slow()]:
            self._give_up(conn)

    def _drop_waiting(self) -> bool:
        """Drop the connection that waits longest for a request, and return whether there was one."""
        waiting = self.pending_conns or self.keepalived_conns
        if not waiting:
            return False
        conn = waiting.popleft()
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()
        return True

    def _await_request(self, conn: TConn, early: bytes = b"") -> None:
        """Collect the next request, whose beginning may have come with the last one."""
        limits = (self.cfg.limit_request_line, self.cfg.limit_request_field_size)
        conn.arrival = Arrival(max(limits) if all(limits) else 0, self.cfg.limit_request_fields)
        conn.timeout = time.monotonic() + REQUEST_SECONDS
        conn.sock.setblocking(False)
        state = conn.arrival.add(early) if early else State.INCOMPLETE
        if state is State.INCOMPLETE:
            state = self._receive(conn)
        if state is State.INCOMPLETE:
            self.pending_conns.append(conn)
            self.poller.register(conn.sock, EVENT_READ, partial(self._receive_more, conn))
        else:
            self._begin(conn, state)

    def _receive_more(self, conn: TConn, client: socket.socket) -> None:
        state = self._receive(conn)
        if state is not State.INCOMPLETE:
            self.poller.unregister(client)
            self.pending_conns.remove(conn)
            self._begin(conn, state)

    def _receive(self, conn: TConn) -> State:
        """Read the bytes that have arrived; COMPLETE also when the client has closed, so that the parser answers it."""
        try:
            data = conn.sock.recv(_RECEIVE)
        except BlockingIOError:
            return State.INCOMPLETE
        except OSError:
            data = b""
        state: State = conn.arrival.add(data) if data else State.COMPLETE
        return state

    def _begin(self, conn: TConn, state: State) -> None:
        """Give a request to a thread, or refuse it."""
        if state is State.COMPLETE:
            conn.data_ready = True
            self.enqueue_req(conn)
            return
        with suppress(OSError):
            conn.sock.send(_HEAD_TOO_LARGE, socket.MSG_DONTWAIT)
        self.nr_conns -= 1
        conn.close(graceful=True)

    def _close(self, conn: TConn, *, graceful: bool = False) -> None:
        """Close the connection; when `graceful`, once the client has, so that it receives the whole answer."""
        if graceful and not self.cfg.is_ssl:
            self._lingering.close(conn.sock, self.poller)
        else:
            conn.sock.close()


def _closes(req: Any, should_close: Callable[[], bool]) -> bool:  # noqa: ANN401 - gunicorn has no types
    """Return whether the connection ends with this answer; it does if the app leaves much of the body unread."""
    reader = req.body.reader
    left = getattr(reader, "length", 0) >= _MOST_DISCARDED or getattr(reader, "parser", None) is not None
    return left or should_close()


def _service_of(app: Any) -> Service | None:  # noqa: ANN401 - any WSGI app
    """Return the service of a Flask app; None for a middleware around it, or an app without one."""
    service: Service | None = getattr(app, "extensions", {}).get(EXTENSION)
    return service
