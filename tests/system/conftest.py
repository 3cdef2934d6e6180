"""A WebDAV server for foreign clients."""

from pathlib import Path

import pytest

from tests.helpers.fixtures import dav, dav_of_module

__all__ = ["dav", "dav_of_module"]


def pytest_collection_modifyitems(items):
    """Let `make test-slow` and `make test-nightly` run all tests of this folder, marked or not."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.slow)
