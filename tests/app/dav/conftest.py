"""No request of WebDAV starts an indexer in a process of its own."""

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def without_indexer() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.dav.server.wake_indexer", lambda _service: None)
        yield
