"""A client of WebDAV; no request starts an indexer in a process of its own."""

import pytest

from tests.app.dav.dav_client import DavClient
from tests.helpers.api_client import open_api


@pytest.fixture(scope="module", autouse=True)
def without_indexer():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.web.indexer._launch", lambda _: pytest.fail("an indexer is started"))
        patch.setattr("photosvc.dav.blueprint.wake_indexer", lambda _service: None)
        yield


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """The client of a module, and of an administrator."""
    with open_api(tmp_path_factory.mktemp("dav")) as api:
        shared = DavClient(api)
        shared.ann = DavClient(api, "ann")
        yield shared


@pytest.fixture
def dav(shared, request):
    """The client of the module, with a folder of its own for each test: `dav.top` is its path."""
    shared.top = "/" + request.node.name.partition("[")[0]
    assert shared.call("MKCOL", shared.top).status_code in {201, 405}
    return shared
