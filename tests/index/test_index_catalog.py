from photosvc.index.catalog import Catalog
from photosvc.index.places import Gazetteer


def test_a_position_on_the_open_sea_has_the_unknown_place_of_the_wire(library):
    with library.session() as session:
        cell = Catalog(session, Gazetteer.load()).cell(30, -40)
        place = cell.place
        assert cell.id == "s2:0a8d4b225ad4"
        assert (place.id, place.label, place.city, place.state, place.country) == (
            "zz", "Unknown", "Unknown", "Unknown", "zz",
        )  # fmt: skip
