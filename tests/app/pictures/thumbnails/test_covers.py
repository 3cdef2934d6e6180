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


def test_the_chosen_photo_is_the_cover_of_an_album_while_it_is_in_it_and_may_be_seen(pictures):
    call, token = pictures.api.library.call, pictures.api.library.token(role="admin")
    hashes = {name: pictures.hash_of(f"{name}.jpg") for name in ("a/old", "a/new")}
    photos = {name: call("GET", f"/files/{content}")["PhotoUID"] for name, content in hashes.items()}
    album = call("POST", "/albums", json={"Title": "Trip", "Category": "Travel", "Location": "Bern", "Notes": "a\nb"})
    path = f"/albums/{album['UID']}"
    call("POST", f"{path}/photos", json={"photos": list(photos.values())})
    unchosen = call("GET", path)
    assert [unchosen[name] for name in ("Category", "Location", "Notes", "ThumbSrc")] == ["Travel", "Bern", "a\nb", ""]
    assert (unchosen["Thumb"], call("PUT", path, json=unchosen)["ThumbSrc"]) == (hashes["a/new"], "")
    assert call("PUT", path, json={"Thumb": hashes["a/new"]})["ThumbSrc"] == ""  # it is shown already
    chosen = call("PUT", path, json={"Thumb": hashes["a/old"].upper()})
    assert (chosen["Thumb"], chosen["ThumbSrc"]) == (hashes["a/old"], "manual")
    assert call("GET", "/albums?type=album&order=category")[0]["Thumb"] == hashes["a/old"]
    assert call("PUT", path, json=chosen)["ThumbSrc"] == "manual"
    sent = cover(pictures, f"albums/{album['UID']}/t/TOKEN").data
    assert sent == pictures.thumbnail(hashes["a/old"]).data
    for hidden, shown in (({"Private": True}, {"Private": False}),):
        call("PUT", f"/photos/{photos['a/old']}", json=hidden, token=token)
        assert call("GET", path)["Thumb"] == hashes["a/new"]
        call("PUT", f"/photos/{photos['a/old']}", json=shown, token=token)
    call("DELETE", f"{path}/photos", json={"photos": [photos["a/old"]]})
    assert [call("GET", path)[name] for name in ("Thumb", "ThumbSrc")] == [hashes["a/new"], ""]
    for refused in (hashes["a/old"], pictures.hash_of("b/private.jpg"), "0" * 40, "x", 5):
        assert "Thumb" in str(call("PUT", path, 400, json={"Thumb": refused, "ThumbSrc": "manual"})), refused
    call("POST", f"{path}/photos", json={"photos": [photos["a/old"]]})
    assert call("PUT", path, json={"Thumb": ""})["ThumbSrc"] == ""
    call("DELETE", path)


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
