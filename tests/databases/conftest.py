"""Databases and helpers for the tests of both databases."""

import pytest
from sqlalchemy import create_engine

from photosvc.models.engine import configure_engine


@pytest.fixture
def engine(new_database):
    """The engine of a database with the tables, of one kind and then of the other."""
    engine = create_engine(new_database())
    configure_engine(engine)
    yield engine
    engine.dispose()
