"""What has expired leaves the database and the cache."""

import os
from datetime import timedelta

import pytest
from sqlalchemy import func, insert, select

from photosvc.auth.credentials import issue
from photosvc.auth.scopes import parse_scope
from photosvc.auth.throttle import Allowance, Charge, take
from photosvc.core.clock import SYSTEM_CLOCK
from photosvc.index.watcher import sweep
from photosvc.models import Credential, ThrottleBucket, ZipSelection
from photosvc.models.engine import MOST_SWEPT, write_session
from photosvc.pictures.archives import StoredSelection, store_selection
from photosvc.pictures.cache import PictureCache
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.unit.auth.operations import by_command


@pytest.fixture
def engine(library):
    with library.app.app_context():
        yield current_service().engine()


def left(engine):
    with write_session(engine) as session:
        return [
            session.scalar(select(func.count()).select_from(table))
            for table in (Credential, ThrottleBucket, ZipSelection)
        ]


def test_expired_rows_and_abandoned_files_go_and_others_stay(engine, tmp_path):
    cache = PictureCache(tmp_path / "cache", 1 << 30)
    with write_session(engine) as session:
        for lifetime in (60, 7200, -1):
            issued = issue(by_command(session), name="test", scope=parse_scope("photos"), lifetime=lifetime)
            take(session, Charge(Allowance("log-in", 5, max(lifetime, 5)), str(lifetime)), NOW)
        store_selection(session, NOW - timedelta(minutes=30), issued.credential.uid, StoredSelection("early", [1]))
        store_selection(session, NOW, issued.credential.uid, StoredSelection("late", [1]))
    cache.write("a" * 40, "tile_100.jpg", b"kept")
    half = tmp_path / "cache/pictures/a/a/a/.tmp-1"
    half.write_bytes(b"half")
    os.utime(half, (SYSTEM_CLOCK().timestamp() - 7200,) * 2)
    assert left(engine) == [3, 3, 2]
    assert sweep(engine, NOW + timedelta(minutes=45), cache) == 4
    assert left(engine) == [2, 1, 1]
    assert [path.name for path in half.parent.iterdir()] == ["a" * 40 + "_tile_100.jpg"]
    assert sweep(engine, NOW + timedelta(minutes=45), cache) == 0


def test_many_expired_rows_go_in_several_transactions(engine, tmp_path):
    count = 2 * MOST_SWEPT + 1
    with write_session(engine) as session:
        session.execute(insert(ThrottleBucket), [{"key": str(number), "full_at": 0} for number in range(count)])
    assert sweep(engine, NOW, PictureCache(tmp_path / "cache", 1 << 30)) == count
    assert left(engine) == [0, 0, 0]
