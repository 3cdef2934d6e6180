"""Apps that are made and dropped in one process."""

import gc
import threading
from pathlib import Path

import pytest

from photosvc.app import create_app
from tests.helpers.clock import MovedClock
from tests.helpers.library import DATABASE, migrated_database

HANDLES = Path("/proc/self/fd")


def open_things():
    gc.collect()
    return len(list(HANDLES.iterdir())), threading.active_count()


@pytest.mark.skipif(not HANDLES.is_dir(), reason="counts handles as Linux lists them")
def test_fifty_apps_that_come_and_go_leave_no_handles_and_no_threads(tmp_path):
    (tmp_path / DATABASE).write_bytes(migrated_database())

    def come_and_go():
        app = create_app(instance=tmp_path, environ={}, clock=MovedClock())
        assert app.test_client().get("/api/v1/status").status_code == 200
        assert app.test_client().get("/api/v1/photos").status_code == 401

    come_and_go()
    handles, threads = open_things()
    for _ in range(50):
        come_and_go()
    after = open_things()
    # Fewer are right: what tests before this one left may be closed meanwhile.
    assert after[0] - handles <= 2
    assert after[1] - threads <= 2
