"""A process that locks files over and over: arguments are instance folder, database, user and rounds.

At each line on its input it tries three exclusive locks of one file at once and writes how many were granted.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from photosvc.app import create_app
from photosvc.dav import locks
from photosvc.web.current import current_service
from tests.app.dav.locking.lock_rows import new_lock

ATTEMPTS = 3


def run(instance: str, database: str, user: str) -> None:
    """Lock the file named by each line."""
    app = create_app(instance=Path(instance), settings={"PHOTOSVC_DATABASE_URI": database}, environ={})

    def attempt(root: str) -> int:
        with app.app_context():
            service = current_service()
            with service.writing() as session:
                locks.serialize(session)
                return not locks.grant(session, service.now(), new_lock(service.now(), root, user=user))

    with ThreadPoolExecutor(ATTEMPTS) as pool:
        for line in sys.stdin:
            granted = sum(pool.map(attempt, [line.strip()] * ATTEMPTS))
            sys.stdout.write(f"{granted}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    run(*sys.argv[1:])
