"""Hostile searches over HTTP: no text in any parameter fails the service or widens what is found."""

from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from photosvc.query.filters import NAMES
from photosvc.search.reading.orders import ORDERS
from tests.clock import NOW
from tests.factories.photos import add_photos
from tests.library import open_library
from tests.query_strategies import ANY_QUERIES, LARGE_QUERIES

PAYLOADS = (
    "'", '"', "' OR '1'='1", "1 OR 1=1", "1); DROP TABLE photosvc_photos; --", "x' UNION SELECT 1 --", "%", "_", "\\",
    "\x00", "\ufffd", "*" * 50, "(" * 100, "-" * 5000, "a" * 5000, "a:b:c", "9" * 30, "-1", "1e999", "NaN", "٣", "%27",
)  # fmt: skip
#: Ways out of a value, what could be done there, and ways to be rid of the rest.
INJECTIONS = [
    before + body + behind
    for before in ("'", '"', "')", "'))", "1;", "\\'", "%27", "`")
    for body in (
        " OR 1=1",
        " UNION SELECT 1,2,3",
        "; DROP TABLE photosvc_photos;",
        " AND 1=CAST((SELECT digest FROM photosvc_credentials) AS INT)",
        "||(SELECT digest FROM photosvc_credentials)||",
        " OR randomblob(900000000)",
        " OR pg_sleep(9)",
    )
    for behind in ("", " --", " #", " /*", "\x00")
]
PARAMETERS = sorted({*NAMES, "q", "s", "filter", "order", "count", "offset", "cursor", "seed", "merged", "total", "by"})


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("hostile"))
    with library.session() as session:
        add_photos(session, 10, NOW)
    yield library
    library.close()


def check_harmless(library, name, payloads):
    everything = {record["ID"] for record in library.find(count=1000)}
    for payload in payloads:
        answer = library.get({name: payload})
        assert answer.status_code in {200, 400, 404}, (payload, answer.text)
        if answer.status_code == 200:
            assert {record["ID"] for record in answer.json} <= everything
        else:
            assert answer.json["error"]
    assert {record["ID"] for record in library.find(count=1000)} == everything


@pytest.mark.parametrize("name", PARAMETERS)
def test_no_value_of_a_parameter_fails_or_widens_a_search(library, name):
    nth = PARAMETERS.index(name)
    check_harmless(library, name, [*PAYLOADS, *INJECTIONS[nth % 20 :: 20]])


@pytest.mark.slow
@pytest.mark.parametrize("name", PARAMETERS)
def test_no_injection_in_any_parameter_fails_or_widens_a_search(library, name):
    check_harmless(library, name, INJECTIONS)


TEXT = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=80),
    st.text('ab12 -!|&()":*\\,.@', max_size=80),
    st.sampled_from(sorted(NAMES)),
)
QUICK = settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
SEARCHED = (st.sampled_from(["q", "filter"]), st.sampled_from(sorted(ORDERS)), st.sampled_from(["true", "false"]))


def check_answered_or_refused(library, query, name, order, merged):
    asked = {name: query, "order": order, "merged": merged, "total": "true"}
    answer = library.get(urlencode(asked, errors="surrogatepass"))
    assert answer.status_code in {200, 400, 404}, (query, answer.text)


@QUICK
@given(st.one_of(st.lists(TEXT, max_size=4).map(":".join), ANY_QUERIES), *SEARCHED)
def test_any_query_is_answered_or_refused(library, query, name, order, merged):
    check_answered_or_refused(library, query, name, order, merged)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@settings(QUICK, max_examples=5000)
@given(st.one_of(st.lists(TEXT, max_size=4).map(":".join), ANY_QUERIES, LARGE_QUERIES), *SEARCHED)
def test_five_thousand_queries_are_answered_or_refused(library, query, name, order, merged):
    check_answered_or_refused(library, query, name, order, merged)
