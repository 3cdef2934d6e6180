"""Values of filters of every kind as exact nodes, and their errors."""

from datetime import UTC, date, datetime

from photosvc.core.geo import Box
from photosvc.query.filters import FILTERS
from photosvc.query.nodes import (
    UNNAMED,
    And,
    Choice,
    Circle,
    Days,
    Everything,
    Filter,
    Near,
    Node,
    Operand,
    Or,
    Pattern,
    Phrase,
    Range,
    S2Cell,
    Since,
    Span,
    Uid,
    Value,
    Word,
)
from photosvc.query.reader import read_filter

PHOTO = "pqbcf5j446s0futy"
SHA1 = "2fd4e1c67a2d28fced849ee1bb76e7391b93eb12"


def node(name: str, raw: str) -> Node:
    return read_filter(FILTERS[name], raw, Span("q", 10, 10 + len(raw)))


def value(name: str, raw: str) -> Value:
    found = node(name, raw)
    assert isinstance(found, Filter)
    assert found.name == name
    return found.value


def item(name: str, raw: str) -> Operand:
    found = value(name, raw)
    assert isinstance(found, Choice)
    assert found.none_of == ()
    [only] = found.any_of
    return only


def test_names_and_texts() -> None:
    for name, raw, expected in (
        ("state", "Été", Pattern(("ete",))),
        ("state", "a**b", Pattern(("a", "b"))),
        ("state", '"*Lake View*"', Pattern(("", "lake view", ""))),
        ("name", '"  x  "', Pattern((" x ",))),
        ("name", "  x  ", Pattern(("x",))),
        ("name", '" x" ', Pattern((" x",))),
        ("name", '" x*"', Pattern((" x", ""))),
        ("state", '"Rock & Roll"', Pattern(("rock & roll",))),
        ("path", "/2023/Summer/", Pattern(("2023/summer",))),
        ("path", "/", Pattern(("",))),
        ("path", "2023/*", Pattern(("2023/", ""))),
        ("country", "DE", Pattern(("de",))),
        ("album", '"Rock & Roll"', Pattern(("rock",))),
        ("subject", "jane-doe", Phrase(("jane", "doe"))),
        ("subject", '"jane-doe"', Pattern(("jane doe",))),
        ("subject", "j", Word("j", prefix=False)),
        ("album", "wedd", Pattern(("wedd", ""))),
        ("album", '"wedding"', Pattern(("wedding",))),
        ("faces", "new", UNNAMED),
        ("weekday", "Sat-sun", Range(6, 7)),
        ("country", "0", Pattern(("0",))),
        ("hour", "0", Range(0, 0)),
        ("exposure", "1/250", Pattern(("1/250",))),
        ("subject", '"Jane *"', Pattern(("jane ", ""))),
        ("subject", '"Jane*Doe"', Pattern(("jane", "doe"))),
        ("album", "aqbcf5j446s0futy", Uid("aqbcf5j446s0futy", "albums")),
        ("subject", "JQBCF5J446S0FUTY", Pattern(("jqbcf5j446s0futy",))),
        ("album", "jqbcf5j446s0futy", Pattern(("jqbcf5j446s0futy", ""))),
        ("keywords", "sun", Word("sun", prefix=True)),
        ("keywords", '"sun"', Word("sun", prefix=False)),
        ("keywords", "su", Word("su", prefix=False)),
        ("keywords", "su*", Word("su", prefix=True)),
        ("label", "black-cat", Phrase(("black", "cat"))),
        ("camera", "3", 3),
        ("camera", '"5"', Word("5", prefix=False)),
        ("camera", "canon", Word("canon", prefix=True)),
        ("uid", PHOTO, Uid(PHOTO, "photo_uid")),
        ("uid", "f" + PHOTO[1:], Uid("f" + PHOTO[1:], "file_uid")),
        ("uid", SHA1.upper(), Uid(SHA1, "hash")),
        ("color", "Red", 14),
        ("color", "black", 0),
        ("color", "gray", 1),
    ):
        if (name, raw) == ("album", '"Rock & Roll"'):
            assert isinstance(node(name, raw), Or)  # an album of this name, or & asks for several albums
            assert value(name, r'"Rock \& Roll"') == Choice((Pattern(("rock roll",)),))
        else:
            assert item(name, raw) == expected


