"""Work in a fork that kills itself before one of its steps on files."""

import os
import signal
import sys
from collections.abc import Callable, Collection


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
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) != 0
