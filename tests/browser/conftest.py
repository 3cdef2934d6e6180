"""Chromium, in which tests use the pages as people do."""

from pathlib import Path

import pytest

from tests.helpers.fixtures import chromium

__all__ = ["chromium"]


def pytest_collection_modifyitems(items):
    """Let `make test-slow` and `make test-nightly` run all tests of this folder, marked or not."""
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent) and not item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.slow)
