"""Searches of one process side by side: while the database is slow to plan one, others go on."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from sqlalchemy import create_engine, event, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

from photosvc.core.slots import Slots
from photosvc.models.engine import configure_engine
from photosvc.search.limits import Limits, RunningSearch, begin_limits, end_limits, ended_by_limit
from photosvc.search.reading.pages import find
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.parsing import parse_request

#: Their first statement asks how large the library is, to choose a plan.
QUERIES = ("-iso:1-", "faces:3")


@pytest.fixture(scope="module")
def engine(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        add_photos(session, 100, NOW)
        session.commit()
    yield engine
    engine.dispose()


@pytest.mark.parametrize("query", QUERIES)
def test_a_search_that_waits_for_the_database_keeps_no_other_from_going_on(engine, query):
    asked, answer = Event(), Event()
    request = parse_request((("q", query),))

    def search(statements):
        with engine.connect() as connection:
            event.listen(connection, "before_cursor_execute", statements)
            return len(find(connection, request, sees_private=True).body)

    def waits(*_):
        asked.set()
        assert answer.wait(10)

    def goes_on(*_):
        pass

    with ThreadPoolExecutor(2) as pool:
        waiting = pool.submit(search, waits)
        assert asked.wait(10)
        try:
            size = pool.submit(search, goes_on).result(5)
        finally:
            answer.set()
        assert waiting.result(10) == size


_SHARED = """
from concurrent.futures import ThreadPoolExecutor
from sqlalchemy import StaticPool, create_engine, text
from photosvc.core.slots import Slots
from photosvc.search.limits import Limits, RunningSearch, begin_limits, end_limits

engine = create_engine("sqlite://", poolclass=StaticPool, connect_args={"check_same_thread": False})
limits = Limits(20.0, Slots(4))
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT sum(i) FROM n"

def search():
    for _ in range(50):
        with engine.connect() as connection:
            read = RunningSearch(limits, "owner", lambda: False, "q")
            limited = begin_limits(connection, read)
            assert connection.scalar(text(NUMBERS)) == 200010000
            if limited:
                end_limits(read)

with ThreadPoolExecutor(2) as pool:
    for ended in [pool.submit(search) for _ in range(2)]:
        ended.result()
print("ended")
"""


def test_searches_that_share_the_connection_of_a_database_in_memory_end():
    command = [sys.executable, "-c", _SHARED]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "ended\n", "")


def test_a_statement_of_postgresql_ends_at_the_deadline_of_its_search(engine):
    if engine.dialect.name == "sqlite":  # tests of the deadline with a moved clock are in tests/app/search/limits
        return
    read = RunningSearch(Limits(0.05, Slots(1)), "owner", lambda: False, "q")
    with engine.connect() as connection:
        assert begin_limits(connection, read)
        with pytest.raises(DBAPIError) as error:
            connection.execute(text("SELECT pg_sleep(60)"))
        end_limits(read)
    assert ended_by_limit(error.value)
