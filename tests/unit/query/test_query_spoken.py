"""Words that mean a filter."""

from datetime import date

from photosvc.query.lexer import TokenKind
from photosvc.query.nodes import And, Choice, Filter, Not, Or, Pattern, Phrase, Word
from photosvc.query.parser import parse_query, read_tokens, understand
from photosvc.query.spoken import _FORMS, _KINDS, read_spoken
from photosvc.query.spoken_dates import read_dates

#: A Wednesday.
TODAY = date(2026, 11, 25)
SUMMER = (
    "taken:2019-06..2020-02 ((taken:2019-06..2019-08 -latlng:0,180,-90,-180) | "
    "(taken:2019-12..2020-02 latlng:0,180,-90,-180))"
)


def meanings(query, today=TODAY):
    return [(query[one.start : one.end], one.meaning.query) for one in understand(query, today)]


def word(text):
    return Word(text, prefix=len(text) >= 3)


def test_several_words_find_only_their_meaning():
    for typed, query in (
        ("june 2019", "taken:2019-06"),
        ("last march", "taken:2026-03"),
        ("juni 2019", "taken:2019-06"),
        ("Juin 2019", "taken:2019-06"),
        ("junio de 2019", "taken:2019-06"),
        ("2019 june", "taken:2019-06"),
        ("sept 2019", "taken:2019-09"),
        ("März 2019", "taken:2019-03"),
        ("décembre 2019", "taken:2019-12"),
        ("June 14 2019", "taken:2019-06-14"),
        ("June 14th, 2019", "taken:2019-06-14"),
        ("14. Juni 2019", "taken:2019-06-14"),
        ("14 de junio de 2019", "taken:2019-06-14"),
        ("1er mai 2019", "taken:2019-05-01"),
        ("14 june", "month:6 day:14"),
        ("june 14", "month:6 day:14"),
        ("29 february", "month:2 day:29"),
        ("may 2019", "taken:2019-05"),
        ("march 3", "month:3 day:3"),
        ("summer 2019", SUMMER),
        ("2019 summer", SUMMER),
        ("Sommer 2019", SUMMER),
        ("last week", "taken:2026-11-16..2026-11-22"),
        ("this week", "taken:2026-11-23..2026-11-29"),
        ("last month", "taken:2026-10"),
        ("last year", "taken:2025"),
        ("3 days ago", "taken:2026-11-22"),
        ("1 day ago", "taken:2026-11-24"),
        ("2 weeks ago", "taken:2026-11-09..2026-11-15"),
        ("12 months ago", "taken:2025-11"),
        ("10 years ago", "taken:2016"),
        ("last 3 days", "taken:>=2026-11-22"),
        ("past 9 months", "taken:>=2026-02-25"),
        ("last weekend", "taken:2026-11-21..2026-11-22"),
        ("this weekend", "taken:2026-11-21..2026-11-22"),
        ("last sunday", "taken:2026-11-22"),
        ("last wednesday", "taken:2026-11-18"),
        ("last june", "taken:2026-06"),
        ("last december", "taken:2025-12"),
        ("last november", "taken:2025-11"),
        ("on this day", "month:11 day:25"),
        ("before 2013", "taken:<2013"),
        ("since 2020", "taken:>=2020"),
        ("after june 2019", "taken:>2019-06"),
        ("until 14.06.2019", "taken:<=2019-06-14"),
        ("since 03/04/2019", "taken:>=2019-04-03"),
        ("from 2019 to 2021", "taken:2019..2021"),
        ("between june 2019 and august 2019", "taken:2019-06..2019-08"),
        ("2019 - 2021", "taken:2019..2021"),
        ("june to august 2019", "taken:2019-06..2019-08"),
        ("the 80s", "year:1980-1989"),
        ("christmas 2021", '("christmas" | (month:12 day:24-26)) year:2021'),
        ("last christmas", '("christmas" | (month:12 day:24-26)) year:2025'),
        ("last halloween", '("halloween" | (month:10 day:31-31)) year:2026'),
        ("letzte Woche", "taken:2026-11-16..2026-11-22"),
        ("letzten 3 Monate", "taken:>=2026-08-25"),
        ("letzten Sonntag", "taken:2026-11-22"),
        ("vor 3 Tagen", "taken:2026-11-22"),
        ("vor dem 14. Juni 2019", "taken:<2019-06-14"),
        ("von 2019 bis 2021", "taken:2019..2021"),
        ("zwischen Juni 2019 und August 2019", "taken:2019-06..2019-08"),
        ("letztes Wochenende", "taken:2026-11-21..2026-11-22"),
        ("an diesem Tag", "month:11 day:25"),
        ("letzte Weihnachten", '("weihnachten" | (month:12 day:24-26)) year:2025'),
        ("5 Sterne", "rating:5"),
        ("bei Berlin", "near:Berlin"),
        ("N\u00e4he von Berlin", "near:Berlin"),
        ("letzten Jahres", "taken:2025"),
        ("dieses Monats", "taken:2026-11"),
        ("near cologne", "near:cologne"),
        ("ce mois-ci", "taken:2026-11"),
        ("pr\u00e8s d'Avignon", "near:Avignon"),
        ("PR\u00c8S D\u2019Aix-en-Provence", "near:Aix-en-Provence"),
        ("im Album Hochzeit", "album:Hochzeit"),
        ("semaine derni\u00e8re", "taken:2026-11-16..2026-11-22"),
        ("3 derniers mois", "taken:>=2026-08-25"),
        ("dimanche dernier", "taken:2026-11-22"),
        ("juin dernier", "taken:2026-06"),
        ("il y a 3 jours", "taken:2026-11-22"),
        ("l'an dernier", "taken:2025"),
        ("avant le 14 juin 2019", "taken:<2019-06-14"),
        ("jusqu\u2019en 2015", "taken:<=2015"),
        ("de 2019 \u00e0 2021", "taken:2019..2021"),
        ("ce week-end", "taken:2026-11-21..2026-11-22"),
        ("ann\u00e9es 80", "year:1980-1989"),
        ("No\u00ebl dernier", '("noel" | (month:12 day:24-26)) year:2025'),
        ("5 \u00e9toiles", "rating:5"),
        ("pr\u00e8s de Berlin", "near:Berlin"),
        ("dans l'album Mariage", "album:Mariage"),
        ("semana pasada", "taken:2026-11-16..2026-11-22"),
        ("\u00faltimos 3 meses", "taken:>=2026-08-25"),
        ("junio pasado", "taken:2026-06"),
        ("hace 3 d\u00edas", "taken:2026-11-22"),
        ("antes del 14 de junio de 2019", "taken:<2019-06-14"),
        ("junio a agosto de 2019", "taken:2019-06..2019-08"),
        ("fin de semana pasado", "taken:2026-11-21..2026-11-22"),
        ("a\u00f1os 80", "year:1980-1989"),
        ("5 estrellas", "rating:5"),
        ("cerca de Berlin", "near:Berlin"),
        ("en el \u00e1lbum Boda", "album:Boda"),
        ("at night", "hour:22-23|0-4"),
        ("in the morning", "hour:5-11"),
        ("on sunday", "weekday:7"),
        ("iso 1600", "iso:1600"),
        ("iso 100-400", "iso:100-400"),
        ("85 mm", "mm:85 | lens:85mm"),
        ("5 stars", "rating:5"),
        ("1 star", "rating:1"),
        ("4+ stars", "rating:4-"),
        ("12 megapixels", "mp:12"),
        ("galaxy s21", '"galaxy s21" | camera:sm-g99*'),
        ("near Berlin", "near:Berlin"),
        ("near new york", 'near:"new york"'),
        ('near "New York"', 'near:"New York"'),
        ("near Paris, Texas", 'near:"Paris, Texas"'),
        ("in album wedding", "album:wedding"),
        ("in album Summer 2023", 'album:"Summer 2023*"'),
        ('in album "Summer 2023"', 'album:"Summer 2023"'),
    ):
        assert meanings(typed) == [(typed, query)]
        assert parse_query(typed, today=TODAY) == parse_query(query, today=TODAY)
        assert meanings(query) == [], typed


