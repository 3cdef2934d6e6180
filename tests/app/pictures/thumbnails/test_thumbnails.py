"""GET /t/<hash>/<token>/<size>: sizes, areas, caching, and pixels worked out by hand."""

from io import BytesIO

import pytest
from PIL import Image
from sqlalchemy import select

from photosvc.models import File, Marker
from photosvc.pictures.sizes import NAMED
from tests.helpers.api_client import check_error
from tests.helpers.clients.picture_client import BROWSER
from tests.helpers.clock import NOW
from tests.helpers.pictures import CORNERS


def near(pixel, expected, tolerance=8):
    return all(abs(one - other) <= tolerance for one, other in zip(pixel, expected, strict=True))


def corners(picture):
    width, height = picture.size
    xs, ys = (width // 8, width * 7 // 8), (height // 8, height * 7 // 8)
    return [picture.getpixel((x, y)) for y in ys for x in xs]


@pytest.mark.parametrize("name", NAMED)
def test_every_size_is_a_jpeg_of_the_pixels_its_name_says(pictures, name):
    size = NAMED[name]
    made = pictures.pixels(pictures.hash_of("photo.jpg"), name)
    ratio = min(1, size.width / 1600, size.height / 1200)
    fitted = (round(1600 * ratio), round(1200 * ratio))
    assert (made.format, made.size) == ("JPEG", (size.width, size.height) if size.fills else fitted)
    if size.method in ("tile", "fit"):
        assert all(map(near, corners(made), CORNERS))
    else:
        column = 0 if size.method == "left" else 1
        middle, height = size.width // 2, size.height
        # The square is three quarters of the picture wide, so that its centre lies in that half.
        assert near(made.getpixel((middle, height // 8)), CORNERS[column])
        assert near(made.getpixel((middle, height * 7 // 8)), CORNERS[2 + column])


def test_a_picture_smaller_than_its_box_is_not_enlarged(pictures):
    assert pictures.pixels(pictures.hash_of("small.png"), "fit_7680").size == (60, 40)
    assert pictures.pixels(pictures.hash_of("small.png"), "tile_100").size == (100, 100)


@pytest.mark.parametrize("ending", ["", ".jpg", "/", ".jpg/"])
def test_a_size_may_end_in_a_slash_or_in_jpg(pictures, ending):
    content_hash = pictures.hash_of("small.png")
    answer = pictures.thumbnail(content_hash, f"tile_50{ending}")
    assert (answer.status_code, answer.content_type) == (200, "image/jpeg")
    assert answer.data == pictures.thumbnail(content_hash, "tile_50").data


def test_upper_case_hashes_are_the_same_hashes(pictures):
    assert pictures.thumbnail(pictures.hash_of("small.png").upper(), "tile_50").status_code == 200


@pytest.mark.parametrize(
    ("area", "colour"),
    [("0000001f41f4", 0), ("1f40001f41f4", 1), ("0001f41f41f4", 2), ("1f41f41f41f4", 3), ("2580640c80c8", 1)],
)
def test_an_area_shows_that_part_of_the_picture(pictures, area, colour):
    made = pictures.pixels(f"{pictures.hash_of('photo.jpg')}-{area}", "tile_160")
    assert made.size == (160, 160)
    assert all(near(pixel, CORNERS[colour]) for pixel in corners(made))


def test_only_areas_of_markers_are_kept(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    with pictures.library.session() as session:
        file_id = session.scalars(select(File.id).where(File.hash == content_hash)).one()
        box = {"x": 0.1234, "y": 0.25, "w": 0.2, "h": 0.3339}
        session.add(Marker(uid="mtest", file_id=file_id, type="face", name="Ann", created_at=NOW, **box))
    # Each number is rounded up or down: 123.4 is 07b or 07c, 333.9 is 14d or 14e.
    for area, kept in (
        ("07b0fa0c814d", True),
        ("07c0fa0c814e", True),
        ("07a0fa0c814d", False),
        ("07b0fb0c814d", False),
        ("0000001f41f4", False),
    ):
        for _ in range(2):
            assert pictures.thumbnail(f"{content_hash}-{area}", "tile_320").status_code == 200
        assert pictures.cache().has(content_hash, f"{area}_tile_320.jpg") is kept, area


@pytest.mark.parametrize("number", range(1, 9))
def test_every_orientation_stands_upright(pictures, number):
    made = pictures.pixels(pictures.hash_of(f"turned-{number}.jpg"))
    stored = Image.open(pictures.library.originals / f"turned-{number}.jpg").convert("RGB")
    # Exif 2.32, tag 274: which stored side is the visual top and left.
    red, green, blue, white = CORNERS
    upright = {
        1: (red, green, blue, white),
        2: (green, red, white, blue),
        3: (white, blue, green, red),
        4: (blue, white, red, green),
        5: (red, blue, green, white),
        6: (blue, red, white, green),
        7: (white, green, blue, red),
        8: (green, white, red, blue),
    }[number]
    assert made.size == (stored.size if number < 5 else stored.size[::-1])
    assert all(map(near, corners(made), upright))


@pytest.mark.parametrize(
    ("name", "point", "colour"),
    [
        ("profile.jpg", (32, 32), (20, 250, 20)),  # red and green exchanged by its profile
        ("alpha.png", (20, 50), (255, 255, 255)),
        ("alpha.png", (80, 50), (127, 127, 255)),
        ("deep.png", (20, 20), (128, 128, 128)),
        ("print.jpg", (32, 32), (255, 0, 0)),
        ("moving.gif", (20, 20), (255, 0, 0)),
        ("phone.heic", (40, 30), CORNERS[0]),
        ("phone.heic", (280, 210), CORNERS[3]),
        ("clip.mp4", (8, 8), CORNERS[0]),
        ("clip.mp4", (56, 40), CORNERS[3]),
    ],
)
def test_pictures_of_every_kind_show_their_colours(pictures, name, point, colour):
    made = pictures.pixels(pictures.hash_of(name))
    assert made.mode == "RGB"
    assert near(made.getpixel(point), colour, 14)
    assert "icc_profile" not in made.info


def test_a_raw_without_preview_is_developed(pictures):
    made = pictures.pixels(pictures.hash_of("raw.dng"))
    red, green, blue = made.getpixel((made.width // 2, made.height // 2))
    assert max(made.size) == 320
    assert max(red, green, blue) - min(red, green, blue) < 12


@pytest.mark.parametrize(
    ("size", "pixels"), [("tile_100", (100, 100)), ("tile_500", (500, 500)), ("fit_720", (480, 640))]
)
def test_a_raw_shows_its_preview_upright(pictures, size, pixels):
    made = pictures.pixels(pictures.hash_of("turned.dng"), size)
    red, green, blue, white = CORNERS
    assert (made.format, made.size) == ("JPEG", pixels)
    for found, expected in zip(corners(made), (blue, red, white, green), strict=True):
        assert near(found, expected, 3)


def test_a_raw_is_developed_for_sizes_that_its_preview_is_too_small_for(pictures):
    content_hash = pictures.hash_of("rough.dng")
    tile, large = pictures.pixels(content_hash, "tile_50"), pictures.pixels(content_hash, "fit_720")
    assert all(near(found, expected, 3) for found, expected in zip(corners(tile), CORNERS, strict=True))
    assert large.size == (720, 540)
    assert len({pixel for corner in corners(large) for pixel in corner}) == 1  # the sensor is plain grey


def test_a_thumbnail_may_be_kept_for_ever_but_not_by_shared_caches(pictures):
    answer = pictures.thumbnail(pictures.hash_of("photo.jpg"), "fit_720")
    assert answer.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert int(answer.headers["Content-Length"]) == len(answer.data)
    assert "Accept-Ranges" not in answer.headers


@pytest.mark.parametrize("condition", ["{}", "W/{}", '"other", {}', "*"])
def test_a_known_tag_is_answered_304_without_a_body(pictures, condition):
    content_hash = pictures.hash_of("photo.jpg")
    first = pictures.thumbnail(content_hash, "fit_720")
    tag = first.headers["ETag"]
    again = pictures.thumbnail(content_hash, "fit_720", If_None_Match=condition.format(tag))
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == tag
    assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
    assert "Content-Type" not in again.headers


def test_tags_differ_by_picture_size_area_and_encoding(pictures):
    one, other = pictures.hash_of("photo.jpg"), pictures.hash_of("small.png")
    asked = [
        pictures.thumbnail(one, "tile_224"),
        pictures.thumbnail(other, "tile_224"),
        pictures.thumbnail(one, "tile_100"),
        pictures.thumbnail(f"{one}-0000001f41f4", "tile_224"),
        pictures.thumbnail(one, "tile_224", Accept="image/webp"),
    ]
    assert len({answer.headers["ETag"] for answer in asked}) == 5


def test_a_revalidated_thumbnail_is_not_made_again(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    tag = pictures.thumbnail(content_hash, "tile_384").headers["ETag"]
    cache = pictures.cache()
    cache.remove(content_hash, "tile_384.jpg")
    assert pictures.thumbnail(content_hash, "tile_384", If_None_Match=tag).status_code == 304
    assert not cache.has(content_hash, "tile_384.jpg")


def test_head_has_the_headers_of_get_and_no_body(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    got = pictures.thumbnail(content_hash, "fit_720")
    head = pictures.thumbnail(content_hash, "fit_720", method="HEAD")
    assert (head.status_code, head.data) == (200, b"")
    assert dict(head.headers) == dict(got.headers)


@pytest.mark.parametrize(
    ("size", "accept", "kind"),
    [
        ("tile_224", BROWSER, "WEBP"),
        ("tile_500", "image/webp", "WEBP"),
        ("left_384", "image/webp", "WEBP"),
        ("tile_224", "*/*", "JPEG"),
        ("tile_224", "image/webp;q=0, image/jpeg", "JPEG"),
        ("tile_1080", BROWSER, "JPEG"),
        ("fit_720", BROWSER, "JPEG"),
    ],
)
def test_small_tiles_are_webp_for_clients_that_name_it(pictures, size, accept, kind):
    answer = pictures.thumbnail(pictures.hash_of("photo.jpg"), size, Accept=accept)
    assert answer.content_type == f"image/{kind.lower()}"
    assert Image.open(BytesIO(answer.data)).format == kind
    assert answer.headers.get("Vary") == (None if size.startswith("fit") else "Accept")


def test_a_thumbnail_may_be_saved_under_a_name(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    answer = pictures.thumbnail(content_hash, "fit_720?download")
    assert answer.headers["Content-Disposition"] == f'attachment; filename="fit_720-{content_hash[:8]}.jpg"'


@pytest.mark.parametrize("size", ["fit_721", "tile_0", "fit_720.png", "fit_720.jpg.jpg", "colors", "x" * 3000, "%00"])
def test_an_unknown_size_is_not_found(pictures, size):
    body = check_error(pictures.thumbnail(pictures.hash_of("photo.jpg"), size), 404)
    assert body["details"][0]["field"] == "size"
    assert len(body["error"]) < 80


@pytest.mark.parametrize(
    "content_hash",
    [
        "0" * 40,
        "0" * 39,
        "g" * 40,
        "0" * 41,
        "x",
        "0" * 3000,
        "{}-",
        "{}-00000000000",
        "{}-0000000000001",
        "{}-000000000000",  # an area without pixels
        "{}-3e80003e83e8",  # an area beyond the picture
        "{}-zzzzzzzzzzzz",
    ],
)
def test_an_unknown_hash_or_area_is_not_found(pictures, content_hash):
    body = check_error(pictures.thumbnail(content_hash.format(pictures.hash_of("photo.jpg"))), 404)
    assert body["details"][0]["field"] == "hash"


def test_a_sidecar_has_no_thumbnail(pictures):
    from hashlib import sha1

    data = (pictures.library.originals / "beside.xmp").read_bytes()
    assert pictures.thumbnail(sha1(data, usedforsecurity=False).hexdigest()).status_code == 404


def test_clients_that_want_an_image_get_an_icon_with_the_status(pictures):
    answer = pictures.thumbnail("0" * 40, Accept=BROWSER)
    assert (answer.status_code, answer.content_type) == (404, "image/svg+xml")
    assert answer.data.startswith(b"<svg ")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Vary"] == "Accept"
    assert "script" not in answer.text


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html", "image/*;q=0, */*", ""])
def test_other_clients_get_json(pictures, accept):
    check_error(pictures.thumbnail("0" * 40, Accept=accept), 404)


def test_a_damaged_picture_is_refused_with_the_stored_reason(pictures):
    body = check_error(pictures.thumbnail(pictures.hash_of("half.jpg")), 422)
    assert body["error"] == "the picture is truncated"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE"])
def test_thumbnails_are_only_read(pictures, method):
    check_error(pictures.thumbnail(pictures.hash_of("photo.jpg"), method=method), 405)
