"""Hostile searches over HTTP: no text in any parameter fails the service or widens what is found."""

from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st
from sqlalchemy import select

from photosvc.models import File
from photosvc.query.filters import NAMES
from photosvc.search.reading.request import ORDERS
from tests.databases.search.query_strategies import ANY_QUERIES
from tests.databases.search.varied_library import fill_varied_library, uid, visible_to_all
from tests.helpers.examples import examples
from tests.helpers.library import Library, open_library

PAYLOADS = (
    "'", '"', "' OR '1'='1", "1 OR 1=1", "1); DROP TABLE photosvc_photos; --", "x' UNION SELECT 1 --", "%", "_", "\\",
    "\x00", "\ufffd", "*" * 50, "(" * 100, "-" * 5000, "a" * 5000, "a:b:c", "9" * 30, "-1", "1e999", "NaN", "٣", "%27",
    "true", "1", "private:true | hidden:true | archived:true | error:true",
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

#: Each parameter is tried with one of so many payloads, the next parameter with the next ones; at night with all.
SHARE = 28


@dataclass
class Searcher:
    """A viewer, and the UIDs of the files it may see in a library that holds many it may not."""

    library: Library
    token: str
    visible: set[str]

    def ask(self, parameters):
        """The answer, which is a refusal or shows no other files than a viewer may see."""
        answer = self.library.get(parameters, token=self.token)
        assert answer.status_code in {200, 400, 404}, (parameters, answer.text)
        if answer.status_code == 200:
            if isinstance(answer.json, list):
                found = files_of(answer.json)
                assert found <= self.visible, parameters
                assert answer.headers.get("X-Total-Count", str(len(found))) == str(len(found)), parameters
        else:
            assert answer.json["error"]
        return answer


def files_of(records):
    return {record["FileUID"] for record in records} | {file["UID"] for record in records for file in record["Files"]}


@pytest.fixture(scope="module")
def viewer(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("hostile"))
    with library.session() as session:
        photos, _ = fill_varied_library(session)
        visible = visible_to_all(photos)
    yield Searcher(library, library.token("photos", role="viewer"), visible)
    library.close()


def test_the_library_holds_files_of_every_sort_that_a_viewer_may_not_see(viewer):
    with viewer.library.session() as session:
        hidden = [file for file in session.scalars(select(File)) if file.uid not in viewer.visible]
        assert len(viewer.visible) > 10
        assert any(file.photo.private for file in hidden)
        assert any(file.photo.archived_at for file in hidden)
        assert any(file.photo.quality < 0 for file in hidden)
        assert any(file.error for file in hidden)
        assert any(file.missing for file in hidden)
        assert any(file.sidecar for file in hidden)


def test_no_payload_in_any_parameter_fails_or_widens_a_search(viewer):
    payloads = (*PAYLOADS, *INJECTIONS)
    for first, name in enumerate(PARAMETERS):
        for payload in payloads[first % SHARE :: SHARE]:
            viewer.ask({name: payload})
        assert files_of(viewer.ask({"count": 1000}).json) == viewer.visible, name


TEXT = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=80),
    st.text('ab12 -!|&()":*\\,.@', max_size=80),
    st.sampled_from(sorted(NAMES)),
)
QUICK = examples(300, suppress_health_check=list(HealthCheck))
SEARCHED = (st.sampled_from(["q", "filter"]), st.sampled_from(sorted(ORDERS)), st.sampled_from(["true", "false"]))


@QUICK
@given(st.one_of(st.lists(TEXT, max_size=4).map(":".join), ANY_QUERIES), *SEARCHED)
@example("private:true | lake", "q", "newest", "true")
@example("-(private:false)", "q", "added", "true")
@example("archived:true | hidden:true | error:true", "q", "name", "false")
@example("-(hidden:false lake) | -(-archived:true)", "q", "random", "true")
@example(f"album:{uid('a', 2)} | album:secret", "filter", "relevance", "true")
@example("near:p000000000000002 dist:20038 | private:true", "q", "oldest", "false")
def test_any_query_is_refused_or_shows_what_a_viewer_may_see(viewer, query, name, order, merged):
    asked = {name: query, "order": order, "merged": merged, "total": "true", "count": "1000"}
    viewer.ask(urlencode(asked, errors="surrogatepass"))
