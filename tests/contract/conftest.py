"""What tests of clients and of faults share: a WebDAV server, and a small file system."""

import pytest

from tests.support.files.small_disk import mounted
from tests.support.programs.dav_server import serve_dav


@pytest.fixture(scope="module")
def dav_of_module(tmp_path_factory):
    """A WebDAV server with two workers."""
    with serve_dav(tmp_path_factory.mktemp("dav")) as dav:
        yield dav


@pytest.fixture
def dav(dav_of_module):
    """The WebDAV server of the module, without originals."""
    dav_of_module.empty()
    return dav_of_module


@pytest.fixture
def small_disk(tmp_path):
    """A folder on a file system of 4 MiB."""
    with mounted(tmp_path / "disk", 4) as folder:
        yield folder
