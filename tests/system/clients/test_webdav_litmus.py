"""litmus, the test suite of WebDAV servers, over two workers."""

import pytest

from tests.system.clients.dav_server import serve_dav
from tests.system.clients.litmus import require_all_passed

pytestmark = pytest.mark.needs("litmus")


@pytest.mark.parametrize("threads", [1, 4])
def test_all_tests_of_litmus_pass(tmp_path, threads):
    with serve_dav(tmp_path, options=["--config", "python:photosvc.serving"], threads=threads) as dav:
        require_all_passed(dav, tmp_path)
