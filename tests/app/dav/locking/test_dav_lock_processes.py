"""Locks of several processes of one service."""

import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from sqlalchemy import func, select

from photosvc.models import DavLock
from photosvc.web.current import current_service
from tests.helpers.library import SURROUNDINGS

ROUNDS = 50


@pytest.mark.slow
def test_two_processes_never_grant_two_exclusive_locks_and_leave_them_when_killed(stored):
    with stored.app.app_context():
        database = current_service().engine().url.render_as_string(hide_password=False)
    processes = [
        Popen(
            [
                sys.executable,
                "-m",
                "tests.app.dav.locking.locking_process",
                str(stored.instance),
                database,
                f"u{number}",
            ],
            env=SURROUNDINGS,
            cwd=Path(__file__).parents[4],
            stdin=PIPE,
            stdout=PIPE,
            text=True,
        )
        for number in range(2)
    ]
    granted = []
    for number in range(ROUNDS):
        for process in processes:
            process.stdin.write(f"/originals/{number}.jpg\n")
            process.stdin.flush()
        granted.append(sum(int(process.stdout.readline()) for process in processes))
    for process in processes:
        process.kill()
        process.communicate()
    assert granted == [1] * ROUNDS
    with stored.session() as session:
        assert session.scalar(select(func.count()).select_from(DavLock)) == ROUNDS
