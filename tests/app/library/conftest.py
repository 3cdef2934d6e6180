"""What the tests of changes to a library share: each gets a copy of the library `filled` of its module."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from photosvc.models import Photo
from photosvc.search.rows.renew import count_orphans, differing
from tests.helpers.library import Library, copy_library, open_library


@pytest.fixture
def open_copy(filled: Library, tmp_path: Path) -> Iterator[Callable[..., Library]]:
    """A function that opens the test's copy of the library `filled`, which is closed, with these settings."""
    opened: list[Library] = []

    def open_copy(**settings: str) -> Library:
        instance = tmp_path / "instance"
        again = open_library(instance, upgrade=False, settings=settings) if opened else None
        opened.append(again or copy_library(filled, instance, settings=settings))
        return opened[-1]

    yield open_copy
    for library in opened:
        library.close()


@pytest.fixture
def copied_library(open_copy: Callable[..., Library]) -> Library:
    """The copy of `filled` with the default settings."""
    return open_copy()


@pytest.fixture
def right_search_rows(copied_library: Library) -> Iterator[None]:
    """Checks after the test that the search rows are those of the library."""
    yield
    with copied_library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
        assert count_orphans(session) == 0


@pytest.fixture
def call(copied_library: Library):
    """A function that sends a request and gives the body of an answer with this status."""
    return copied_library.call
