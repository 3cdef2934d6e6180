"""The grid in Chromium while the library is indexed: photos that come, the progress, and what somebody types."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import delete

from photosvc.jobs.queue import INDEX, State
from photosvc.models import Job
from tests.browser.chromium import open_page
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

pytestmark = pytest.mark.timeout(180)

FIRST = ".tiles li[aria-posinset='1']"
#: The height on the screen of the photo with this text.
TOP = "text => document.querySelector(`.tiles img[alt='${text}']`)?.getBoundingClientRect().top"


@pytest.fixture
def served(tmp_path):
    """A service without photos; gives its address and the client of its API."""
    with (
        open_api(tmp_path) as api,
        serve(api.library.instance, workers=1, threads=4) as base,
    ):
        yield base, api


def add(api, days):
    """Index another photo for each of these days, as a part of the run that goes on."""
    for day in days:
        taken = exif({}, {0x9003: f"2023:05:{day:02} 10:00:00"})
        api.library.put(f"IMG_{day:02}.jpg", jpeg(80, 60, exif=taken) + bytes([day]))
    end(api)
    api.library.index()
    run(api)


def run(api):
    """Begin an index run that has read 313 of 3,128 files."""
    now = datetime.now(UTC)
    job = Job(
        kind=INDEX.name, subject="", arguments={"force": False}, state=State.RUNNING.value, large=False,
        requested=False, cancelled=False, attempts=1, not_before=now, owner="test", outcome="", created_at=now,
        report={"read": 313, "to_read": 3128}, started_at=now, leased_until=now + timedelta(hours=1),
    )  # fmt: skip
    with api.library.session() as session:
        session.add(job)
        session.commit()


def end(api):
    with api.library.session() as session:
        session.execute(delete(Job))
        session.commit()


@pytest.fixture
def running(served):
    """The client of the API, while an index run goes on."""
    run(served[1])
    yield served[1]
    end(served[1])


def test_an_empty_library_shows_its_first_photos_but_not_while_somebody_types(served, running, chromium):
    base, api = served
    with open_page(chromium, base) as page:
        page.wait_for_selector(".indexing:text-is('Indexing: 313 of 3,128')")
        page.fill(".search input", "lake")
        with page.expect_response("**/photos/state"):
            add(api, range(1, 3))
        with page.expect_response("**/photos/state"):  # it tells of the photos, as it was asked after they came
            pass
        assert page.input_value(".search input") == "lake"
        page.fill(".search input", "")
        page.evaluate("document.activeElement.blur()")
        page.wait_for_selector(f"{FIRST}[aria-setsize='2'] img.here")


def test_photos_that_come_leave_what_is_looked_at_where_it_is_and_no_request_fails(served, running, chromium):
    base, api = served
    add(api, range(1, 15))
    with open_page(chromium, base, height=500) as page:
        answers = []
        page.on("response", lambda answer: answers.append(answer.status) if "/photos/" in answer.url else None)
        page.wait_for_selector(f"{FIRST}[aria-setsize='14'] img.here")
        page.wait_for_selector(".indexing:text-is('Indexing: 313 of 3,128')")
        page.evaluate("scrollTo(0, 0)")
        text = page.get_attribute(f"{FIRST} img", "alt")
        before = page.evaluate(TOP, text)
        add(api, range(15, 29))
        page.wait_for_selector(".tiles li[aria-setsize='28']")
        page.wait_for_selector(".summary .total span:text-is('28 photos')")
        assert abs(page.evaluate(TOP, text) - before) <= 1
        assert set(answers) <= {200, 304}


def test_the_line_goes_with_the_run_and_nothing_is_asked_for_while_the_page_is_left_alone(served, chromium):
    base, api = served
    add(api, [29])
    end(api)
    with open_page(chromium, base) as page:
        asked, answered = [], []
        page.on("request", lambda request: asked.append(request.url) if "/photos/state" in request.url else None)
        page.on("response", lambda answer: answered.append(answer.url) if "/photos/state" in answer.url else None)
        page.clock.install()
        page.goto(base)
        page.wait_for_selector(f"{FIRST} img.here")
        for _ in range(700):
            # The next look is planned by the time that the answer took, so the clock stands while one is awaited.
            page.clock.run_for(1000)
            if len(asked) > len(answered):
                page.wait_for_event("response", lambda answer: "/photos/state" in answer.url)
        assert not page.is_visible(".indexing")
        assert 30 <= len(asked) <= 41
        count = len(asked)
        with page.expect_request("**/photos/state"):
            page.mouse.move(300, 300)
        assert len(asked) == count + 1
