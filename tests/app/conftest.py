"""Tests within the process: none starts an indexer in a process of its own."""

import pytest


def _refuse(_environment):
    raise OSError("tests within the process start no other one")


@pytest.fixture(scope="session", autouse=True)
def without_indexers():
    """Jobs wait for the test's own run: a process that outlives its test could start another one in a later test."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("photosvc.web.indexer._launch", _refuse)
        yield
