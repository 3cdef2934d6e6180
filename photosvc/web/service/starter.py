"""Starts a program, but never a second time while it runs."""

import subprocess
from collections.abc import Callable
from threading import Lock, Thread


class Starter:
    """Starts a program again when it has ended, once, however often it was asked for meanwhile."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._running = False
        self._again = False

    def start(self, launch: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        """Start the program; while it runs, only note that it has to be started once more.

        Raises:
            OSError: it cannot be started.

        """
        with self._lock:
            if self._running:
                self._again = True
                return
            process = launch()
            self._running = True
        Thread(target=self._wait, args=(process, launch), name="photosvc-starter", daemon=True).start()

    def _wait(self, process: "subprocess.Popen[bytes]", launch: Callable[[], "subprocess.Popen[bytes]"]) -> None:
        while True:
            process.wait()
            with self._lock:
                self._running = self._again
                self._again = False
                if not self._running:
                    return
                try:
                    process = launch()
                except OSError:  # the next request tries again
                    self._running = False
                    return
