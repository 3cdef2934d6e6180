"""Run a command on a pseudo terminal: type answers at its prompts and collect each stream."""

import fcntl
import os
import pty
import select
import signal
import subprocess
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from tests.library import SURROUNDINGS, SVC


def _take_terminal() -> None:
    """Make standard input the controlling terminal of this session, so that Ctrl-C sends SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # shells ignore it for background jobs, and children inherit that
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def type_at(instance: Path, arguments: Sequence[str], typed: Sequence[tuple[str, str]]) -> tuple[int, str, str, str]:
    """Run `svc` on a terminal; `typed` holds pairs of a prompt to wait for and the answer to type.

    Return the exit code, standard output, standard error, and what the terminal showed.
    """
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [str(SVC), *arguments],
        env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance), "TERM": "dumb"},
        stdin=slave,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=_take_terminal,  # noqa: PLW1509
    )
    os.close(slave)
    streams = {process.stdout.fileno(): b"", process.stderr.fileno(): b"", master: b""}
    waiting, seen, end = list(typed), 0, time.monotonic() + 40
    open_streams = set(streams)
    while open_streams - {master}:
        assert time.monotonic() < end, (waiting, streams)
        for stream in select.select(list(open_streams), [], [], 0.2)[0]:
            try:
                data = os.read(stream, 65536)
            except OSError:  # the terminal's other end is closed
                data = b""
            streams[stream] += data
            if not data:
                open_streams.discard(stream)
        shown = b"".join(streams.values()).decode("utf-8", "replace")
        if waiting and shown.count(waiting[0][0]) > seen:
            prompt, answer = waiting.pop(0)
            seen = shown.count(prompt) if waiting and waiting[0][0] == prompt else 0
            time.sleep(0.2)  # Python misses a Ctrl-C that comes before it reads
            os.write(master, answer.encode())
    code = process.wait(20)
    found = [streams[stream].decode() for stream in (process.stdout.fileno(), process.stderr.fileno(), master)]
    os.close(master)
    process.stdout.close()
    process.stderr.close()
    return (code, *found)
