"""A `svc watch` process of a library, and waiting for what it does."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tests.helpers.clock import until
from tests.helpers.library import SURROUNDINGS, SVC, Library

QUICK = {"PHOTOSVC_WATCH_SETTLE": "3"}


@dataclass
class Watching:
    """A running watcher; its output goes to files."""

    library: Library
    process: subprocess.Popen[bytes]

    @property
    def errors(self) -> str:
        return (self.library.instance / "watch.err").read_text()

    @property
    def runs(self) -> list[dict[str, Any]]:
        """The lines of JSON that it printed."""
        return [json.loads(line) for line in (self.library.instance / "watch.out").read_text().splitlines()]

    def wait(self, holds: Callable[[], object], seconds: float = 60) -> None:
        """Wait until something holds."""
        until(lambda: holds() or self.process.poll() is not None, "the watcher", seconds)
        assert self.process.poll() is None, self.errors

    def end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal, and wait for the end of the process."""
        self.process.send_signal(number)
        self.process.wait(60)


@contextmanager
def watch(library: Library, *arguments: str, **environ: str) -> Iterator[Watching]:
    """A watcher that looks at changed folders soon; it is ready when the block begins."""
    with (library.instance / "watch.out").open("wb") as out, (library.instance / "watch.err").open("wb") as err:
        process = subprocess.Popen(
            [str(SVC), "watch", "--interval", "0.2", "--json", *arguments],
            env={**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(library.instance), **QUICK, **environ},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
        )
    watching = Watching(library, process)
    try:
        watching.wait(lambda: "Watching " in watching.errors and _watches(process.pid))
        yield watching
    finally:
        process.kill()
        process.wait(60)


def _watches(process: int) -> bool:
    folder = f"/proc/{process}/fdinfo"
    for name in os.listdir(folder):  # noqa: PTH208
        try:
            with open(f"{folder}/{name}") as described:  # noqa: PTH123
                if "inotify wd:" in described.read():
                    return True
        except FileNotFoundError:
            continue
    return False
