"""GET parameters, their combination with the query, and distances around places."""

import pytest

from photosvc.query.areas import locate
from photosvc.query.filters import NAMES
from photosvc.query.nodes import (
    And,
    Choice,
    Circle,
    Everything,
    Filter,
    InvalidQueryError,
    Near,
    Not,
    Or,
    Pattern,
    PlusCode,
    S2Cell,
    Word,
)
from photosvc.query.parameters import combine, parse_parameters
from photosvc.query.parser import split_order
from tests.helpers.parsing import parse_query, parse_scope

UID = "pqbcf5j446s0futy"


def title(*texts: str) -> Filter:
    return Filter("state", Choice(tuple(Pattern((text,)) for text in texts)))


def near(km: float) -> Filter:
    return Filter("near", Choice((Near(UID, km),)))


def test_parameters_are_filters() -> None:
    for pairs, node in (
        ({}, Everything()),
        ([("q", "a"), ("count", "5"), ("no-such", "x"), ("s", "x"), ("merged", "true")], Everything()),
        (
            [("album", ""), ("filter", ""), ("country", " "), ("camera", "0"), ("quality", "0"), ("q", "")],
            Everything(),
        ),
        (
            [
                (name, value)
                for name in ("country", "state", "city", "label", "path", "color", "lens", "camera", "album", "person")
                for value in ("0", "-1", "null", " NIL ")
            ],
            Everything(),
        ),
        ([(name, value) for name in NAMES for value in ("null", "nil")], Everything()),
        (
            [(name, "0") for name in ("title", "description", "uid", "similar", "near", "is", "face", "category")]
            + [(name, "-1") for name in ("taken", "before", "after", "added", "updated", "s2", "olc", "latlng")],
            Everything(),
        ),
        ([("state", "a"), ("state", "null")], title("a")),
        ([("state", '"null"')], title("null")),
        ([("state", "New York (2)")], title("new york (2)")),
        ([("state", "a|b")], title("a", "b")),
        ({"state": ["a", "b"]}, title("b")),
        ([("state", "a"), ("state", "")], title("a")),
        ([("path", "a"), ("folder", "b")], Filter("path", Choice((Pattern(("b",)),)))),
        ([("primary", "true"), ("public", "false")], Filter("primary", value=True)),
        (
            [("favorite", "yes"), ("state", "a")],
            And((Filter("favorite", value=True), title("a"))),
        ),
        ([("filter", "cat state:b"), ("state", "a")], title("a")),
    ):
        assert parse_parameters(pairs) == node


def test_errors_name_the_parameter() -> None:
    for pairs, field, text in (
        ([("iso", "x")], "iso", 'iso: "x" is not a number'),
        ([("colour", "rde")], "colour", 'did you mean "red"'),
        ([("state", "a\x00")], "state", "state holds a control character"),
        ([("state", "x" * 4097)], "state", "4,096 are allowed"),
        ([("state", "a|" * 257)], "state", "more than 256 terms"),
        ([("state", "a|" * 200), ("name", "a|" * 57)], "name", "more than 256 terms"),
        ([("lat", "1")], "lat", "lat needs lng"),
        ([("lng", "1")], "lng", "lng needs lat"),
    ):
        with pytest.raises(InvalidQueryError) as caught:
            combine(Everything(), parse_parameters(pairs))
            pytest.fail(f"{pairs!r} is not refused")
        assert caught.value.field == field, pairs
        assert text in caught.value.message, pairs


def test_a_filter_of_the_query_stands_in_for_its_parameter() -> None:
    for query, pairs, node in (
        ("", [("state", "a")], title("a")),
        ("cat", [("state", "a")], And((Word("cat", prefix=True), title("a")))),
        ("state:b", [("state", "a")], title("b")),
        ("state:b cat", [("state", "a"), ("favorite", "1")],
         And((title("b"), Word("cat", prefix=True), Filter("favorite", value=True)))),
        ("-state:b", [("state", "a")], Not(title("b"))),
        ("state:b | cat", [("state", "a")], And((Or((title("b"), Word("cat", prefix=True))), title("a")))),
        ('person:"x"', [("subject", "y&z")], Filter("subject", Choice((Pattern(("x",)),)))),
        (f"near:{UID}", [("dist", "10")], near(10)),
        ("lat:1", [("lng", "2")], Filter("latlng", Choice((Circle(1, 2, 2),)))),
    ):  # fmt: skip
        assert combine(parse_query(query), parse_parameters(pairs)) == node


