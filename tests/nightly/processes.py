"""Processes that call one library at the same time, each with an app of its own."""

import json
import os
import random
import traceback
from collections.abc import Callable
from tempfile import TemporaryFile
from typing import IO, Any

from tests.helpers.library import Library, open_library

#: Gets the number of the process, its library and its random numbers; gives what can be written as JSON.
Work = Callable[[int, Library, random.Random], Any]


def at_once(library: Library, work: Work, *, processes: int = 8, settings: Any = None) -> list[Any]:
    """What each of the processes gives, which work on the library at the same time."""
    library.close()
    reading, writing = os.pipe()
    started = []
    for number in range(processes):
        output = TemporaryFile()  # noqa: SIM115 - closed below
        process = os.fork()
        if process == 0:
            os.close(writing)
            _run(number, library, work, output.fileno(), reading, settings)
        started.append((process, output))
    os.close(reading)
    os.close(writing)  # they begin together
    ended = [(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), _read(output)) for process, output in started]
    failures = [text for status, text in ended if status != 0]
    assert not failures, "\n".join(failures[:3])
    return [json.loads(text) for _, text in ended]


def _read(output: IO[bytes]) -> str:
    with output:
        output.seek(0)
        return output.read().decode()


def _run(number: int, library: Library, work: Work, output: int, start: int, settings: Any) -> None:
    """Work as a process of its own; never returns."""
    try:
        own = open_library(library.instance, upgrade=False, settings=settings)
        own.tokens, own.clock = dict(library.tokens), library.clock
        os.read(start, 1)
        os.write(output, json.dumps(work(number, own, random.Random(number))).encode())
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the test shows it
        os.write(output, traceback.format_exc().encode())
    os._exit(1)
