"""Run a command on a pseudo terminal: type answers at its prompts and collect each stream."""

import os
import pty
import select
import time
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.programs import forks
from tests.helpers.programs.forks import SURROUNDINGS


def type_at(instance: Path, arguments: Sequence[str], typed: Sequence[tuple[str, str]]) -> tuple[int, str, str, str]:
    """Run `svc` on a terminal; `typed` holds pairs of a prompt to wait for and the answer to type.

    Return the exit code, standard output, standard error, and what the terminal showed.
    """
    (master, slave), (output, child_output), (errors, child_errors) = pty.openpty(), os.pipe(), os.pipe()
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance), "TERM": "dumb"}
    process = forks.start(
        "svc", *arguments, environ=environ, streams=(slave, child_output, child_errors), terminal=True
    )
    for given in (slave, child_output, child_errors):
        os.close(given)
    streams = {output: b"", errors: b"", master: b""}
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
    for stream in streams:
        os.close(stream)
    return code, *(streams[stream].decode() for stream in (output, errors, master))
