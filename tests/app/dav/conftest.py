"""A service with the tables of WebDAV, on both databases."""

from collections.abc import Callable, Iterator

import pytest

from photosvc.web.current import current_service
from tests.helpers.library import open_library


@pytest.fixture(scope="session", autouse=True)
def without_indexer() -> Iterator[None]:
    """No request starts an indexer in a process of its own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.dav.server.wake_indexer", lambda _service: None)
        yield


@pytest.fixture(scope="module")
def stored(tmp_path_factory, new_database):
    """A library whose database is one of both kinds; shared by the tests of a module."""
    settings = {"PHOTOSVC_DATABASE_URI": new_database()}
    library = open_library(tmp_path_factory.mktemp("dav"), settings=settings)
    yield library
    library.close()


@pytest.fixture
def service(stored) -> Iterator[Callable]:
    """The service inside a context of its app."""
    with stored.app.app_context():
        yield current_service()