def test_a_single_word_finds_itself_and_its_meaning():
    for typed, query in (
        ("2019", "year:2019"),
        ("14.06.2019", "taken:2019-06-14"),
        ("14.6.2019", "taken:2019-06-14"),
        ("12/31/2019", "taken:2019-12-31"),
        ("03/04/2019", "taken:2019-04-03|2019-03-04"),
        ("2019-06-14", "taken:2019-06-14"),
        ("2019/06", "taken:2019-06"),
        ("06/2019", "taken:2019-06"),
        ("2019-2020", "year:2019-2020"),
        ("2019..2021", "year:2019..2021"),
        ("1950s", "year:1950-1959"),
        ("90ern", "year:1990-1999"),
        ("90s", "year:1990-1999"),
        ("today", "taken:2026-11-25"),
        ("yesterday", "taken:2026-11-24"),
        ("december", "month:12"),
        ("Mai", "month:5"),
        ("august", "month:8"),
        ("sunday", "weekday:7"),
        ("samstags", "weekday:6"),
        ("heute", "taken:2026-11-25"),
        ("ayer", "taken:2026-11-24"),
        ("80er", "year:1980-1989"),
        ("nachts", "hour:22-23|0-4"),
        ("soir", "hour:17-21"),
        ("Silvester", "month:12 day:31-31"),
        ("Drohnen", "camera:dji|parrot|autel|skydio|mavic|drone"),
        ("weekends", "weekday:6-7"),
        ("christmas", "month:12 day:24-26"),
        ("morning", "hour:5-11"),
        ("iso1600", "iso:1600"),
        ("f/1.8", "f:1.8"),
        ("f/8", "f:8"),
        ("f1.8", "f:1.8"),
        ("85mm", "mm:85 | lens:85mm"),
        ("1/250", 'exposure:"1/250"'),
        ("1/2000", 'exposure:"1/2000"'),
        ("12mp", "mp:12"),
        ("starred", "favorite:true"),
        ("selfies", "lens:front"),
        ("drone", "camera:dji|parrot|autel|skydio|mavic|drone"),
        ("whatsapp", 'name:"img-*-wa*"|"vid-*-wa*"'),
        ("videos", "video:true"),
        ("Vidéos", "video:true"),
    ):
        assert meanings(typed) == [(typed, query)]
        found = parse_query(typed, today=TODAY)
        assert isinstance(found, Or), typed
        assert any(isinstance(part, Word | Phrase) for part in found.parts), typed
        meant = parse_query(query, today=TODAY)
        assert set(meant.parts if isinstance(meant, Or) else (meant,)) <= set(found.parts), typed
        assert meanings(f'"{typed}" {typed}*' if typed.isalnum() else f'"{typed}"') == []


