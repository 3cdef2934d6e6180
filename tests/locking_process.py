"""A process that locks files over and over: arguments are instance folder, database, user and rounds.

At each line on its input it tries three exclusive locks of one file at once and writes how many were granted.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from wsgidav.dav_error import HTTP_LOCKED, DAVError

from photosvc.app import create_app
from photosvc.dav.lock_manager import LockManager
from photosvc.web.current import current_service

ATTEMPTS = 3


def run(instance: str, database: str, user: str) -> None:
    """Lock the file named by each line."""
    app = create_app(instance=Path(instance), settings={"PHOTOSVC_DATABASE_URI": database}, environ={})

    def attempt(url: str) -> int:
        with app.app_context():
            manager = LockManager(current_service())
            try:
                manager.acquire(
                    url=url, lock_scope="exclusive", lock_depth="0", lock_owner=b"", timeout=600, principal=user
                )
            except DAVError as error:
                if error.value != HTTP_LOCKED:
                    raise
                return 0
            return 1

    with ThreadPoolExecutor(ATTEMPTS) as pool:
        for line in sys.stdin:
            granted = sum(pool.map(attempt, [line.strip()] * ATTEMPTS))
            sys.stdout.write(f"{granted}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    run(*sys.argv[1:])
