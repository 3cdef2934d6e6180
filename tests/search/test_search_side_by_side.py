"""Searches of one process side by side: while the database is slow to plan one, others go on."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from sqlalchemy import create_engine, event
from sqlalchemy.orm import Session

from photosvc.models.database.engine import configure_engine
from photosvc.search.reading.paging.page import find
from photosvc.search.reading.request import parse_request
from tests.clock import NOW
from tests.factories.photos import add_photos

#: Their first statement asks how large the library is, to choose a plan.
QUERIES = ("-iso:1-", "faces:3")


@pytest.fixture
def engine(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine) as session:
        add_photos(session, 400, NOW)
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
