"""Functions that the tests of the worker pool run in worker processes, which import this module."""

import os
import pickle
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from photosvc.core.errors import InvalidValueError
from photosvc.core.problems import Reason, UnreadableFileError


class OddError(Exception):
    """Cannot be unpickled: its constructor wants two arguments."""

    def __init__(self, one, two):
        super().__init__(f"{one} {two}")


SIGNALS = {
    "segfault": signal.SIGSEGV,
    "kill": signal.SIGKILL,
    "interrupt": signal.SIGINT,
}


def square(number):
    return number * number


def read_pipe(item):
    """Read a named pipe until its writer closes it; give anything else back."""
    return item.read_text() if isinstance(item, Path) else item


def obey(order):
    """Fail in one of the ways in which decoders fail, or give the order back."""
    match order:
        case "exit":
            os._exit(0)
        case "hang":
            time.sleep(60)
        case "memory":
            return len(bytearray(1 << 30))
        case "typed":
            raise InvalidValueError("No such thing.", field="colour")
        case "typed here":
            raise type("OnlyHereError", (UnreadableFileError,), {})(Reason.CONVERTED_TOO_LARGE, 8)
        case "untyped":
            raise ValueError("secret /home/me")
        case "odd":
            raise OddError(1, 2)
        case "leave":
            raise SystemExit(3)
        case "lambda":
            return lambda: 0
        case "segfault" | "kill" | "interrupt":
            os.kill(os.getpid(), SIGNALS[order])
    return order


def hang_unless_large(item):
    path = item[0] if isinstance(item, tuple) else item
    size = path.stat().st_size if path.exists() else 0
    while not size:
        if path.name.startswith("stopped"):
            os.kill(os.getpid(), signal.SIGSTOP)
        signal.pause()
    return size


def process_id(_):
    return os.getpid()


def chatter(_):
    os.write(1, b"noise")
    os.write(2, b"noise")
    return len("noise")


def large(size):
    return bytes(size)


def killed_by_tuples(parent, item):
    assert os.getppid() == parent
    if isinstance(item, tuple):
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def echo(item):
    return item


def no_data(item):
    return object() if item == 1 else item


class Marking:
    """Makes a file when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return (open, (self.mark, "w"))


def send_a_pickle(item):
    """Answer past the worker's own code, as a decoder could that a picture took over."""
    if item != "well":
        for path in Path("/proc/self/fd").iterdir():
            if path.is_symlink() and str(path.readlink()).startswith("socket:"):
                Connection(os.dup(int(path.name))).send_bytes(pickle.dumps(Marking(item)))
        time.sleep(5)
    return item


def count_thumbnails(job):
    """As the maker of thumbnails: appends a line to a file beside the originals, and waits for the writer of a pipe.

    The name of the original is that of the pipe, or a number of seconds.
    """
    with (job.original.root / "made").open("a") as made:
        made.write(f"{job.original.hash}\n")
    pipe = job.original.root / job.original.name
    if pipe.exists():
        pipe.read_bytes()
    else:
        time.sleep(float(job.original.name))
    return [b"\xff\xd8\xff" + job.original.hash.encode() * 50_000 + b"\xff\xd9" for _ in job.targets]
