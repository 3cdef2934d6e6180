import pytest
from sqlalchemy import func, select

from photosvc.index.shared_rows import Catalog
from photosvc.models import UNKNOWN_ID, UNKNOWN_PLACE, Camera, Keyword, Place


@pytest.fixture
def session(library):
    with library.session() as session:
        yield session


@pytest.fixture
def new_catalog(session):
    return lambda: Catalog(session, "UTC")


def values(catalog):
    """The rows that a catalog gives for the same questions."""
    camera, lens = catalog.camera("Canon", "EOS R5"), catalog.lens("Canon", "50mm")
    cell, sea = catalog.cell(47.37, 8.54), catalog.cell(30, -40)
    words = catalog.keywords(["Été", "ete", "", "sun"])
    return [
        (camera.make, camera.model, camera.type),
        (lens.make, lens.model),
        (cell.id, cell.place.city, cell.place.country),
        (sea.id, sea.place.id, sea.place.label, sea.place.city, sea.place.state, sea.place.country),
        [(word.word, word.folded) for word in words],
        (catalog.camera("", "").id, catalog.lens("Canon", "").id, catalog.nowhere().place.id),
    ]


def test_what_is_not_known_yet_is_inserted_once(session, new_catalog):
    cameras = session.scalar(select(func.count()).select_from(Camera))
    for catalog in (new_catalog(), new_catalog()):
        assert values(catalog) == [
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
