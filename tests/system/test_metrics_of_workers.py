"""The figures of a server with several workers."""

import urllib.error
import urllib.request

import pytest

from tests.app.serving.test_metrics import ROUTE, requests, samples, scrape
from tests.helpers.library import open_library
from tests.helpers.programs.server import serve


def test_counts_are_those_of_all_workers_and_outlive_them(tmp_path):
    library = open_library(tmp_path / "instance")
    token = library.token()

    def get(path):
        asked = urllib.request.Request(base + path, headers={"X-Auth-Token": token})
        with urllib.request.urlopen(asked, timeout=10) as answer:
            return answer.headers["X-Worker"], answer.read().decode()

    workers = set()
    total = 0
    for _ in range(2):
        with serve(library.instance) as base:
            seen = set()
            while len(seen) < 2:
                seen.add(get("/api/v1/photos")[0])
                total += 1
            with pytest.raises(urllib.error.HTTPError):
                get("/api/v1/photos?count=none")
            workers |= seen
            for _ in range(6):
                assert requests(samples(get("/api/v1/metrics")[1]), ROUTE) == total
    assert len(workers) == 4
    found = scrape(library)
    assert requests(found, ROUTE, status="400") == 2
    assert requests(found, "/api/v1/metrics") == 12
    assert 2 <= len([*(library.instance / "metrics").iterdir()]) <= 4
