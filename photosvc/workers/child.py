"""The child's side of the worker pool: one process that applies one function to one item after another.

It is started by name, as a program of its own. `multiprocessing` would import the caller's main module again, and so
run an application that has no main guard; a fork would carry open database connections and other threads' locks along.
"""

import ctypes
import os
import pickle
import resource
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from photosvc.core.errors import PhotosvcError
from photosvc.core.problems import Reason, UnreadableFileError

OUT_OF_MEMORY = 77
"""Exit code of a worker that met its memory cap: its heap is not to be trusted any more."""

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Serve the pool: `argv` holds the descriptor of the connection, the pool's process id and the memory cap."""
    descriptor, parent, memory_bytes = (int(argument) for argument in sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _die_with(parent)
    with Connection(descriptor) as connection:
        try:
            function: Callable[[Any], object] = pickle.loads(connection.recv_bytes())  # noqa: S301 - from the pool
        except Exception as error:  # noqa: BLE001 - an import may fail in any way; the pool tells the caller
            connection.send_bytes(pickle.dumps(type(error).__name__))
            return
        connection.send_bytes(pickle.dumps(None))
        _limit(memory_bytes)
        while True:
            try:
                message = connection.recv_bytes()
            except EOFError:  # the pool closed, or its process is gone
                return
            connection.send_bytes(_outcome(function, message))


def _outcome(function: Callable[[Any], object], message: bytes) -> bytes:
    """The pickled result, or the pickled error in its place."""
    try:
        return pickle.dumps(function(pickle.loads(message)))  # noqa: S301 - from the pool
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except PhotosvcError as error:
        return pickle.dumps(error)
    except BaseException as error:  # noqa: BLE001 - decoders raise anything, panics and SystemExit among it
        # Only the name: messages of libraries quote bytes and paths.
        return pickle.dumps(UnreadableFileError(Reason.READER_ERROR, type(error).__name__[:60]))


def _die_with(parent: int) -> None:
    """Ask Linux to kill this process when the one that started it dies; elsewhere the closed connection must do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)


def _limit(memory_bytes: int) -> None:
    """Cap the address space at what is in use now and `memory_bytes` more; leave no core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    cap = _address_space() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (cap if hard == resource.RLIM_INFINITY else min(cap, hard), hard))


def _address_space() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
    except (OSError, ValueError):  # not Linux: a picture decoder with its libraries maps less than this
        return 1 << 30
    return pages * resource.getpagesize()
