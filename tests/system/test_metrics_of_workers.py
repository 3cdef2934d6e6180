"""The figures of a server with several workers."""

import urllib.error
import urllib.request

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.helpers.library import open_library
from tests.helpers.programs.server import serve

ROUTE = "/api/v1/photos"


def samples(text):
    """Value by name and sorted labels."""
    return {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def requests(found, route, method="GET", status="200"):
    return found.get(("photosvc_requests_total", ("method", method), ("route", route), ("status", status)), 0)


def scrape(library):
    answer = library.get(path="/api/v1/metrics", token=library.token("metrics"))
    assert answer.status_code == 200
    return samples(answer.text)


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
