"""Records, positions and clusters on PostgreSQL, whose order of texts, rounding and refusal of NUL are its own."""

import pytest

from tests.app.pictures import test_clusters, test_hostile_names, test_photo_records, test_sequence
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.api_client import check_error, open_api
from tests.helpers.library import open_library


@pytest.fixture(scope="module")
def varied(new_postgres, tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("varied"), settings={"PHOTOSVC_DATABASE_URI": new_postgres()})
    yield library, *test_clusters.fill(library)
    library.close()


def test_positions_are_in_the_order_of_the_pages(varied, monkeypatch):
    library, _, _, tokens = varied
    for query, order in (
        ("", "-title"),
        ("lake", "relevance"),
        ("archived:true", "archived"),
    ):
        for by_cursor in (False, True):
            test_sequence.check(library, tokens[True], query, order, 7, by_cursor)
    test_sequence.check_far(library, tokens[True], monkeypatch)


def test_clusters_are_the_cells_of_the_grid(varied):
    for query in ("", "landscape:true | codec:jpeg", '-lake -"new york"'):
        for box in test_clusters.BOXES[:3]:
            for zoom in (1, 4):
                test_clusters.check(varied, query, True, box, zoom)


def test_records_are_the_same_as_on_sqlite(new_postgres, tmp_path):
    uri = {"PHOTOSVC_DATABASE_URI": new_postgres()}
    with open_api(tmp_path / "one") as api, open_api(tmp_path / "other", settings=uri) as other:
        for one in (api, other):
            with one.library.session() as session:
                fill_varied_library(session)
        tokens = [one.library.token("*", role="admin") for one in (api, other)]
        for photo_uid, hashes, _ in test_photo_records.photos(api)[:8]:
            for path in (f"/photos/{photo_uid}", f"/files/{hashes[0]}"):
                expected, answer = (one.call("GET", path, by) for one, by in zip((api, other), tokens, strict=True))
                assert (answer.status_code, answer.data) == (expected.status_code, expected.data)
        for path in ("/photos/p%00aaaaaaaaaaaaaa", "/files/%00", "/photos/%ff"):
            check_error(other.call("GET", path, tokens[1]), 404)


def test_no_odd_name_leads_out_of_the_originals(new_postgres, tmp_path):
    with test_hostile_names.guarded_library(tmp_path, PHOTOSVC_DATABASE_URI=new_postgres()) as pictures:
        test_hostile_names.check_names(pictures, test_hostile_names.ODD, step=5)
