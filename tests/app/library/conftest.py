"""Libraries that tests change: each test has a copy, and its search rows must be right at the end."""

from collections.abc import Callable, Iterator, Mapping
from copy import copy
from functools import partial
from pathlib import Path

import pytest

from photosvc.models import Photo
from photosvc.search.rows.check import count_orphans, differing
from tests.app.library.sharing import Sharing
from tests.app.uploads.upload_client import open_uploads
from tests.helpers.library import Library, copy_library, open_library


@pytest.fixture(scope="session")
def fill(tmp_path_factory) -> Callable[..., Library]:
    """Return a function that makes a library of the files and closes it."""

    def fill(files: Mapping[str | bytes, bytes], **settings: object) -> Library:
        library = open_library(tmp_path_factory.mktemp("filled") / "instance", settings=settings)
        for name, data in files.items():
            library.put(name, data)
        library.index()
        library.close()
        return library

    return fill


@pytest.fixture
def open_copy(filled: Library, tmp_path: Path) -> Iterator[Callable[..., Library]]:
    """Return a function that opens the copy of the library `filled` of the module with some settings."""
    opened: list[Library] = []

    def open_copy(**settings: object) -> Library:
        instance = tmp_path / "instance"
        again = open_library(instance, upgrade=False, settings=settings) if opened else None
        opened.append(again or copy_library(filled, instance, settings=settings))
        return opened[-1]

    yield open_copy
    if opened:
        with opened[-1].session() as session:
            assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()
            assert count_orphans(session) == 0
    for library in opened:
        library.close()


@pytest.fixture
def library(open_copy: Callable[..., Library]) -> Library:
    """The copy of `filled` with the default settings."""
    return open_copy()


@pytest.fixture
def call(library: Library) -> Callable[..., object]:
    """Return a function that sends a request of a client and returns the body of an answer with the expected status."""
    return library.call


@pytest.fixture
def admin(library: Library) -> Callable[..., object]:
    """A function as `call` for an administrator."""
    return partial(library.call, token=library.token(role="admin"))


@pytest.fixture(scope="session")
def shared_album(tmp_path_factory) -> Sharing:
    """The library that `sharing` copies."""
    with open_uploads(tmp_path_factory.mktemp("shared")) as api:
        return Sharing(api)


@pytest.fixture
def sharing(shared_album: Sharing, tmp_path: Path) -> Iterator[Sharing]:
    """A library whose album the account `alice` may share."""
    with open_uploads(tmp_path, like=shared_album.api) as api:
        sharing = copy(shared_album)
        sharing.api = api
        yield sharing
