"""Chromium, a WebDAV server and a small file system."""

from pathlib import Path

import pytest

from tests.helpers.fixtures import chromium, dav, dav_of_module, small_disk

__all__ = ["chromium", "dav", "dav_of_module", "small_disk"]


def pytest_collection_modifyitems(items):
    """Let `make test-slow` and `make test-nightly` run all tests of this folder, marked or not."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.slow)
