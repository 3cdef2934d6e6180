"""The program of a worker process, which applies one function to one item after another.

It is a program of its own. `multiprocessing` would import the main module of the caller again, which runs an
application without a main guard; a fork would copy open database connections and locks that other threads hold.
"""

import ctypes
import os
import pickle
import resource
import signal
import struct
import sys
from collections.abc import Callable
from typing import Any, Final

from photosvc.core.errors import PhotosvcError
from photosvc.core.process import address_space
from photosvc.workers.protocol import write_error, write_internal_error, write_result

#: Exit code of a worker that reached its memory limit: allocations that failed may have left its state broken.
OUT_OF_MEMORY: Final = 77

#: The length before each message, in the format of `multiprocessing.connection`. To import that module would take a
#: fifth of the start of a worker.
_HEAD: Final = struct.Struct("!i")

_PR_SET_PDEATHSIG = 1  # linux/prctl.h


def main() -> None:
    """Serve the pool: `argv` holds the descriptor of the connection, the pool's process id and the memory cap."""
    descriptor, parent, memory_bytes = (int(argument) for argument in sys.argv[1:])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(19)  # decoding must not slow down the requests that are answered meanwhile: at 10 it doubled their p95
    _end_with(parent)
    try:
        function: Callable[[Any], object] = pickle.loads(_receive(descriptor))  # noqa: S301 - from the pool
    except Exception as error:  # noqa: BLE001 - an import may raise anything; the pool reports it
        _send(descriptor, write_result(type(error).__name__))
        return
    _send(descriptor, write_result(None))
    _limit(memory_bytes)
    while True:
        try:
            message = _receive(descriptor)
        except EOFError:  # the pool closed, or its process ended
            os._exit(0)  # the interpreter would take longer to end than most files to read
        _send(descriptor, _answer(function, message))


def _receive(descriptor: int) -> bytes:
    """Return the next message of the pool."""
    (size,) = _HEAD.unpack(_read(descriptor, _HEAD.size))
    return _read(descriptor, size)


def _read(descriptor: int, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        chunk = os.read(descriptor, size - len(data))
        if not chunk:
            raise EOFError
        data += chunk
    return bytes(data)


def _send(descriptor: int, message: bytes) -> None:
    left = memoryview(_HEAD.pack(len(message)) + message)
    while left:
        left = left[os.write(descriptor, left) :]


def _answer(function: Callable[[Any], object], message: bytes) -> bytes:
    """Return the answer to an item: the result of the function, or its error."""
    try:
        return write_result(function(pickle.loads(message)))  # noqa: S301 - from the pool
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    except PhotosvcError as error:
        return write_error(error)
    except BaseException as error:  # noqa: BLE001 - decoders raise anything, even SystemExit
        return write_internal_error(error)


def _end_with(parent: int) -> None:
    """Ask Linux to kill this process when its parent dies; on other systems it ends when the connection closes."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # the parent died before the line above
            os._exit(1)


def _limit(memory_bytes: int) -> None:
    """Limit the address space to its present size plus `memory_bytes`; write no core files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    cap = address_space() + memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (cap if hard == resource.RLIM_INFINITY else min(cap, hard), hard))
