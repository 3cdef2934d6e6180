import pytest
from sqlalchemy import func, select

from photosvc.index.shared_rows import SharedRows
from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Camera, Keyword, Place


@pytest.fixture
def session(library):
    with library.session() as session:
        yield session


@pytest.fixture
def new_catalog(session):
    return lambda: SharedRows(session, "UTC")


def values(shared_rows):
    """The rows that are given for equal values."""
    camera, lens = shared_rows.camera("Canon", "EOS R5"), shared_rows.lens("Canon", "50mm")
    cell, sea = shared_rows.cell(47.37, 8.54), shared_rows.cell(30, -40)
    words = shared_rows.keywords(["Été", "ete", "", "sun"])
    return [
        (camera.make, camera.model, camera.type),
        (lens.make, lens.model),
        (cell.id, cell.place.city, cell.place.country),
        (sea.id, sea.place.id, sea.place.label, sea.place.city, sea.place.state, sea.place.country),
        [(word.word, word.folded) for word in words],
        (shared_rows.camera("", "").id, shared_rows.lens("Canon", "").id, shared_rows.nowhere().place.id),
    ]


def test_what_is_not_known_yet_is_inserted_once(session, new_catalog):
    cameras = session.scalar(select(func.count()).select_from(Camera))
    for shared_rows in (new_catalog(), new_catalog()):
        assert values(shared_rows) == [
            ("Canon", "EOS R5", "body"),
            ("Canon", "50mm"),
            ("s2:47900a00931c", "Zürich", "ch"),
            ("s2:0a8d4b225ad4", UNKNOWN_PLACE, "Unknown", "Unknown", "Unknown", "zz"),
            [("Été", "ete"), ("sun", "sun")],
            (UNKNOWN_ID, UNKNOWN_ID, UNKNOWN_PLACE),
        ]
        session.flush()
    assert session.scalar(select(func.count()).select_from(Camera)) == cameras + 1
    assert session.scalars(select(Keyword.folded).order_by(Keyword.id)).all() == ["ete", "sun"]
    assert session.scalar(select(func.count()).select_from(Place).where(Place.city == "Zürich")) == 1
