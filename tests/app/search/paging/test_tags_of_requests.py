"""Answers that clients keep are those of the very request: all its parameters and rights."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from photosvc.core.errors import PhotosvcError
from photosvc.models import Album
from photosvc.query.filters import FILTERS
from photosvc.search.reading.photos import PhotoQuery
from photosvc.search.reading.request import ALBUM_ORDERS, DEFAULT_ORDER, SearchRequest
from tests.databases.search.query_strategies import VALUES
from tests.databases.search.varied_library import fill_varied_library, uid
from tests.helpers.examples import examples
from tests.helpers.parsing import parse_request

#: One album of the library is ordered by hand.
BY_HAND = uid("a", 0)
PLAIN = uid("a", 1)

_SWITCH = st.sampled_from(["true", "false"])
_NAMES = st.sampled_from([spec.name for spec in FILTERS.values() if spec.kind in VALUES])
_FILTERS = _NAMES.flatmap(lambda name: st.tuples(st.just(name), st.sampled_from(VALUES[FILTERS[name].kind])))
_OWN = {
    "q": st.sampled_from(["", "lake", "lake dawn", "dawn lake", "order:newest", "private:true", "merged"]),
    "filter": st.sampled_from(["", "iso:100-400", "-lake"]),
    "s": st.sampled_from([BY_HAND, BY_HAND, PLAIN]),
    "count": st.sampled_from(["1", "3", "100"]),
    "offset": st.sampled_from(["0", "2"]),
    "order": st.sampled_from([*ALBUM_ORDERS, "-added", "-manual"]),
    "reverse": _SWITCH,
    "seed": st.sampled_from(["1", "2"]),
    "merged": _SWITCH,
    "total": _SWITCH,
    "primary": _SWITCH,
    # Those of further doors.
    "by": st.sampled_from(["year", "year,camera", "type"]),
    "bbox": st.sampled_from(["-180,-90,180,90", "0,0,90,90"]),
    "zoom": st.sampled_from(["0", "9"]),
    "at": st.sampled_from(["1", "4"]),
    "type": st.sampled_from(["album", "month", "folder"]),
    "favorite": _SWITCH,
    "files": _SWITCH,
    "recursive": _SWITCH,
}
_PARAMETERS = st.fixed_dictionaries({}, optional=_OWN).flatmap(
    lambda own: st.lists(_FILTERS, max_size=1).map(lambda further: {**own, **dict(further)})
)
#: Every door whose answers have a tag made from the request.
DOORS = (
    *(
        "/photos",
        "/photos",
        "/photos",
        "/geo",
        "/photos/facets",
        "/photos/clusters",
        "/photos/timeline",
        "/photos/suggest",
    ),
    *(
        "/photos/timeline/months/2020-01",
        "/photos/timeline/months/2020-01/photos",
        "/photos/sequence",
        "/albums",
        "/subjects",
        "/labels",
        "/moments/time",
    ),
    *("/folders/originals", "/folders/originals/2020", "/folders/originals/2020/"),
)
_REQUESTS = st.tuples(st.sampled_from(DOORS), _PARAMETERS, st.sampled_from(["admin", "viewer"]))


@pytest.fixture(scope="module")
def varied_library(new_library):
    library = new_library()
    with library.session() as session:
        fill_varied_library(session)
        session.query(Album).filter_by(uid=BY_HAND).update({"order": "manual"})
    for role in ("admin", "viewer"):
        library.token(role=role)
    library.seen = {}
    return library


def ask(library, request):
    """Status, tag, body, and the headers that tell of the page."""
    door, parameters, role = request
    answer = library.get(parameters, token=library.token(role=role), path=f"/api/v1{door}")
    told = {
        name: value for name, value in answer.headers if name in {"X-Count", "X-Offset", "X-Limit", "X-Cursor", "Link"}
    }
    told |= {name: value for name, value in answer.headers if name == "X-Total-Count"}
    return answer.status_code, answer.headers.get("ETag"), answer.data, told


@pytest.mark.timeout(400)
@examples(600, everyday=25)
@given(st.lists(_REQUESTS, min_size=2, max_size=4))
@example([("/photos", {"s": BY_HAND}, "admin"), ("/photos", {"s": BY_HAND, "order": DEFAULT_ORDER}, "admin")])
@example(
    [("/photos", {"s": BY_HAND, "reverse": "true"}, "admin"), ("/photos", {"s": BY_HAND, "order": "-added"}, "admin")]
)
@example([("/photos", {"q": "private:true"}, "admin"), ("/photos", {"q": "private:true"}, "viewer")])
@example([("/photos", {"order": "size"}, "admin"), ("/photos", {"order": "size", "merged": "true"}, "admin")])
@example([("/folders/originals/2020", {}, "admin"), ("/folders/originals/2020/LAKE", {}, "admin")])
def test_equal_tags_mean_equal_answers(varied_library, requests):
    for request in requests:
        status, tag, *shown = ask(varied_library, request)
        if tag is not None and status == 200:
            assert varied_library.seen.setdefault(tag, shown) == shown


@examples(2000, everyday=100)
@given(_PARAMETERS, _PARAMETERS)
@example({"iso": "100"}, {"q": "iso:100"})
@example({"order": "size"}, {"order": "size", "merged": "true"})
def test_requests_have_equal_texts_exactly_if_they_are_equal(one, other):
    try:
        first, second = parse_request(one), parse_request(other)
    except PhotosvcError:
        return
    assert (repr(first) == repr(second)) is (first == second)
    assert " at 0x" not in repr(first)  # other processes give equal requests the same text
    for kind in (SearchRequest, PhotoQuery):
        assert kind.__dataclass_params__.frozen
        assert all(field.repr for field in kind.__dataclass_fields__.values())
