"""Names are compared by code point on both databases, whatever the rules of the database's language say."""

import pytest

from photosvc.media.metadata import Metadata
from photosvc.query.fold import fold
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions
from tests.helpers.programs.needed import missing

LAST = "\U0010ffff"
NAMES = (
    "IMG-20180502-WA0001", "IMG_20180502_WA0002", "IMG 20180502", "img-2018", "imG-2018a", "Img-2018-\U0001f600",
    f"img-2018{LAST}{LAST}z", "img-2019", "a b", "a-b", "a_b", "ab", "\u00e4b", "AB", "aB", "\u00c4-c", "Zz", "zz",
    "\u00df", "\ud7ff", "\ue000", "\U0001f600", "\U0001f600b", LAST, f"{LAST}{LAST}", f"a{LAST}", f"a{LAST}b",
    "\u65e5\u672c", "\u0130", "\u01c6",
)  # fmt: skip
PREFIXES = ("img-2018", "IMG_", "a", "ab", "a-", "z", f"a{LAST}", LAST, f"{LAST}{LAST}", "\U0001f600", "\ud7ff")


@pytest.fixture(scope="module")
def library(new_library):
    library = new_library()
    with library.session() as session:
        files = [
            (f"{name}.jpg", new_extraction(number, metadata=Metadata(title=name))) for number, name in enumerate(NAMES)
        ]
        store_extractions(session, files, NOW)
    return library


def names(records):
    return [record["FileName"].removesuffix(".jpg") for record in records]


def test_the_databases_of_tests_sort_by_the_rules_of_a_language(language, new_postgres):
    """Without them, the tests of this module would compare two databases that sort alike."""
    if not language:
        missing("needs the definition of en_US: apt-get install locales")
    from sqlalchemy import create_engine, text

    engine = create_engine(new_postgres())
    with engine.connect() as connection:
        query = "SELECT name FROM unnest(ARRAY['a c', 'B', 'ab']) AS name ORDER BY name"
        assert list(connection.scalars(text(query))) == ["ab", "a c", "B"]
    engine.dispose()


def test_a_beginning_finds_all_names_with_it(library):
    for query in ("name:{}*", "filename:{}*", "title:{}*", "zzz | name:{}*", "name:*z | filename:{}*"):
        for prefix in PREFIXES:
            begin = [name for name in NAMES if fold(name).startswith(fold(prefix))]
            begin += [name for name in NAMES if "*z" in query and fold(name).endswith("z") and name not in begin]
            assert sorted(names(library.find(q=query.format(prefix), count=100))) == sorted(begin), prefix


def test_pictures_of_whatsapp_are_found_by_their_names(library):
    assert names(library.find(q="whatsapp", order="oldest")) == ["IMG-20180502-WA0001"]


def test_orders_of_names_go_by_code_point_page_by_page(library):
    for reverse in ("false", "true"):
        for order in ("name", "title"):
            key = {"name": str, "title": lambda name: (fold(name), name)}[order]
            page, found = library.get({"order": order, "reverse": reverse, "count": 3}), []
            while True:
                found += names(page.json)
                if "X-Cursor" not in page.headers:
                    break
                page = library.get({"cursor": page.headers["X-Cursor"], "reverse": reverse, "count": 3})
            assert found == sorted(NAMES, key=key, reverse=reverse == "true")
