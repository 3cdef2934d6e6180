"""Videos of public links: without the right to metadata, no byte of them tells a place or camera."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.clock import until
from tests.helpers.pictures import jpeg
from tests.unit.media.video.videos import film, google_photo, micro_video, samsung_photo, told, turned

SECRET = b"+45.7640+004.8357/ Maplecam"


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A library with an album of videos that name their camera and place; the tokens of its visitors."""
    folder = tmp_path_factory.mktemp("films")
    with open_api(tmp_path_factory.mktemp("visitors")) as api:
        put = api.library.put
        clip = told(film(folder / "played.mp4", sounds=["aac"]), SECRET.decode()).read_bytes()
        put("played.mp4", clip)
        put("phone.mov", told(turned(film(folder / "phone.mov", sounds=["pcm_s16le"])), SECRET.decode()).read_bytes())
        put("camera.mts", told(film(folder / "camera.mts", sounds=["ac3"]), SECRET.decode()).read_bytes())
        put("new.mp4", told(film(folder / "new.mp4", "libx265"), SECRET.decode()).read_bytes())
        put("google.jpg", google_photo(clip))
        put("micro.jpg", micro_video(clip))
        put("samsung.jpg", samsung_photo(clip))
        put("live.jpg", jpeg(80, 60))
        put("live.mp4", told(film(folder / "live.mp4", frames=30), SECRET.decode()).read_bytes())
        api.library.index()
        token = api.app_password("ann")
        album = api.call("POST", "/albums", token, json={"Title": "Films"}).json["UID"]
        photos = api.call("GET", "/photos?count=99&merged=true", token).json
        chosen = {"photos": [photo["UID"] for photo in photos]}
        assert api.call("POST", f"/albums/{album}/photos", token, json=chosen).status_code == 200
        files = {file["Name"]: file["Hash"] for photo in photos for file in photo["Files"]}

        def visit(**rights):
            link = api.call("POST", f"/albums/{album}/links", token, json=rights).json
            return api.call("POST", "/session", json={"token": link["Token"]}).json["config"]["previewToken"]

        def video(content_hash, preview, name, **headers):
            answers = []

            def is_made():
                path = f"/videos/{content_hash}/{preview}/{name}"
                answers.append(api.call("GET", path, headers=headers, buffered=True))
                return answers[-1].status_code != 503

            until(is_made, "a converted video")
            return answers[-1]

        yield api, files, visit, video


NAMES = ["played.mp4", "phone.mov", "camera.mts", "new.mp4", "google.jpg", "micro.jpg", "samsung.jpg", "live.jpg"]


@pytest.mark.parametrize("name", NAMES)
def test_no_video_of_a_link_without_metadata_tells_a_place_or_camera(shared, name):
    api, files, visit, video = shared
    assert SECRET in (api.library.originals / name.replace("live.jpg", "live.mp4")).read_bytes()
    preview = visit()
    for kind in ("avc", name.rpartition(".")[2].replace("jpg", "mp4"), "hevc", "mp4"):
        answer = video(files[name], preview, kind)
        assert (answer.status_code, answer.mimetype) == (200, "video/mp4"), (kind, answer.text)
        assert SECRET not in answer.data
        assert b"Maplecam" not in answer.data
        assert name.partition(".")[0] not in str(answer.headers)
    part = video(files[name], preview, "avc", Range="bytes=0-99")
    assert (part.status_code, part.data) == (206, answer.data[:100])


def test_a_link_with_metadata_sends_what_browsers_play_as_it_is(shared):
    api, files, visit, video = shared
    answer = video(files["played.mp4"], visit(ShowMetadata=True), "avc")
    assert answer.data == (api.library.originals / "played.mp4").read_bytes()
