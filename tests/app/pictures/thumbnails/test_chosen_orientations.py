"""PUT /photos/<uid>/files/<file uid>/orientation: a person turns a picture, and the original stays as it is."""

import pytest

from photosvc.core.orientation import followed_by, inverse
from photosvc.media.decode import UPRIGHT
from photosvc.models import Photo
from photosvc.search.rows.check import differing
from tests.app.pictures.picture_client import PictureClient
from tests.helpers.api_client import open_api
from tests.helpers.library import hashes
from tests.helpers.pictures import exif, jpeg, quarters, video, xmp

ORIENTATIONS = range(1, 9)
FACE = """<mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag><rdf:li rdf:parseType="Resource">
<mwg-rs:Name>Ada</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>
<mwg-rs:Area stArea:x="0.2" stArea:y="0.3" stArea:w="0.2" stArea:h="0.4" stArea:unit="normalized"/>
</rdf:li></rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("turned")
    with open_api(folder) as api:
        pictures = PictureClient(api)
        library = pictures.library
        library.put("six.jpg", jpeg(320, 240, exif=exif({0x0112: 6}), xmp=xmp(FACE)))
        library.put("clip.mp4", video(folder / "clip.mp4").read_bytes())
        library.put("broken.jpg", jpeg(640, 480)[:4000])
        library.index()
        yield pictures


@pytest.fixture
def send(pictures):
    token = pictures.library.token(role="admin")

    def send(method, name, path, status=200, **options):
        answer = pictures.api.call(method, f"/photos/{pictures.photo_uid(name)}{path}", token, **options)
        assert answer.status_code == status, answer.text
        return answer.json

    def turn(orientation, name="six.jpg", status=200):
        file = send("GET", name, "")["Files"][0]["UID"]
        return send("PUT", name, f"/files/{file}/orientation", status, json={"Orientation": orientation})

    send.turn = turn
    send.file = lambda: pictures.api.call("GET", f"/files/{pictures.hash_of('six.jpg')}", token).json
    yield send
    turn(None)


def corners(picture):
    places = [(x * (picture.width - 1), y * (picture.height - 1)) for y in (0.1, 0.9) for x in (0.1, 0.9)]
    return [max(range(4), key=lambda n: -distance(picture.getpixel(place), n)) for place in places]


def distance(colour, number):
    known = quarters(2, 2).getpixel((number % 2, number // 2))
    return sum(abs(one - other) for one, other in zip(colour, known, strict=True))


def upright(picture, orientation):
    return picture.transpose(UPRIGHT[orientation]) if orientation in UPRIGHT else picture


def test_thumbnails_stand_as_the_chosen_orientation_says(pictures, send):
    for orientation in (1, 4, 6, 7):  # of all others, `followed_by` says the same
        send.turn(orientation)
        expected = upright(quarters(320, 240), orientation)
        shown = [pictures.pixels(pictures.hash_of("six.jpg"), size) for size in ("fit_720", "tile_100")]
        assert [corners(one.convert("RGB")) for one in shown] == [corners(expected)] * 2, orientation
        assert shown[0].size == expected.size, orientation


def test_the_record_and_searches_have_the_sides_of_the_turned_picture(pictures, send):
    assert [file["Orientation"] for file in send("GET", "six.jpg", "")["Files"]] == [6]
    send.turn(1)
    file = send.file()
    assert (file["Width"], file["Height"], file["Portrait"]) == (320, 240, False)
    assert (file["Orientation"], file["OrientationSrc"]) == (1, "manual")
    assert pictures.library.names(q="name:six", portrait="false") == ["six.jpg"]
    send.turn(8)
    file = send.file()
    assert (file["Width"], file["Height"], file["Portrait"]) == (240, 320, True)
    assert pictures.library.names(q="name:six", portrait="true") == ["six.jpg"]


def test_a_marked_area_is_turned_with_its_picture(send):
    def area():
        (marker,) = send("GET", "six.jpg", "")["Files"][0]["Markers"]
        return tuple(round(marker[name], 3) for name in ("X", "Y", "W", "H"))

    assert area() == (0.5, 0.1, 0.4, 0.2)
    send.turn(1)
    assert area() == (0.1, 0.1, 0.2, 0.4)
    send.turn(3)
    assert area() == (0.7, 0.5, 0.2, 0.4)
    send.turn(None)
    assert area() == (0.5, 0.1, 0.4, 0.2)


def test_it_outlives_index_runs_and_leaves_the_original_as_it_is(pictures, send):
    library = pictures.library
    before = hashes(library.originals)
    send.turn(3)
    stored = library.stored()
    library.index(force=True)
    file = send.file()
    assert (file["Orientation"], file["OrientationSrc"], file["Width"]) == (3, "manual", 320)
    assert hashes(library.originals) == before
    assert library.stored().keys() == stored.keys()
    with library.session() as session:
        assert differing(session, [row[0] for row in session.query(Photo.id)]) == set()


def test_it_is_journalled_and_undone(send):
    send.turn(2)
    file = send.turn(7)["Files"][0]["UID"]
    change = send("GET", "six.jpg", "/history")[0]
    assert change["Action"] == "photos.orientation"
    assert (change["Before"]["Orientations"], change["After"]["Orientations"]) == ({file: 2}, {file: 7})
    undone = send("POST", "six.jpg", f"/history/{change['ID']}/undo")["photo"]
    assert undone["Files"][0]["Orientation"] == 2


def test_a_thumbnail_of_a_turned_picture_has_a_tag_of_its_own_and_is_asked_for_again(pictures, send):
    content_hash = pictures.hash_of("six.jpg")
    before = pictures.thumbnail(content_hash).headers
    send.turn(4)
    after = pictures.thumbnail(content_hash).headers
    assert before["ETag"] != after["ETag"]
    assert (before["Cache-Control"], after["Cache-Control"]) == (
        "private, max-age=31536000, immutable",
        "private, no-cache",
    )


def test_browsers_keep_a_turned_thumbnail_of_an_address_that_says_how_it_is_turned(pictures, send):
    content_hash = pictures.hash_of("six.jpg")
    send.turn(1)  # which the library does by turning the picture, of orientation 6, back
    token = pictures.library.token(role="admin")
    ((month, _),) = pictures.api.call("GET", "/photos/timeline?q=name:six", token).json["months"]
    (shown,) = pictures.api.call("GET", f"/photos/timeline/months/{month}/photos?q=name:six", token).json["photos"]
    assert (shown["hash"], shown["turn"]) == (content_hash, 8)
    for turn, kept in ((8, "immutable"), (6, "no-cache"), (1, "no-cache"), ("x", "no-cache")):
        answer = pictures.thumbnail(content_hash, query=f"?turn={turn}")
        assert answer.headers["Cache-Control"].endswith(kept), turn
    send.turn(None)
    assert pictures.thumbnail(content_hash, query="?turn=8").headers["Cache-Control"] == "private, no-cache"


def test_only_the_eight_orientations_of_pictures_are_accepted(send):
    for orientation in (0, 9, -1, 1.5, "6", True, [], {}):
        details = send.turn(orientation, status=400)["details"]
        assert [detail["field"] for detail in details] == ["Orientation"], orientation
    for name in ("clip.mp4", "broken.jpg"):
        assert send.turn(6, name, 409)["error"] == "only pictures can be turned", name


def test_orientations_that_follow_one_another_are_those_of_pillow():
    picture = quarters(6, 4)
    for first in ORIENTATIONS:
        for then in ORIENTATIONS:
            both = upright(upright(picture, first), then)
            assert both == upright(picture, followed_by(first, then))
        assert followed_by(first, inverse(first)) == 1
