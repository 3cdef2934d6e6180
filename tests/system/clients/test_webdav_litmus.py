"""litmus, the test suite of WebDAV servers, over two workers."""

import pytest

from tests.helpers.programs.dav_server import serve_dav
from tests.system.clients.litmus import require_all_passed

pytestmark = pytest.mark.needs("litmus")


@pytest.mark.parametrize("kind", ["sync", "photosvc.serving.Worker"])
def test_all_tests_of_litmus_pass(tmp_path, kind):
    with serve_dav(tmp_path, options=["--worker-class", kind], threads=1 if kind == "sync" else 4) as dav:
        require_all_passed(dav, tmp_path)