def test_numbers_and_ranges() -> None:
    for name, raw, low, high in (
        ("iso", "100", 100, 100),
        ("iso", "100-400", 100, 400),
        ("iso", "400-100", 100, 400),
        ("iso", "400-400", 400, 400),
        ("iso", "0-0", 0, 0),
        ("iso", "100-", 100, None),
        ("iso", "-400", 1, 400),
        ("iso", "*-400", 1, 400),
        ("iso", "0", 0, 0),
        ("mp", "-2", 1, 2),
        ("alt", "-5", -5, -5),
        ("alt", "0", 0, 0),
        ("alt", "*--5", None, -5),
        ("alt", ">5", 6, None),
        ("alt", "<=-5", None, -5),
        ("alt", "-100--50", -100, -50),
        ("alt", "0..5", 1, 5),
        ("alt", "*-0", None, -1),
        ("iso", "0-400", 1, 400),
        ("iso", "100..400", 100, 400),
        ("iso", "100..", 100, None),
        ("iso", "..400", 1, 400),
        ("iso", "> 100", 101, None),
        ("iso", "<=400", 1, 400),
        ("month", "july", 7, 7),
        ("month", "sep-dec", 9, 12),
        ("month", ">=October", 10, None),
        ("year", "-1", -1, -1),
        ("year", "-2010", 1, 2010),
        ("month", "6-8", 6, 8),
        ("quality", "3", 3, None),
        ("quality", "3-5", 3, 5),
        ("quality", "-5", 0, 5),
        ("chroma", "5", 1, 5),
        ("chroma", "9", 1, 9),
        ("chroma", "10", 11, None),
        ("chroma", "10-20", 10, 20),
        ("f", "2.8", 2.79, 2.81),
        ("f", "1.8-2.8", 1.8, 2.8),
        ("f", ".5-", 0.5, None),
        ("f", "0", 0, 0),
        ("f", "0.005", 0.01, 0.015),
        ("f", ">2.8", 2.810001, None),
        ("f", ">=2.8", 2.79, None),
        ("f", "<2.8", 0.01, 2.789999),
        ("f", "..2.8", 0.01, 2.8),
        ("f", "1..2", 1, 2),
        ("diff", "767", 767, 767),
    ):
        assert item(name, raw) == Range(low, high)


def test_a_range_around_sea_level_leaves_out_the_unknown_altitude() -> None:
    assert value("alt", "-100-") == Choice((Range(-100, -1), Range(1, None)))
    assert value("alt", "!*-5") == Choice(none_of=(Range(None, -1), Range(1, 5)))


def test_days_are_half_open() -> None:
    for name, raw, start, end in (
        ("taken", "2023", date(2023, 1, 1), date(2024, 1, 1)),
        ("taken", "2023-12", date(2023, 12, 1), date(2024, 1, 1)),
        ("taken", "2024-02", date(2024, 2, 1), date(2024, 3, 1)),
        ("taken", "2023-5-1", date(2023, 5, 1), date(2023, 5, 2)),
        ("taken", "2023-05-01T23:59:59Z", date(2023, 5, 1), date(2023, 5, 2)),
        ("taken", "2020-2022", date(2020, 1, 1), date(2023, 1, 1)),
        ("taken", "2022-2020", date(2020, 1, 1), date(2023, 1, 1)),
        ("taken", "2020-05-2021-06-15", date(2020, 5, 1), date(2021, 6, 16)),
        ("taken", "2020-", date(2020, 1, 1), None),
        ("taken", "-2020", None, date(2021, 1, 1)),
        ("taken", "9999-12-31", date(9999, 12, 31), None),
        ("taken", "2020..2022-05", date(2020, 1, 1), date(2022, 6, 1)),
        ("taken", "2020..", date(2020, 1, 1), None),
        ("taken", ">2020", date(2021, 1, 1), None),
        ("taken", ">=2020-05", date(2020, 5, 1), None),
        ("taken", "<2020-05-03", None, date(2020, 5, 3)),
        ("taken", "<= 2020", None, date(2021, 1, 1)),
        ("taken", "0001", date(1, 1, 1), date(2, 1, 1)),
        ("before", '"2023-05-01"', None, date(2023, 5, 2)),
        ("before", "2023", None, date(2024, 1, 1)),
        ("after", "2023-05", date(2023, 5, 1), None),
    ):
        assert item(name, raw) == Days(start, end)


def test_moments_are_utc() -> None:
    for raw, moment in (
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-05-26", datetime(2024, 5, 26, tzinfo=UTC)),
        ("2024-05-26T10:30:00Z", datetime(2024, 5, 26, 10, 30, tzinfo=UTC)),
        ("2024-05-26t10:30:00.5z", datetime(2024, 5, 26, 10, 30, 0, 500_000, tzinfo=UTC)),
        ("2024-05-26T10:30:00+02:00", datetime(2024, 5, 26, 8, 30, tzinfo=UTC)),
        ("2024-05-26T10:30:00-0200", datetime(2024, 5, 26, 12, 30, tzinfo=UTC)),
        ('"2024-05-26T10:30:00 02:00"', datetime(2024, 5, 26, 8, 30, tzinfo=UTC)),
        ('"2024-05-26 10:30"', datetime(2024, 5, 26, 10, 30, tzinfo=UTC)),
    ):
        assert value("added", raw) == Since(moment)


