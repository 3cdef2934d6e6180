"""What the tests of changes to a library share: each gets a copy of the library `filled` of its module."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from photosvc.models import Photo
from photosvc.search.projection.verify import count_orphans, differing
from tests.library import Library, copy_library


@pytest.fixture
def library(filled: Library, tmp_path: Path) -> Iterator[Library]:
    """A copy of the library `filled`, which is closed."""
    library = copy_library(filled, tmp_path / "instance")
    yield library
    library.close()


@pytest.fixture
def right_search_rows(library: Library) -> Iterator[None]:
    """Checks after the test that the search rows are those of the library."""
    yield
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
        assert count_orphans(session) == 0


@pytest.fixture
def call(library: Library):
    """A function that sends a request and gives the body of an answer with this status."""

    def call(method, path, status=200, *, token=None, **options):
        headers = {"X-Auth-Token": token or library.token()}
        answer = library.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)
        assert answer.status_code == status, answer.text
        return answer.json if answer.is_json else answer.text

    return call
