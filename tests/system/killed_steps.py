"""Work in a fork that kills itself before one of its steps on files."""

import os
import signal
import sys
import time
from collections.abc import Callable, Collection

#: Seconds after which a fork hangs.
_PATIENCE = 30


def is_killed_before(number: int, steps: Collection[str], work: Callable[[], object]) -> bool:
    """Do work in a fork that kills itself before its n-th step; whether it came that far.

    Args:
        number: counts from 1.
        steps: the audit events of Python that are steps.
        work: what the fork does.

    """
    process = os.fork()
    if process == 0:
        left = number

        def count(event: str, _arguments: object) -> None:
            nonlocal left
            if event in steps:
                left -= 1
                if left == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            sys.addaudithook(count)
            work()
        finally:
            os._exit(0)
    return os.waitstatus_to_exitcode(_wait(process)) != 0


def _wait(process: int) -> int:
    """Return the status of the fork. One that hangs is killed, too: a thread of this process may have held a lock."""
    until = time.monotonic() + _PATIENCE
    while (ended := os.waitpid(process, os.WNOHANG))[0] == 0:
        if time.monotonic() > until:
            os.kill(process, signal.SIGKILL)
            return os.waitpid(process, 0)[1]
        time.sleep(0.002)
    return ended[1]
