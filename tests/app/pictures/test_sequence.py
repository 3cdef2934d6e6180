"""GET /photos/sequence: positions of a search in any order agree with its pages."""

import pytest
from hypothesis import HealthCheck, example, given, reject
from hypothesis import strategies as st

from photosvc.search.reading import window
from photosvc.search.reading.request import ORDERS
from tests.databases.search.query_strategies import QUERIES
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.examples import examples
from tests.helpers.library import open_library

PATH = "/api/v1/photos/sequence"
#: Every order, and two of them backwards.
NAMES = sorted({*ORDERS, "-title", "-size"})
QUICK = examples(30, everyday=6, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def varied(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("sequence"))
    with library.session() as session:
        fill_varied_library(session, photos=60)
        session.commit()
        tokens = {True: library.token("*", role="admin"), False: library.token("*", role="viewer")}
    yield library, tokens
    library.close()


def sequence(library, token=None, **parameters):
    answer = library.get(parameters, path=PATH, token=token)
    assert answer.status_code == 200, answer.text
    return answer.json


def refused(library, **parameters):
    answer = library.get(parameters, path=PATH)
    return answer.status_code, answer.json["details"][0]["field"]


def check(library, token, query, order, size, by_cursor):
    """Compare the positions of a query, in parts of `size` photos, with its pages."""
    parameters = {"q": query, "order": order, "seed": "77"}
    pages = library.get({**parameters, "merged": "true", "count": "1000"}, token=token)
    if pages.status_code != 200:
        reject()
    expected = [(record["UID"], record["Hash"]) for record in pages.json]
    found, given_, cursor = [], [], ""
    while not given_ or cursor:
        part = sequence(
            library, token, **parameters, n=size, cursor=cursor if by_cursor else "", **{"from": len(found)}
        )
        assert part["from"] == len(found)
        assert len(part["ratio"]) == len(part["color"]) == len(part["type"]) == len(part["photos"]) <= size
        found += hashes_of(part)
        cursor = part["next"]
        given_.append(cursor)
    assert found == expected
    assert sequence(library, token, **parameters, n=1, total="true")["total"] == len(expected)
    for position, (uid, _) in list(enumerate(expected))[:: max(1, len(expected) // 4)]:
        located = sequence(library, token, **parameters, n=1, locate=uid)
        assert (located["from"], located["photos"][0]["uid"]) == (position, uid)
    if by_cursor and len(expected) > size + 3:  # a cursor far before the wanted position
        far = sequence(library, token, **parameters, n=2, cursor=given_[0], **{"from": size + 2})
        assert hashes_of(far) == expected[size + 2 : size + 4]


def hashes_of(part):
    return [(photo["uid"], photo["hash"]) for photo in part["photos"]]


@QUICK
@given(
    query=QUERIES,
    order=st.sampled_from(NAMES),
    sees_private=st.booleans(),
    size=st.integers(1, 20),
    by_cursor=st.booleans(),
)
@example(query="", order="title", sees_private=False, size=7, by_cursor=True)
@example(query="", order="-title", sees_private=True, size=7, by_cursor=False)
@example(query="lake", order="relevance", sees_private=True, size=3, by_cursor=True)
@example(query="codec:heic | lake", order="-size", sees_private=True, size=4, by_cursor=True)
@example(query="archived:true", order="archived", sees_private=True, size=2, by_cursor=True)
@example(query="type:raw", order="random", sees_private=False, size=2, by_cursor=True)
def test_every_photo_is_at_one_position_in_the_order_of_the_pages(varied, query, order, sees_private, size, by_cursor):
    library, tokens = varied
    check(library, tokens[sees_private], query, order, size, by_cursor)


def check_far(library, token, monkeypatch):
    """Compare pages and positions far into shuffled photos, which are read in another way, with the whole."""
    for query, order, merged in (
        ("", "random", "false"),
        ("", "-random", "true"),
        ("codec:heic | lake", "-random", "true"),
    ):
        parameters = {"q": query, "order": order, "seed": "5"}
        whole = library.get({**parameters, "merged": merged, "count": "1000"}, token=token)
        cursor = sequence(library, token, **parameters, n=2)["next"]
        found, counted = [], 0
        with monkeypatch.context() as patch:
            patch.setattr(window, "_FAR", 3)
            for offset in range(0, int(whole.headers["X-Count"]) + 13, 13):
                page = {**parameters, "merged": merged, "count": "13", "offset": str(offset)}
                answer = library.get(page, token=token)
                found += answer.json
                counted += int(answer.headers["X-Count"])
            expected = [(record["UID"], record["Hash"]) for record in whole.json] if merged == "true" else []
            for start in (4, 5, 13, len(expected) - 1, len(expected), 9000) if expected else ():
                for known in ("", cursor):
                    part = sequence(library, token, **parameters, n=6, cursor=known, **{"from": start})
                    assert hashes_of(part) == expected[start : start + 6], (query, start, known)
                after = sequence(library, token, **parameters, n=6, cursor=part["next"], **{"from": start + 6})
                assert hashes_of(after) == expected[start + 6 : start + 12], (query, start)
        assert found == whole.json, query
        assert counted == int(whole.headers["X-Count"]) > 26, query


def test_pages_and_positions_far_into_a_shuffled_library_are_parts_of_the_whole(varied, monkeypatch):
    library, tokens = varied
    check_far(library, tokens[True], monkeypatch)


def test_an_album_by_hand_is_in_its_order(varied):
    library, _ = varied
    albums = library.call("GET", "/albums?count=100&type=album")
    album = max((record for record in albums if not record["Filter"]), key=lambda record: record["PhotoCount"])["UID"]
    uids = library.call("GET", f"/albums/{album}/photos")["photos"][::-1]
    library.call("PUT", f"/albums/{album}/photos", json={"photos": uids})
    expected = [record["UID"] for record in library.find(s=album, order="manual", merged="true", count=1000)]
    found, cursor = [], ""
    while not found or cursor:
        part = sequence(library, s=album, order="manual", n=4, cursor=cursor, **{"from": len(found)})
        found, cursor = [*found, *(photo["uid"] for photo in part["photos"])], part["next"]
    assert found == expected
    assert len(found) > 4
    assert [uid for uid in uids if uid in found] == found


def test_an_invalid_position_is_refused(varied):
    library, tokens = varied
    assert refused(library, order="random") == (400, "seed")
    assert refused(library, n=501) == (400, "n")
    assert refused(library, **{"from": "-1"}) == (400, "from")
    assert refused(library, cursor="nonsense") == (400, "cursor")
    assert refused(library, order="manual") == (400, "order")
    cursor = sequence(library, tokens[True], order="title", n=5)["next"]
    assert refused(library, order="title", cursor=cursor, **{"from": 3}) == (400, "from")
    assert refused(library, order="name", cursor=cursor, **{"from": 5}) == (400, "cursor")


def test_a_photo_that_the_search_does_not_find_has_no_position_and_each_version_its_own(varied):
    library, tokens = varied
    uid = library.find(count=1, merged="true", token=tokens[True])[0]["UID"]
    for parameters in (
        {"q": "nowhere-at-all", "locate": uid},
        *({"locate": no} for no in ("p" + "z" * 15, "x" * 300, "\0")),
    ):
        assert library.get(parameters, path=PATH).status_code == 404, parameters
    known = sequence(library, tokens[True], n=2)
    assert library.get({"version": known["version"]}, path=PATH).status_code == 200
    assert library.get({"version": "other"}, path=PATH).status_code == 409
    tags = {library.get({"n": "2", "from": at}, path=PATH).headers["ETag"] for at in (0, 0, 1)}
    assert len(tags) == 2