def test_other_words_are_words():
    for typed in ("lake", "summer", "jan", "last", "before june", "1600", "feb 30 x", "31.02.2019", "f1", "iso",
     "galaxy", "near", "near xyzzy", "in album", "3 days", "black dog", "mars rover", "999 years agone", "june*",
     "may", "march", "people", "photos", "live", "orange", "gold",
     "portrait", "since when", "from here to 2x", "near ???"):  # fmt: skip
        assert not [one for one in meanings(typed) if one[0] == typed]


def test_words_before_the_beginning_of_the_calendar_are_words():
    assert read_dates("999 years ago", date(100, 1, 1)) is None
    assert read_dates("last week", date(1, 1, 1)) is None


def test_a_season_says_which_months_it_has():
    for today, typed, days in (
        (date(2026, 7, 1), "last summer", "taken:2025-06..2025-08, south of the equator taken:2025-12..2026-02"),
        (date(2026, 7, 1), "this summer", "taken:2026-06..2026-08, south of the equator taken:2025-12..2026-02"),
        (date(2026, 1, 9), "this winter", "taken:2025-12..2026-02, south of the equator taken:2025-06..2025-08"),
        (date(2026, 3, 1), "last winter", "taken:2025-12..2026-02, south of the equator taken:2025-06..2025-08"),
    ):
        assert [one.meaning.text for one in understand(typed, today)] == [days]


def test_the_present_day_counts():
    for today, typed, query in (
        (date(2026, 11, 22), "last weekend", "taken:2026-11-14..2026-11-15"),
        (date(2026, 11, 22), "this weekend", "taken:2026-11-21..2026-11-22"),
        (date(2026, 12, 25), "last christmas", '("christmas" | (month:12 day:24-26)) year:2025'),
        (date(2026, 12, 26), "last christmas", '("christmas" | (month:12 day:24-26)) year:2026'),
        (date(2026, 3, 31), "last 1 month", "taken:>=2026-02-28"),
        (date(2024, 2, 29), "past 1 year", "taken:>=2023-02-28"),
        (date(2026, 1, 1), "last month", "taken:2025-12"),
    ):
        assert meanings(typed, today) == [(typed, query)]


def test_words_that_mean_a_filter_stand_beside_others():
    for typed, found in (
        ("lake june 2019", [("june 2019", "taken:2019-06")]),
        ("june 2019 lake", [("june 2019", "taken:2019-06")]),
        ("-june 2019", [("june", "month:6"), ("2019", "year:2019")]),
        ("not june 2019", [("june 2019", "taken:2019-06")]),
        ("(june) 2019", [("june", "month:6"), ("2019", "year:2019")]),
        ("june | 2019", [("june", "month:6"), ("2019", "year:2019")]),
        ("near new york lake", [("near new york", 'near:"new york"')]),
        ("near Paris, lake", [("near Paris,", "near:Paris")]),
        (
            "june 2019 iso 100 2 stars",
            [("june 2019", "taken:2019-06"), ("iso 100", "iso:100"), ("2 stars", "rating:2")],
        ),
        ("VIDEOS:", [("VIDEOS:", "video:true")]),
    ):
        assert meanings(typed) == found


