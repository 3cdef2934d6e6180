"""Names of countries, states and cities in many languages: the photos that they find."""

import pytest

from photosvc.core.errors import NotFoundError
from photosvc.data.place_names import names_in_text, places_named
from photosvc.media.metadata import Metadata
from photosvc.search.reading.towns import find_town
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions
from tests.helpers.parsing import parse_query, understand

PHOTOS = {
    "beach.jpg": (36.72, -4.42),  # Málaga
    "bridge.jpg": (40.75, -73.99),
    "dome.jpg": (43.779, 11.246),
    "garden.jpg": (48.144, 11.595),
    "mill.jpg": (48.205, 16.365),
    "queen.jpg": (51.51, -0.12),
    "shrine.jpg": (35.69, 139.69),
    "virginia.jpg": (38.901, -77.265),  # Vienna, Virginia
}
BEACH, BRIDGE, DOME, GARDEN, MILL, QUEEN, SHRINE, VIRGINIA = PHOTOS
DIARY, CAT = "diary.jpg", "cat.jpg"


@pytest.fixture(scope="module")
def library(new_library):
    library = new_library()
    with library.session() as session:
        placed = [(name, Metadata(lat=lat, lng=lng)) for name, (lat, lng) in PHOTOS.items()]
        others = [(DIARY, Metadata(title="Wiener Schnitzel in Wien")), (CAT, Metadata(title="Cat near lakes"))]
        photos = [
            (name, new_extraction(number, metadata=metadata))
            for number, (name, metadata) in enumerate([*placed, *others])
        ]
        store_extractions(session, photos, NOW)
    return library


def found(library, query):
    return [record["FileName"] for record in library.find(token=library.token(role="admin"), q=query, order="name")]


def test_a_place_is_found_by_its_name_in_any_language(library):
    for query, names in (
        ("wien", [DIARY, MILL, VIRGINIA]),
        ("m\u00fcnchen", [GARDEN]),
        ("muenchen", [GARDEN]),
        ("monaco di baviera", [GARDEN]),
        ("\u041c\u044e\u043d\u0445\u0435\u043d", [GARDEN]),
        ("florenz", [DOME]),
        ("Firenze", [DOME]),
        ("nyc", [BRIDGE]),
        ("nueva york", [BRIDGE]),
        ("\u6771\u4eac", [SHRINE]),
        ("\u0442\u043e\u043a\u0438\u043e", [SHRINE]),
        ("\u0e42\u0e15\u0e40\u0e01\u0e35\u0e22\u0e27", [SHRINE]),
        ("deutschland", [GARDEN]),
        ("spanien", [BEACH]),
        ("usa", [BRIDGE, VIRGINIA]),
        ("vereinigte staaten", [BRIDGE, VIRGINIA]),
        ("uk", [QUEEN]),
        ("bayern", [GARDEN]),
        ("toskana", [DOME]),
        ("andalusien", [BEACH]),
        ("usa not nyc", [VIRGINIA]),
        ("wien | florenz", [DIARY, DOME, MILL, VIRGINIA]),
        ('"wien"', [DIARY]),
        ("wien*", [DIARY]),
        ("country:deutschland", [GARDEN]),
        ("country:spanien|allemagne", [BEACH, GARDEN]),
        ("country:\u65e5\u672c", [SHRINE]),
        ("city:m\u00fcnchen", [GARDEN]),
        ("city:wien", [MILL, VIRGINIA]),
        ("city:wien country:at", [MILL]),
        ("city:!florenz city:flor*", []),
        ("state:bayern", [GARDEN]),
        ("state:toskana|kalifornien", [DOME]),
        ("place:florenz", [DOME]),
        ("near:m\u00fcnchen", [GARDEN]),
        ("near:wien", [MILL]),
        ('near:"M\u00fcnchen, Bayern"', [GARDEN]),
        ('near:"Wien, \u00d6sterreich"', [MILL]),
        ('near:"Vienna, Virginia"', [VIRGINIA]),
        ("near nyc", [BRIDGE]),
        ("near Florenz, Italien", [DOME]),
        ("near:london", [QUEEN]),
        ("near lakes", [CAT]),
        ("cat", [CAT]),
    ):
        assert found(library, query) == names, query


def test_a_frequent_english_word_behind_near_is_a_small_place_only_if_the_query_says_so():
    assert understand("near lakes") == understand("near forest") == []
    for query in ('near "lakes"', "near Lakes, Alaska", "near zermatt", "near amalfi", "near Roma"):
        assert [one.meaning.query[:5] for one in understand(query)] == ["near:"]


def test_places_that_bear_a_name_come_before_others_that_are_called_so_elsewhere_unless_they_are_far_smaller():
    ((lat, lng),) = find_town("vienne", "")
    assert (round(lat, 1), round(lng, 1)) == (45.5, 4.9)  # Vienne in France, 30,000 inhabitants
    ((lat, lng),) = find_town("roma", "")
    assert (round(lat, 1), round(lng, 1)) == (41.9, 12.5)
    assert find_town("roma", "texas") != find_town("roma", "")
    with pytest.raises(NotFoundError):
        find_town("munchen", "italien")


def test_near_a_name_of_several_places_is_near_the_large_ones():
    for name, region, positions in (
        ("york", "", [(54.0, -1.1)]),  # 156,000 inhabitants; 44,000 in Pennsylvania
        ("york", "us", [(40.0, -76.7)]),
        ("portland", "", [(45.5, -122.7)]),
        ("perth", "", [(-31.9, 115.9)]),
        ("kansas city", "", [(39.1, -94.6)]),  # in Missouri, beside the one in Kansas
        ("cambridge", "", [(42.4, -71.1), (43.4, -80.3), (52.2, 0.1)]),  # all of more than 100,000
        ("cambridge", "england", [(52.2, 0.1)]),
    ):
        found = [(round(lat, 1), round(lng, 1)) for lat, lng in find_town(name, region)]
        assert sorted(found) == sorted(positions), (name, region)


def test_words_are_no_places_in_free_text_except_names_of_large_cities():
    for word in ("the", "sea", "lake", "sun", "dog", "cat", "hund", "rose", "gold", "panda", "man"):
        assert names_in_text(word) == [], word
    for name, own in (("cologne", "koln"), ("niza", "nice"), ("nuremberg", "nurnberg"), ("hanover", "hannover")):
        assert names_in_text(name) == [own], name  # frequent or short, but hardly meant otherwise


def test_hostile_names_are_bounded():
    assert places_named("x" * 10_000) == ()
    parse_query(" ".join(["wien", "new york", "vereinigte staaten"] * 40))
    assert str(parse_query(" ".join(f"w{number}" for number in range(60)) + " wien")).count("vienna") == 0
