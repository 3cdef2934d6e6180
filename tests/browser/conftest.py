"""Chromium, a library to look at, and one of its own for each test that changes something."""

from contextlib import contextmanager
from typing import NamedTuple

import pytest

from tests.helpers.api_client import ApiClient, open_api
from tests.helpers.fixtures import chromium
from tests.helpers.library import Library
from tests.helpers.pictures import exif, jpeg
from tests.helpers.programs.server import serve

__all__ = ["chromium"]

#: Photos of each day of the library to look at, from the first one in time to the last.
DAYS = {f"{year}:05:01": 12 for year in range(2008, 2018)} | {
    "2019:07:03": 3, "2021:12:24": 8, "2022:03:01": 30, "2023:05:01": 12, "2023:05:02": 1, "2023:05:04": 2,
    "2023:10:18": 60,
}  # fmt: skip
#: Photos of the library of each test.
FEW = 6


class Site(NamedTuple):
    """A library that is served."""

    base: str
    api: ApiClient
    library: Library


@contextmanager
def serve_site(api, **options):
    with serve(api.library.instance, workers=1, threads=8, **options) as base:
        yield Site(base, api, api.library)


@pytest.fixture(scope="package")
def site(tmp_path_factory):
    """A served library with the photos of `DAYS`, which tests do not change."""
    with open_api(tmp_path_factory.mktemp("days")) as api:
        for day, count in DAYS.items():
            for number in range(count):
                shape = ((80, 60), (60, 80), (120, 60))[number % 3]
                taken = exif({0x010F: "Canon", 0x0110: "EOS 5D"}, {0x9003: f"{day} 10:{number:02}:00"})
                name = f"{day.replace(':', '')}/IMG_{number:04}.jpg"
                api.library.put(name, jpeg(*shape, exif=taken) + f"{day}{number}".encode())
        assert api.library.index().summary.indexed == sum(DAYS.values())
        with serve_site(api) as site:
            yield site


@pytest.fixture(scope="package")
def _few(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("few")) as api:
        for number in range(FEW):
            taken = exif({0x010F: "Canon", 0x0110: "EOS 5D"}, {0x9003: f"2023:05:0{number + 1} 10:00:00"})
            api.library.put(f"2023/IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        assert api.library.index().summary.indexed == FEW
    return api


@pytest.fixture
def own(_few, tmp_path):
    """A served library of the test alone: `IMG_0` to `IMG_5` of the first days of May 2023."""
    with open_api(tmp_path, like=_few) as api, serve_site(api) as site:
        yield site
