"""Ending a process with the one that started it: the indexer of `svc run` with its server."""

import os
import signal
import threading
import time

import click


def _end_with(_ctx: click.Context, _option: click.Parameter, parent: int | None) -> int | None:
    """End this process soon after its parent has ended: another process is its parent then."""

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.kill(os.getpid(), signal.SIGTERM)

    if parent is not None:
        threading.Thread(target=wait, daemon=True).start()
    return parent


parent_option = click.option(
    "--parent", type=int, hidden=True, callback=_end_with, help="End with this process, the parent."
)
