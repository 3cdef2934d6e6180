"""Searches near a place by its name, in a worker with threads: any number at once end, and find what one finds."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

import pytest

from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library
from tests.helpers.programs.server import serve

#: Each is looked up anew: names that nobody asked for before, with letters that have to be folded.
NAMES = ("Zürich", "São Paulo", "Malmö", "Kraków", "Łódź", "Göteborg", "Besançon", "Ålesund", "Nîmes", "Târgu Mureş")


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The address of a worker with 16 threads, and a token for it."""
    library = open_library(tmp_path_factory.mktemp("near") / "instance")
    with library.session() as session:
        add_photos(session, 30, NOW)
    token = library.token()
    library.close()
    with serve(library.instance, workers=1, threads=16) as address:
        yield urlsplit(address).netloc, token


def near(served, name):
    netloc, token = served
    with closing(HTTPConnection(netloc, timeout=30)) as connection:
        path = f"/api/v1/photos?q=near:{quote(chr(34) + name + chr(34))}"
        connection.request("GET", path, headers={"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_searches_near_places_that_overlap_all_end(served):
    for threads in (2, 16):
        # Each in a region of its own, so that none finds what another one looked up.
        wanted = [f"{name}, nowhere {threads} {number}" for number in range(8) for name in NAMES]
        with ThreadPoolExecutor(threads) as pool:
            answers = [*pool.map(lambda name: near(served, name), wanted)]
        assert {status for status, _ in answers} == {404}, threads
        assert all("there is no place" in body["error"] for _, body in answers), threads
        with ThreadPoolExecutor(threads) as pool:
            found = [*pool.map(lambda name: near(served, name), NAMES)]
        assert {status for status, _ in found} == {200}, threads