def test_filter_is_a_query_of_its_own() -> None:
    for pairs, node in (
        ({}, Everything()),
        ([("filter", " "), ("state", "a")], Everything()),
        ([("filter", "cat state:b")], And((Word("cat", prefix=True), title("b")))),
        ([("filter", "cat"), ("filter", "dog"), ("filter", "")], Word("dog", prefix=True)),
        ([("filter", f"near:{UID} dist:9"), ("dist", "1")], near(9)),
    ):
        assert parse_scope(pairs) == node


def test_an_error_in_filter_names_it() -> None:
    with pytest.raises(InvalidQueryError, match='unknown filter "colr"') as caught:
        parse_scope([("filter", "colr:red")])
    assert caught.value.field == "filter"


def test_the_order_is_taken_out_of_a_query() -> None:
    for text, rest, order in (
        ("cat", "cat", ""),
        ("order:newest", "            ", "newest"),
        ('cat Order:"name" dog', "cat              dog", "name"),
        ("order:name order:title", "                      ", "title"),
        ("(cat | dog) order:name", "(cat | dog)           ", "name"),
    ):
        assert split_order(text) == (rest, order)


def test_an_order_inside_a_query_is_refused() -> None:
    for text in (
        "(order:name)",
        "cat | order:name",
        "order:name | cat",
        "-order:name",
        "NOT order:name",
        "cat or order:name",
        "order:name Or cat",
        "cat not order:name",
    ):
        assert split_order(text) == (text, "")
        with pytest.raises(InvalidQueryError, match="order: is no condition") as caught:
            parse_query(text)
            pytest.fail(f"{text!r} is not refused")
        assert caught.value.position == text.index("order")


def test_places_take_the_distance_of_their_conjunction() -> None:
    for query, node in (
        (f"near:{UID}", near(2)),
        (f"near:{UID} dist:5", near(5)),
        (f"near:{UID} dist:5 dist:6", near(6)),
        (f"near:{UID}@1 dist:5", near(1)),
        (f"-near:{UID} dist:5", Not(near(5))),
        (f"dist:5 (near:{UID} | cat)", Or((near(5), Word("cat", prefix=True)))),
        (f"near:{UID} (a | dist:3)", And((near(2), Word("a", prefix=False)))),
        ("dist:5", Everything()),
        ("-dist:5", Everything()),
        ("cat", Word("cat", prefix=True)),
        ("lat:0 lng:0", Filter("latlng", Choice((Circle(0, 0, 2),)))),
        ("lat:1 lng:2 dist:3 cat", And((Word("cat", prefix=True), Filter("latlng", Choice((Circle(1, 2, 3),)))))),
        ("latlng:1,2 dist:3", Filter("latlng", Choice((Circle(1, 2, 3),)))),
        ("latlng:4,3,2,1 dist:3", parse_query("latlng:4,3,2,1")),
        ("s2:4799e370ca54", Filter("s2", Choice((S2Cell("4799e370ca54"),)))),
        ("s2:!4799e370ca54 dist:1", Filter("s2", Choice((), (S2Cell("4799e370ca54", 1),)))),
    ):
        assert locate(parse_query(query)) == node


def test_plus_codes_take_the_distance_too() -> None:
    node = locate(parse_query("olc:8FWCHX7W+ dist:1"))
    assert isinstance(node, Filter)
    assert isinstance(node.value, Choice)
    [code] = node.value.any_of
    assert isinstance(code, PlusCode)
    assert code.km == 1
    assert code.box.south == 48.5625


def test_latitude_alone_in_a_group_is_an_error_with_its_place() -> None:
    with pytest.raises(InvalidQueryError, match=r"lat needs lng \(character 10\)") as caught:
        locate(parse_query("a | (lat:1 b)"))
    assert caught.value.field == "q"


def test_an_order_beside_and_or_a_group_is_that_of_the_whole_query():
    for text in (
        "order:name & lake",
        "order:name and lake",
        "order:name (lake)",
        "(lake) order:name",
        "lake & order:name",
    ):
        rest, order = split_order(text)
        assert (rest, order) == (text.replace("order:name", " " * 10), "name")
