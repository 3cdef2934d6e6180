"""Covers of albums, folders and labels: the latest photo that may be seen."""

import pytest

from tests.helpers.api_client import open_api
from tests.helpers.clients.picture_client import PictureClient
from tests.helpers.pictures import exif, jpeg, xmp


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("covers")) as api:
        pictures = PictureClient(api)
        words = xmp("<dc:subject><rdf:Bag><rdf:li>lake</rdf:li></rdf:Bag></dc:subject>")
        for number, name in enumerate(("a/old.jpg", "a/new.jpg", "b/private.jpg")):
            taken = exif({}, {0x9003: f"202{number}:01:02 03:04:05"})
            api.library.put(name, jpeg(300 + number, 200, exif=taken, xmp=words))
        api.library.index()
        pictures.change("b/private.jpg", private=True)
        yield pictures


def uid_of(pictures, path, title):
    answer = pictures.api.call("GET", path, pictures.api.app_password("ann"))
    return next(one["UID"] for one in answer.json if title in {one.get("Title"), one.get("Name")})


def cover(pictures, path, size="fit_720", token=None, **headers):
    token = token or pictures.preview
    path = f"/api/v1/{path.replace('TOKEN', token)}/{size}"
    return pictures.api.library.app.test_client().get(path, headers=headers, buffered=True)


@pytest.mark.parametrize("kind", ["albums/{}/t/TOKEN", "folders/t/{}/TOKEN"])
def test_the_cover_of_a_folder_is_its_latest_photo(pictures, kind):
    uid = uid_of(pictures, "/albums?type=folder", "a")
    answer = cover(pictures, kind.format(uid))
    assert (answer.status_code, answer.content_type) == (200, "image/jpeg")
    assert answer.data == pictures.thumbnail(pictures.hash_of("a/new.jpg")).data
    assert answer.headers["Cache-Control"] == "private, no-cache"
    again = cover(pictures, kind.format(uid), **{"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")


def test_the_cover_of_a_label_shows_private_photos_only_to_those_who_may_see_them(pictures):
    uid = uid_of(pictures, "/labels", "lake")
    seen = {
        name: cover(pictures, f"labels/{uid}/t/TOKEN", "tile_100", preview).data
        for name, (preview, _) in {
            "ann": pictures.tokens(pictures.api.app_password("ann")),
            "client": pictures.tokens(pictures.api.access_token()),
        }.items()
    }
    every = {name: pictures.hash_of(name) for name in ("a/new.jpg", "b/private.jpg")}
    ann, _ = pictures.tokens(pictures.api.app_password("ann"))
    assert seen == {
        "ann": pictures.thumbnail(every["b/private.jpg"], "tile_100", ann).data,
        "client": pictures.thumbnail(every["a/new.jpg"], "tile_100", ann).data,
    }


@pytest.mark.parametrize(
    ("path", "size", "status"),
    [
        ("albums/axxxxxxxxxxxxxxx/t/TOKEN", "fit_720", 404), ("albums/x%00/t/TOKEN", "fit_720", 404),
        ("labels/lxxxxxxxxxxxxxxx/t/TOKEN", "fit_720", 404), ("labels/LAKE/t/TOKEN", "huge", 404),
        ("labels/LAKE/t/wrong", "fit_720", 403), ("folders/t/B/TOKEN", "fit_720", 404),
    ],
)  # fmt: skip
def test_what_has_no_photo_has_no_cover(pictures, path, size, status):
    path = path.replace("LAKE", uid_of(pictures, "/labels", "lake"))
    path = path.replace("/B/", f"/{uid_of(pictures, '/albums?type=folder', 'b')}/")
    token, _ = pictures.tokens(pictures.api.access_token())
    assert cover(pictures, path, size, token).status_code == status