def test_places() -> None:
    for name, raw, expected in (
        ("near", PHOTO, Near(PHOTO)),
        ("near", PHOTO.upper() + "@0.5", Near(PHOTO, 0.5)),
        ("near", PHOTO + "@99999", Near(PHOTO, 20_038.0)),
        ("latlng", "49.5,8.5,49.4,8.4", Box(49.4, 49.5, 8.4, 8.5)),
        ("latlng", '"49.4, 8.5, 49.5, 8.4"', Box(49.4, 49.5, 8.4, 8.5)),
        ("latlng", "10,-170,-10,170", Box(-10, 10, 170, -170)),
        ("latlng", "0,0", Circle(0, 0)),
        ("latlng", "-33.9,18.4@3", Circle(-33.9, 18.4, 3)),
        ("s2", "4799e370ca54", S2Cell("4799e370ca54")),
        ("s2", "S2:4799e370ca540000", S2Cell("4799e370ca54")),
        ("s2", "1@5", S2Cell("1", 5)),
    ):
        assert item(name, raw) == expected


def test_plus_codes_are_areas() -> None:
    for code, box in (
        ("8FWC0000+", Box(48, 49, 8, 9)),
        ("62000000+", Box(-10, 10, -180, -160)),
        ("8FWCHX7W+", Box(48.5625, 48.565, 8.995, 8.9975)),
        ("8fwchx7w+22", Box(48.5625, 48.562625, 8.995, 8.995125)),
        ("8FWCHX7W+222", Box(48.5625, 48.562525, 8.995, 8.99503125)),
        ("CFX30000+", Box(89, 90, 1, 2)),
    ):
        found = item("olc", code)
        assert getattr(found, "code", None) == code.upper()
        assert getattr(found, "box", None) == box, code


def test_true_words() -> None:
    for raw in ("true", "YES", "1", "on"):
        assert value("favorite", raw) is True
        assert value("primary", raw) is True


def test_false_is_the_opposite_for_a_flag_and_not_set_for_a_switch() -> None:
    for raw in ("false", "No", "0", "off"):
        assert value("favorite", raw) is False
        assert node("primary", raw) == Everything()


def test_empty_values_are_not_set() -> None:
    for name, raw in (
        ("state", ""),
        ("state", '""'),
        ("state", "*"),
        ("state", '" * "'),
        ("camera", "0"),
        ("lens", "0"),
        ("quality", "0"),
        ("chroma", "0"),
        ("year", "0"),
        ("dist", "0"),
        ("favorite", ""),
        ("iso", "|"),
        ("keywords", "—"),
        ("before", "9999-12-31"),
    ):
        assert node(name, raw) == Everything()


def test_negated_alternatives_are_taken_away() -> None:
    assert value("color", "red|!blue|-green") == Choice((14,), (6, 9))
    assert value("iso", "!100-200") == Choice((), (Range(100, 200),))
    assert value("taken", "2023|!2023-05") == Choice(
        (Days(date(2023, 1, 1), date(2024, 1, 1)),), (Days(date(2023, 5, 1), date(2023, 6, 1)),)
    )


def test_and_makes_several_filters_of_one() -> None:
    assert node("subject", "a|b&c") == And(
        (
            Filter("subject", Choice((Word("a", prefix=False), Word("b", prefix=False)))),
            Filter("subject", Choice((Word("c", prefix=False),))),
        )
    )


def test_a_run_of_wildcards_counts_as_one() -> None:
    assert item("state", "*" + "a*" * 7) == Pattern(("", *"aaaaaaa", ""))
    assert item("title", "a" + "*" * 20) == Pattern(("a", ""))


def test_patterns_fit_whole_texts() -> None:
    for pieces, text, fits in (
        (("lake",), "Lake", True),
        (("lake",), "Lakes", False),
        (("la", ""), "Lake", True),
        (("", "ke"), "Lake", True),
        (("l", "a", "e"), "Lake", True),
        (("l", "a", "a", "e"), "Lake", False),
        (("la", "ake"), "Lake", False),
        (("", "e", ""), "Été", True),
        (("a", "b", "b"), "ab", False),
        (("a", "c", "b"), "abcb", True),
    ):
        assert Pattern(pieces).matches(text) is fits
