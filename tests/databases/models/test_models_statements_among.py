"""Conditions with many values, on both databases."""

import pytest
from sqlalchemy import create_engine, select
from sqlalchemy.orm import Session

from photosvc.models import File, Photo
from photosvc.models.engine import configure_engine
from photosvc.models.statements import among
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos


@pytest.fixture(scope="module")
def session(new_database):
    engine = create_engine(new_database())
    configure_engine(engine)
    with Session(engine.execution_options(photosvc_writes=True)) as session:
        add_photos(session, 3, NOW)
        yield session
    engine.dispose()


@pytest.mark.parametrize("column", [File.id, File.uid, Photo.id, Photo.place_id])
def test_the_rows_with_one_of_many_values_are_found_and_with_none_no_row(session, column):
    everything = session.scalars(select(column).order_by(column)).all()
    assert len(everything) >= 3
    for values in (everything, everything[:1], []):
        expected = [value for value in everything if value in values]
        assert session.scalars(select(column).where(among(session, column, values)).order_by(column)).all() == expected
