"""Covers of albums, folders and labels: the latest photo that may be seen."""

import pytest

from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg, xmp


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("covers")) as api:
        pictures = PictureClient(api)
        words = xmp("<dc:subject><rdf:Bag><rdf:li>lake</rdf:li></rdf:Bag></dc:subject>")
        for number, name in enumerate(('c "1"/*|x/low.jpg', "a/old.jpg", "a/new.jpg", "b/private.jpg")):
            taken = exif({}, {0x9003: f"202{number}:01:02 03:04:05"})
            api.library.put(name, jpeg(300 + number, 200, exif=taken, xmp=words))
        api.library.index()
        pictures.change("b/private.jpg", private=True)
        yield pictures


@pytest.fixture(scope="module")
def uids(pictures):
    """The UIDs of the label and of the two folders."""
    token = pictures.api.app_password("ann")
    labels = {record["Name"]: record["UID"] for record in pictures.api.call("GET", "/labels", token).json}
    folders = {
        record["Title"].lower(): record["UID"] for record in pictures.api.call("GET", "/albums?type=folder", token).json
    }
    return {"LAKE": {name.lower(): uid for name, uid in labels.items()}["lake"], "A": folders["a"], "B": folders["b"]}


def cover(pictures, path, size="fit_720", token=None, **headers):
    token = token or pictures.preview
    path = f"/api/v1/{path.replace('TOKEN', token)}/{size}"
    return pictures.api.library.app.test_client().get(path, headers=headers, buffered=True)


def test_the_cover_of_a_folder_is_its_latest_photo(pictures, uids):
    for path in (f"albums/{uids['A']}/t/TOKEN", f"folders/t/{uids['A']}/TOKEN"):
        answer = cover(pictures, path)
        assert (answer.status_code, answer.content_type) == (200, "image/jpeg"), path
        assert answer.data == pictures.thumbnail(pictures.hash_of("a/new.jpg")).data
        assert answer.headers["Cache-Control"] == "private, no-cache"
        again = cover(pictures, path, **{"If-None-Match": answer.headers["ETag"]})
        assert (again.status_code, again.data) == (304, b""), path


def test_a_folder_has_a_uid_and_the_latest_photo_below_it_as_cover(pictures, uids):
    token, low = pictures.api.access_token(), pictures.hash_of('c "1"/*|x/low.jpg')
    folders = pictures.api.call("GET", "/folders/originals?recursive=true", token).json["folders"]
    above, below = (folder for folder in folders if folder["Path"].startswith("c"))
    assert (above["Path"], above["PhotoCount"], above["Thumb"], below["Thumb"]) == ('c "1"', 0, low, low)
    assert len({above["UID"], below["UID"], uids["A"], uids["B"]}) == 4
    for path in (f"albums/{above['UID']}/t/TOKEN", f"folders/t/{above['UID']}/TOKEN"):
        assert cover(pictures, path).data == pictures.thumbnail(low).data, path
    album = pictures.api.call("GET", f"/albums/{above['UID']}", token).json
    assert (album["Path"], album["PhotoCount"], album["Thumb"]) == ('c "1"', 0, low)
    assert pictures.api.call("GET", f"/photos?s={above['UID']}", token).json == []


def test_the_cover_of_a_label_shows_private_photos_only_to_accounts_that_may_see_them(pictures, uids):
    ann, _ = pictures.tokens(pictures.api.app_password("ann"))
    client, _ = pictures.tokens(pictures.api.access_token())
    for token, name in ((ann, "b/private.jpg"), (client, "a/new.jpg")):
        shown = cover(pictures, f"labels/{uids['LAKE']}/t/TOKEN", "tile_100", token)
        assert shown.data == pictures.thumbnail(pictures.hash_of(name), "tile_100", ann).data, name


def test_a_label_or_folder_without_a_photo_has_no_cover(pictures, uids):
    token, _ = pictures.tokens(pictures.api.access_token())
    lake = f"labels/{uids['LAKE']}/t"
    for path, size, status in (
        ("albums/axxxxxxxxxxxxxxx/t/TOKEN", "fit_720", 404),
        ("albums/x%00/t/TOKEN", "fit_720", 404),
        ("labels/lxxxxxxxxxxxxxxx/t/TOKEN", "fit_720", 404),
        (f"{lake}/TOKEN", "huge", 404),
        (f"{lake}/wrong", "fit_720", 403),
        (f"folders/t/{uids['B']}/TOKEN", "fit_720", 404),
    ):
        assert cover(pictures, path, size, token).status_code == status, path
