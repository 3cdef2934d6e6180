"""The parameters of GET /photos, and the headers of its answer."""

import pytest

from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library


@pytest.fixture(scope="module")
def filled_library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("parameters"))
    with library.session() as session:
        add_photos(session, 30, NOW)
    return library


FILES = 35


def window_headers(answer):
    return tuple(int(answer.headers[name]) for name in ("X-Count", "X-Limit", "X-Offset"))


def test_count_offset_and_limit(filled_library):
    for query, expected in (
        ("", (FILES, 100, 0)),
        ("count=&offset=&order=&primary=&seed=&cursor=", (FILES, 100, 0)),
        ("count=%20&offset=+", (FILES, 100, 0)),
        ("count=5", (5, 5, 0)),
        ("count=5&offset=33", (2, 5, 33)),
        ("count=5&offset=35", (0, 5, 35)),
        ("offset=9007199254740992", (0, 100, 2**53)),
        ("count=100000", (FILES, 100_000, 0)),
        ("count=100001", (FILES, 100_000, 0)),
        ("count=99999999999999999999", (FILES, 100_000, 0)),
        ("count=007", (7, 7, 0)),
        ("count=%2B7", (7, 7, 0)),
        ("count=3&count=4", (4, 4, 0)),
        ("count=3&count=", (3, 3, 0)),
        ("q=xyzzy&q=", (0, 100, 0)),
        ("q=xyzzy&q=-xyzzy", (FILES, 100, 0)),
        ("country=0", (FILES, 100, 0)),
        ("name=xyzzy", (0, 100, 0)),
        ("name=xyzzy&name=!xyzzy", (FILES, 100, 0)),
        ("primary=true&count=100", (30, 100, 0)),
        ("primary=1", (30, 100, 0)),
        ("primary=YES", (30, 100, 0)),
        ("primary=on", (30, 100, 0)),
        ("primary=false", (FILES, 100, 0)),
        ("primary=0", (FILES, 100, 0)),
        ("no-such-parameter=1&Count=3", (FILES, 100, 0)),
        ("seed=5", (FILES, 100, 0)),
    ):
        answer = filled_library.get(query)
        assert answer.status_code == 200, answer.text
        assert window_headers(answer) == expected, query
        assert len(answer.json) == expected[0], query


def test_a_bad_value_is_a_400_that_names_its_field(filled_library):
    for query, field in (
        ("count=0", "count"), ("count=-1", "count"), ("count=1.5", "count"), ("count=ten", "count"),
        ("count=1e3", "count"), ("count=%D9%A3", "count"), ("count=1%00", "count"), ("count=" + "9" * 21, "count"),
        ("offset=-1", "offset"), ("offset=x", "offset"), ("offset=0x10", "offset"), ("offset=1;drop", "offset"),
        ("order=best", "order"), ("order=newest;oldest", "order"), ("order=%00", "order"),
        ("order=" + "a" * 4000, "order"),
        ("seed=-1", "seed"), ("seed=abc", "seed"),
        ("primary=maybe", "primary"), ("primary=2", "primary"),
        ("cursor=abc", "cursor"),
    ):  # fmt: skip
        answer = filled_library.get(query)
        assert answer.status_code == 400, query
        assert answer.headers["Content-Type"] == "application/json; charset=utf-8", query
        (detail,) = answer.json["details"]
        assert answer.json == {"code": 400, "error": detail["message"], "details": [{"field": field, **detail}]}, query
        assert detail["field"] == field, query
        assert len(detail["message"]) < 250, query


def test_an_order_that_is_nearly_right_is_guessed(filled_library):
    assert filled_library.get({"order": "newset"}).json["error"] == "order 'newset' is unknown: did you mean newest?"


def test_the_answers_headers_are_exact(filled_library):
    answer = filled_library.get({"count": 2})
    names = [name for name, _ in answer.headers]
    for name in ("X-Count", "X-Limit", "X-Offset", "X-Download-Token", "X-Preview-Token"):
        assert names.count(name) == 1
    assert answer.headers["Content-Type"] == "application/json; charset=utf-8"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert "Set-Cookie" not in names
    assert answer.headers["X-Preview-Token"] != answer.headers["X-Download-Token"]


def test_an_empty_library_answers_an_empty_array(tmp_path):
    answer = open_library(tmp_path).get()
    assert (answer.data, window_headers(answer)) == (b"[]", (0, 100, 0))
    assert "Link" not in answer.headers


def test_a_slash_at_the_end_of_the_address_changes_nothing(library):
    for path in ("/api/v1/photos/", "/api/v1/photos/facets/"):
        answer = library.get({"q": "zebra", "by": "year"}, path=path)
        assert answer.status_code == 200
        assert answer.json == library.get({"q": "zebra", "by": "year"}, path=path[:-1]).json


def test_places_are_an_order(library):
    def order(**parameters):
        found = library.find(order="place", **parameters)
        return [(one["Country"], one["PlaceState"].lower(), one["PlaceCity"].lower()) for one in found]

    assert order() == sorted(order())
    assert order(reverse="true") == order()[::-1]
    assert library.find(order="place", count=5, offset=5) == library.find(order="place")[5:10]


def test_a_place_that_is_unknown_is_said_so(filled_library):
    for place, status, message in (
        ("Tokyyo", 404, 'there is no place "tokyyo"; did you mean "tokyo"?'),
        ("nosuchplace", 404, 'there is no place "nosuchplace"'),
        ('"Munich, Japan"', 404, 'there is no place "munich, japan"'),
        ("albion", 400, "there are 10 places"),
        ("a|b|c|d|e", 400, "near names more than 4 places"),
        ("12345", 400, 'near: "12345" is not the UID of a photo, or the name of a place'),
        ("x" * 121, 400, "near: "),
    ):
        answer = filled_library.get({"q": f"near:{place}"})
        assert answer.status_code == status, (place, answer.text)
        assert answer.json["error"].startswith(message), place


def test_parameters_that_are_ignored_are_named_when_they_are_like_known_ones(filled_library):
    for parameters, header in (
        ("limit=5&page=2&sort=newest", "limit (count), page (offset), sort (order)"),
        ("coutn=5", "coutn (count)"),
        ("Count=5&contry=de", "Count (count), contry (country)"),
        ("count=5&offset=0&order=added&is=raw&extension=jpg&folder=x&reverse=false", None),
        ("utm_source=x&_=17", None),
        ("limit%0d%0aX-Evil:1=5", None),
        ("&".join(f"limi{n}=1" for n in range(200)) + "&sort=x", "sort (order)"),
        ("limit=1&limit=2", "limit (count)"),
    ):
        answer = filled_library.get(parameters)
        assert (answer.status_code, answer.headers.get("X-Unknown-Parameters")) == (200, header), parameters


def test_the_order_may_stand_in_the_query(filled_library):
    oldest = filled_library.find(order="oldest")
    assert filled_library.find(q="order:oldest") == oldest != filled_library.find()
    assert filled_library.find(q="order:oldest is:!video", order="newest") == [
        one for one in oldest if one["Type"] != "video"
    ]
    answer = filled_library.get({"q": "order:newset"})
    assert (answer.status_code, answer.json["details"][0]["field"]) == (400, "q")
    assert answer.json["error"] == "order 'newset' is unknown: did you mean newest?"


def test_orders_of_other_clients_are_known(filled_library):
    for order in ("imported", "archived"):
        assert filled_library.find(order=order) == filled_library.find(order="added"), order
