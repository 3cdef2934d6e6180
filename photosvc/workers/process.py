"""The pool's side of one worker process: start it, send items, receive answers, end it."""

import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections import deque
from contextlib import suppress
from itertools import islice
from multiprocessing import spawn
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Generic, TypeVar

from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.core.errors import PhotosvcError
from photosvc.workers.answers import Answers

Item = TypeVar("Item")
Result = TypeVar("Result")

_PROGRAM = "from photosvc.workers.child import main; main()"
_MAX_ITEM = 32 << 10  # bytes: twice as many fit into the buffer of the socket, so sending never blocks
_MAX_ANSWER = 64 << 20
_STARTS = Answers[str | None](str | None)  # type: ignore[arg-type] # a type for the decoder
_START_SECONDS = 60.0
_STALL_SECONDS = 10  # for the rest of a message that has begun
_BYTES_PER_SECOND = 4 << 20  # of the slowest disk or network
_MOST_SECONDS = 86_400  # for reading a file

#: Environment variables that a child inherits; decoders must not see the keys and addresses of the service.
_INHERITED = {
    *("PATH", "HOME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH", "PYTHONHOME", "VIRTUAL_ENV"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR"),
}
#: A worker reads one file at a time; each further thread of a library would use up the limited address space.
_FIXED = {"MALLOC_ARENA_MAX": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def _environment() -> dict[str, str]:
    return _FIXED | {name: value for name, value in os.environ.items() if name in _INHERITED or name.startswith("LC_")}


def seconds_for(item: object, timeout: float) -> float:
    """Return the seconds that an item may take: the time-out, and the time in which a slow disk reads its file.

    Args:
        item: the path of a file, a tuple that begins with it, or an object with its `size` in bytes.
    """
    file = item[0] if isinstance(item, tuple) and item else item
    try:
        size = file.lstat().st_size if isinstance(file, Path) else getattr(file, "size", 0)
    except OSError:  # the worker reports it
        size = 0
    return timeout + min(size // _BYTES_PER_SECOND, _MOST_SECONDS)


class Worker(Generic[Item]):
    """A child process, which ends when this process ends, even when this process is killed.

    Args:
        function: pickled; see `WorkerPool`.
        timeout: seconds an item may take, without the time to read its file, see `seconds_for`.
        memory_bytes: address space that the child may map in addition to that at its start.

    Raises:
        OSError: the system refuses to start a process.
    """

    def __init__(self, function: bytes, timeout: float, memory_bytes: int) -> None:
        self.pending: deque[Item] = deque()
        """Items without an answer; the child works on the first."""
        self.started = False
        self._sizes: deque[int] = deque()
        self._seconds: deque[float] = deque()
        self._answers = 0
        self._since = 0.0
        self.deadline = SYSTEM_CLOCK.monotonic() + _START_SECONDS
        self._timeout = timeout
        ours, theirs = socket.socketpair()
        with theirs:
            # A child that stops in the middle of an answer must not block the pool.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", _STALL_SECONDS, 0))
            self.connection = Connection(ours.detach())
            arguments = (theirs.fileno(), os.getpid(), memory_bytes)
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [os.fsdecode(spawn.get_executable()), "-P", "-c", _PROGRAM, *map(str, arguments)],
                env={**_environment(), "PYTHONPATH": os.pathsep.join(path or os.curdir for path in sys.path)},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # C libraries print warnings there
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C must only reach the parent
            )
        self._send(function)

    @property
    def is_alive(self) -> bool:
        """Return whether the process runs."""
        return self._process.poll() is None

    @property
    def seconds(self) -> float:
        """Return the seconds that the first item may take."""
        return self._seconds[0] if self._seconds else self._timeout

    @property
    def has_room(self) -> bool:
        """Return whether another item fits into the buffer of the socket."""
        return sum(self._sizes) <= _MAX_ITEM

    @property
    def rate(self) -> float:
        """Return the number of answers per second since the first one; 0 if it is unknown."""
        return (self._answers - 1) / max(SYSTEM_CLOCK.monotonic() - self._since, 1e-3) if self._answers > 1 else 0.0

    def give(self, item: Item) -> None:
        """Send an item, which must have at most 32 KiB when pickled."""
        message = pickle.dumps(item)
        if len(message) > _MAX_ITEM:
            raise ValueError("an item is too large")
        self.pending.append(item)
        self._sizes.append(len(message))
        self._seconds.append(seconds_for(item, self._timeout))
        if self.started and len(self.pending) == 1:
            self.deadline = SYSTEM_CLOCK.monotonic() + self.seconds
        self._send(message)

    def done(self) -> Item:
        """Remove and return the first item: it was answered, or ended the child."""
        self._sizes.popleft()
        self._seconds.popleft()
        return self.pending.popleft()

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # the child died: the next receive raises
            self.connection.send_bytes(message)

    def receive_start(self) -> str | None:
        """Receive the first answer: the name of the error that kept the child from starting, or None.

        Raises:
            EOFError, OSError, msgspec.MsgspecError: the child died, or its message is broken.
        """
        answer = _STARTS.read(self._message())
        return None if answer is None else str(answer)

    def receive(self, answers: Answers[Result]) -> Result | PhotosvcError:
        """Receive the answer to the first item: its result or error.

        Raises:
            EOFError, OSError, msgspec.MsgspecError: the child died, or its message is broken.
        """
        return answers.read(self._message(), self.pending[0])

    def _message(self) -> bytes:
        message = self.connection.recv_bytes(_MAX_ANSWER)
        first = next(islice(self._seconds, int(self.started), None), self._timeout)  # the child begins it now
        self.deadline = SYSTEM_CLOCK.monotonic() + first
        self.started = True
        self._since = self._since or SYSTEM_CLOCK.monotonic()
        self._answers += 1
        return message

    def end(self, patience: float = 0) -> int:
        """Close the connection, wait `patience` seconds, then kill; return the exit code, negative for a signal."""
        self.connection.close()
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)  # and the processes it started
            return self._process.wait()
