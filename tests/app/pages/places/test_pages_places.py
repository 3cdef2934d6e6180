"""Places without scripts: countries and towns with their numbers, kept searches, and where tiles may come from."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from photosvc.core.errors import SettingError
from photosvc.pages.search_state import narrowed
from photosvc.settings import load_settings
from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg

TILES = "https://tiles.example.org/{z}/{x}/{y}.png"
SPOTS = {"a.jpg": (49, 24, 8, 41), "b.jpg": (49, 25, 8, 42), "c.jpg": (48, 51, 2, 21)}


def at(lat, lat_minutes, lng, lng_minutes):
    """The tags of a position north of the equator and east of Greenwich."""
    return {1: "N", 2: [(lat, 1), (lat_minutes, 1), (0, 1)], 3: "E", 4: [(lng, 1), (lng_minutes, 1), (0, 1)]}


def link_of(answer, name):
    """The parameters of a link in the navigation."""
    address = re.search(rf'href="([^"]*)"[^>]*>(?:<svg.*?</svg>)<span>{name}<', answer.text)[1]
    return parse_qs(urlsplit(html.unescape(address)).query)


def put_spots(library):
    for number, (name, place) in enumerate(SPOTS.items()):
        taken = exif({0x010F: "Canon"}, {0x9003: f"2023:05:0{number + 1} 10:00:00"}, gps=at(*place))
        library.put(name, jpeg(80, 60, exif=taken) + bytes([number]))
    library.put("nowhere.jpg", jpeg(80, 60) + b"n")
    library.index()


@pytest.fixture
def places(api):
    put_spots(api.library)
    alice = Browser(api)
    alice.sign_in()
    return alice


def test_countries_and_towns_lead_to_their_photos(places):
    page = places.open("/places")
    assert page.status_code == 200
    text = text_of(page)
    assert "Germany 2 photos" in text
    assert "France 1 photo" in text
    assert text.index("Germany") < text.index("France")
    assert 'href="/?q=country%3Afr"' in page.text
    assert "1 photo" in text_of(places.open("/?q=country:fr"))


def test_countries_are_named_in_the_language_of_the_browser(places):
    page = places.open("/places", headers={"Accept-Language": "de-AT,en;q=0.5"})
    assert "Deutschland 2 Fotos" in text_of(page)
    assert "Accept-Language" in page.headers["Vary"]
    assert "Germany 2 photos" in text_of(places.open("/places", headers={"Accept-Language": "en-GB,de;q=0.5"}))


def test_the_search_limits_the_places_and_stays_in_links(places):
    page = places.open("/places?q=taken:2023-05-03+|+taken:2023-05-01")
    assert "Germany 1 photo" in text_of(page)
    assert "q=%28taken%3A2023-05-03+%7C+taken%3A2023-05-01%29+country%3Ade" in page.text
    photos, other = (
        link_of(places.open(path), name) for path, name in (("/places?q=year:2023+|+a", "Photos"), ("/?q=a", "Places"))
    )
    assert (photos, other) == ({"q": ["year:2023 | a"]}, {"q": ["a"]})


def test_a_square_of_the_clusters_has_exactly_the_photos_of_its_disc(places):
    """As the map asks: the squares around the discs, by the side that the answer tells, have the photos of each."""
    headers = {**OWN, "X-Photosvc": "1", "Sec-Fetch-Mode": "cors"}
    for zoom in (0, 3, 6, 20):
        found = places.open(f"/api/v1/photos/clusters?zoom={zoom}", headers=headers).json
        side = found["cell"]
        for lat, lng, count, *_ in found["clusters"]:
            south, west = (lat + 90) // side * side - 90, (lng + 180) // side * side - 180
            box = f"{min(south + side - 1e-7, 90):.7f},{min(west + side - 1e-7, 180):.7f},{south:.7f},{west:.7f}"
            months = places.open(f"/api/v1/photos/timeline?q=latlng:{box}", headers=headers).json
            assert months["total"] == count


def test_a_query_that_is_wrong_is_told_beside_the_field(places):
    page = places.open("/places?q=yaer:2023")
    assert page.status_code == 400
    assert 'aria-invalid="true"' in page.text
    assert "map" not in page.text.partition("</form>")[2]


def test_markup_in_a_query_is_text(places):
    page = places.open('/places?q="><img src=x onerror=alert(1)>')
    assert page.status_code < 500
    assert "<img src=x" not in page.text


def test_without_photos_the_page_says_so(alice):
    assert "No photo has a known place yet." in text_of(alice.open("/places"))


def test_nothing_but_this_page_may_load_the_tiles_of_the_setting(tmp_path):
    credit = "© Example <b> https://example.org/copyright"
    with open_api(tmp_path, settings={"PHOTOSVC_MAP_TILES": TILES, "PHOTOSVC_MAP_ATTRIBUTION": credit}) as api:
        alice = Browser(api)
        alice.sign_in()
        page = alice.open("/places")
        assert "img-src 'self' https://tiles.example.org;" in page.headers["Content-Security-Policy"]
        assert 'href="https://example.org/copyright" rel="noreferrer">© Example &lt;b&gt;</a>' in page.text
        assert "tiles.example.org" not in alice.open("/").headers["Content-Security-Policy"]


def test_without_tiles_nothing_comes_from_elsewhere(alice):
    page = alice.open("/places")
    assert "img-src 'self';" in page.headers["Content-Security-Policy"]
    assert "Natural Earth" in page.text


@pytest.mark.parametrize(
    "address",
    [
        "https://tiles.example.org/{z}/{x}.png",
        "https://tiles.example.org/{z}/{x}/{y}/{s}.png",
        "https://{z}.example.org/{x}/{y}",
        "https://a.org; script-src *.org/{z}/{x}/{y}",
        "https://user@a.org/{z}/{x}/{y}",
        "//a.org/{z}/{x}/{y}",
        "javascript:alert(1)/{z}/{x}/{y}",
        "https://a.org/{z}/{x}/{y}/" + "a" * 500,
    ],
)
def test_addresses_that_are_none_of_tiles_are_refused(tmp_path, address):
    with pytest.raises(SettingError, match="PHOTOSVC_MAP_TILES"):
        load_settings(tmp_path, environ={"PHOTOSVC_MAP_TILES": address})


@pytest.mark.parametrize("address", [TILES, "http://10.0.0.2:8090/t/{z}/{x}/{y}{r}.png?key=a-b", "/tiles/{z}/{y}/{x}"])
def test_addresses_of_tiles_are_taken(tmp_path, address):
    assert load_settings(tmp_path, environ={"PHOTOSVC_MAP_TILES": address}).map_tiles == address


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ""),
        ("lake sun", "lake sun"),
        ("a | b", "(a | b)"),
        ("a or b order:title", "(a or b)"),
        ("a or", "(a or)"),
        ("a not", "(a not)"),
        ("or a", "or a"),
    ],
)
def test_further_conditions_are_added_to_the_whole_query(query, expected):
    assert narrowed(query) == expected
