"""A worker process as its caller sees it: started, asked for results, and ended."""

import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from contextlib import suppress
from http import HTTPStatus
from multiprocessing import spawn
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

import msgspec

from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import FileProblemError, Reason, signal_symbol
from photosvc.workers.child import OUT_OF_MEMORY
from photosvc.workers.protocol import Answers

Result = TypeVar("Result")

_PROGRAM = "from photosvc.workers.child import main; main()"
_MAX_ITEM = 32 << 10  # bytes: as many fit into the buffer of the socket, so sending never blocks
_MAX_ANSWER = 64 << 20
_STARTS = Answers[str | None](str | None)  # type: ignore[arg-type] # a type for the decoder
_START_SECONDS = 60.0
_MOST_STARTS = 3
_FAREWELL_SECONDS = 1.0
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


class WorkerTimeoutError(FileProblemError):
    """The file took too long to read."""


class WorkerDiedError(FileProblemError):
    """The reader of the file crashed or was killed."""


class WorkerStartError(PhotosvcError):
    """Worker processes cannot start."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 10


class Worker:
    """A child process, which ends with the thread that started it, even if the process of the thread is killed.

    Args:
        function: pickled; see `WorkerPool`.
        timeout: seconds an item may take, without the time to read its file, see `seconds_for`.
        memory_bytes: address space that the child may map in addition to that at its start.

    Raises:
        WorkerStartError: the system refuses to start a process, or the process cannot import the function.
    """

    def __init__(self, function: bytes, timeout: float, memory_bytes: int) -> None:
        self._timeout = timeout
        for _ in range(_MOST_STARTS):
            try:
                self._start(function, memory_bytes)
                problem = self._receive(_STARTS, _START_SECONDS)
            except OSError as error:
                raise WorkerStartError(f"Worker processes cannot start ({error.strerror}).") from None
            except FileProblemError:  # killed before it began
                continue
            if problem is not None:
                self.end()
                raise WorkerStartError(f"Worker processes cannot start ({problem}).")
            return
        raise WorkerStartError

    def _start(self, function: bytes, memory_bytes: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            # A child that stops in the middle of an answer must not block the caller.
            ours.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", _STALL_SECONDS, 0))
            self._connection = Connection(ours.detach())
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

    def ask(self, item: object, answers: Answers[Result]) -> Result:
        """Return the result of the function for an item, which must have at most 32 KiB when pickled.

        Raises:
            PhotosvcError: the function raised it.
            WorkerTimeoutError: it took too long, and the process was ended.
            WorkerDiedError: the process died, or its message was no answer.
        """
        message = pickle.dumps(item)
        if len(message) > _MAX_ITEM:
            raise ValueError("an item is too large")
        self._send(message)
        answer = self._receive(answers, seconds_for(item, self._timeout), item)
        if isinstance(answer, PhotosvcError):
            raise answer
        return answer

    def _send(self, message: bytes) -> None:
        with suppress(OSError):  # the child died: the next receive raises
            self._connection.send_bytes(message)

    def _receive(self, answers: Answers[Result], seconds: float, item: object = "") -> Result | PhotosvcError:
        try:
            if not self._connection.poll(seconds):
                self.end()
                raise WorkerTimeoutError(Reason.TIMEOUT, f"{seconds:g}")
            return answers.read(self._connection.recv_bytes(_MAX_ANSWER), item)
        except (EOFError, OSError, msgspec.MsgspecError):  # a dead child, or a message that is no answer
            raise _death_of(self.end(_FAREWELL_SECONDS)) from None

    def end(self, patience: float = 0) -> int:
        """Close the connection, wait `patience` seconds, then kill; return the exit code, negative for a signal."""
        self._connection.close()
        try:
            return self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()
            return self._process.wait()

    def kill(self) -> None:
        """Kill the process and its own children; any thread may do so."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def _death_of(code: int) -> WorkerDiedError:
    """Return the error of a worker that ended with this exit code; negative for a signal."""
    if code == OUT_OF_MEMORY:
        return WorkerDiedError(Reason.OUT_OF_MEMORY)
    if code < 0:
        return WorkerDiedError(Reason.KILLED, signal_symbol(-code))
    return WorkerDiedError(Reason.CRASHED)
