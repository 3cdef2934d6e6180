"""Parts of the tests of index runs and jobs."""

import pytest

from tests.helpers.library import new_engine


@pytest.fixture
def engine(tmp_path):
    """The engine of an empty SQLite database with the tables."""
    engine = new_engine(tmp_path)
    yield engine
    engine.dispose()
