"""Large answers take a place for as long as they are sent; without one they are refused at once."""

import os

import pytest
from PIL import Image

from photosvc.search.reading import pages
from photosvc.web.admission_gate import Cost
from photosvc.web.service import current_service
from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import check_error, open_api
from tests.helpers.pictures import encoded


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("transfers")
    with open_api(folder, settings={"PHOTOSVC_TRANSFERS": 2, "PHOTOSVC_TRANSFERS_EACH": 1}) as api:
        pictures = PictureClient(api)
        pictures.library.put("large.png", encoded(Image.new("RGB", (40, 30)), "PNG") + os.urandom(2 << 20))
        pictures.library.put("small.png", encoded(Image.new("RGB", (40, 30), "red"), "PNG"))
        pictures.library.index()
        yield pictures


@pytest.fixture
def places(pictures):
    with pictures.library.app.app_context():
        return current_service().gate.places[Cost.TRANSFER]


LARGE = [{}, {"Range": "bytes=0-"}]
SMALL = [{"Range": "bytes=0-9"}, {"If_None_Match": "*"}]


@pytest.mark.parametrize("headers", LARGE)
def test_a_process_without_a_slot_refuses_large_answers_and_sends_small_ones(pictures, places, headers):
    content_hash, token = pictures.hash_of("large.png"), pictures.tokens()[1]
    taken = [places.take(owner) for owner in ("one", "other")]
    answer = pictures.download(content_hash, token, **headers)
    assert check_error(answer, 503)["error"] == "The server is sending too many large answers: try again in a moment."
    assert answer.headers["Retry-After"] == "10"
    assert pictures.download(content_hash, token, method="HEAD").status_code == 200
    assert [pictures.download(content_hash, token, **small).status_code for small in SMALL] == [206, 304]
    assert pictures.download(pictures.hash_of("small.png"), token).status_code == 200
    for free in taken:
        free()
    for _ in range(3):  # each frees its place when it is complete
        assert pictures.download(content_hash, token, **headers).status_code == (206 if headers else 200)


def test_an_owner_without_a_slot_is_refused_and_others_are_not(pictures):
    token = pictures.api.access_token("photos")
    one, other = (pictures.tokens(credential)[1] for credential in (token, pictures.api.access_token("photos")))
    path = f"/dl/{pictures.hash_of('large.png')}?t="
    begun = pictures.api.call("GET", path + one)
    answer = pictures.api.call("GET", path + one)
    assert check_error(answer, 429)["error"] == (
        "You are downloading several large files already: wait until one is complete."
    )
    assert pictures.api.call("GET", path + other, buffered=True).status_code == 200
    begun.close()
    assert pictures.api.call("GET", path + one, buffered=True).status_code == 200


def test_a_search_whose_answer_is_sent_in_pieces_takes_a_slot(pictures, places, monkeypatch):
    monkeypatch.setattr(pages, "CHUNK", 1)
    token = pictures.library.token("photos", role="admin")
    taken = [places.take(owner) for owner in ("one", "other")]
    check_error(pictures.api.call("GET", "/photos?count=2", token), 503)
    assert pictures.api.call("GET", "/photos?count=1", token).status_code == 200
    for free in taken:
        free()
    assert len(pictures.api.call("GET", "/photos?count=2", token, buffered=True).json) == 2
    assert not places.are_all_taken
