"""APIs whose uploads are indexed at once: one of a module, and one of a test alone."""

import pytest

from tests.app.uploads.upload_client import open_uploads


@pytest.fixture(scope="module", autouse=True)
def without_indexer():
    """No request starts an indexer in a process of its own: it would do the jobs beside the test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.web.indexer._launch", lambda _: pytest.fail("an indexer is started"))
        yield


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("uploads")) as api:
        yield api


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "*")


@pytest.fixture
def own(tmp_path):
    with open_uploads(tmp_path) as api:
        yield api