def test_little_words_beside_words_that_mean_a_filter_are_left_out():
    for typed in ("in june 2019", "from june 2019", "the june 2019", "im juni 2019", "en junio de 2019"):
        assert parse_query(typed, TODAY) == parse_query("taken:2019-06", TODAY)


def test_not_without_and_no_exclude_the_term_behind_them():
    for typed, node in (
        ("not dog", Not(word("dog"))),
        ("Without dog", Not(word("dog"))),
        ("no dog", Not(word("dog"))),
        ("ohne dog", Not(word("dog"))),
        ("sans dog", Not(word("dog"))),
        ("dog und katze", And((word("dog"), word("katze")))),
        ("dog oder katze", Or((word("dog"), word("katze")))),
        ("f\u00fcr dog", word("dog")),
        ("beach not dog", And((word("beach"), Not(word("dog"))))),
        ("not dog beach", And((Not(word("dog")), word("beach")))),
        ('no "old dog"', Not(Phrase(("old", "dog")))),
        ("not (dog | cat)", Not(Or((word("dog"), word("cat"))))),
        ("not name:e", Not(Filter("name", Choice((Pattern(("e",)),))))),
        ("without videos", Not(Or((Word("videos", True, ("video",)), Filter("video", True))))),
        ("no 7", And((Word("no", prefix=False), Word("7", prefix=False)))),
        ("to not be", And((word("not"), Word("be", prefix=False)))),
        ("not", word("not")),
        ("dog not", And((word("dog"), word("not")))),
        ('"not" dog', And((Word("not", prefix=False), word("dog")))),
        ("not -dog", And((word("not"), Not(word("dog"))))),
        ("not not dog", And((word("not"), Not(word("dog"))))),
    ):
        assert parse_query(typed, TODAY) == node


def test_spellings():
    for typed, node in (
        ("iphone11", Or((word("iphone11"), Phrase(("iphone", "11"))))),
        ("d750", Or((word("d750"), Phrase(("d", "750"))))),
        (
            "a7iii",
            Or((
                word("a7iii"), Phrase(("a", "7iii")), Phrase(("a7", "iii")), Phrase(("a", "7", "iii")),
                Phrase(("ilce", "7m3")),
            )),
        ),
        ("mp4", word("mp4")),
        ("l'\u00e9t\u00e9", word("ete")),
        ("d\u2019anniversaire", word("anniversaire")),
        ("qu'ici*", Word("ici", prefix=True)),
        ("\"l'\u00e9t\u00e9\"", Phrase(("l", "ete"))),
        ("o'hara", Phrase(("o", "hara"), prefix=True)),
        ("muecken", Word("muecken", True, ("mucken",))),
        ("m\u00fccken", Word("mucken", True, ("muecken",))),
        ("mu\u0308cken", Word("mucken", True, ("muecken",))),
        ('"m\u00fcnchen"', Word("munchen", prefix=False)),
        ("camera:iphone11", Filter("camera", Choice((word("iphone11"), Phrase(("iphone", "11")))))),
        ('camera:"iphone11"', Filter("camera", Choice((Word("iphone11", prefix=False),)))),
        ("name:IMG_0101.jpg", Filter("name", Choice((Pattern(("img_0101.jpg",)), Pattern(("img_0101",)))))),
        ("name:IMG_1.jpg|IMG_1", Filter("name", Choice((Pattern(("img_1.jpg",)), Pattern(("img_1",)))))),
        ("name:IMG_*.jpg", Filter("name", Choice((Pattern(("img_", ".jpg")), Pattern(("img_", "")))))),
        (
            'album:"Wedding Lisa & Tom"',
            Or((
                Filter("album", Choice((Pattern(("wedding lisa tom",)),))),
                And((
                    Filter("album", Choice((Pattern(("wedding lisa",)),))),
                    Filter("album", Choice((Pattern(("tom",)),))),
                )),
            )),
        ),
    ):  # fmt: skip
        assert parse_query(typed, TODAY) == node


def test_the_meaning_of_words_has_no_words_with_a_meaning():
    for query in (*sorted(set(_KINDS.values())), "iso:1", *(query for _, query in _FORMS)):
        assert understand(query.replace(r"\1", "2").replace(r"\2", "3"), TODAY) == []


def test_a_word_that_is_an_operator_is_known_as_one():
    found = [token.kind is TokenKind.EITHER for token in read_tokens('e Or f | "or" g')]
    assert found == [False, True, False, True, False, False]


def test_the_most_words_are_read_together_at_most():
    meaning = read_spoken(["in", "album", *["e"] * 10], TODAY)
    assert (meaning.words, meaning.query) == (12, 'album:"e e e e e e e e e e*"')
