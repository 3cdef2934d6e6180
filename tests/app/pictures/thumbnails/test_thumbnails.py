"""GET /t/<hash>/<token>/<size>: sizes, areas, caching, and pixels worked out by hand."""

from hashlib import sha1
from io import BytesIO

from PIL import Image
from sqlalchemy import select

from photosvc.models import File, Marker
from photosvc.pictures.sizes import NAMED
from tests.app.pictures.picture_client import BROWSER
from tests.helpers.api_client import check_error
from tests.helpers.clock import NOW
from tests.helpers.pictures import CORNERS


def near(pixel, expected, tolerance=8):
    return all(abs(one - other) <= tolerance for one, other in zip(pixel, expected, strict=True))


def corners(picture):
    width, height = picture.size
    xs, ys = (width // 8, width * 7 // 8), (height // 8, height * 7 // 8)
    return [picture.getpixel((x, y)) for y in ys for x in xs]


def test_a_size_is_a_jpeg_of_the_pixels_its_name_states(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    for name in ("tile_100", "left_224", "right_384", "fit_720", "fit_1280", "fit_7680"):
        size = NAMED[name]
        made = pictures.pixels(content_hash, name)
        ratio = min(1, size.width / 1600, size.height / 1200)
        fitted = (round(1600 * ratio), round(1200 * ratio))
        assert (made.format, made.size) == ("JPEG", (size.width, size.height) if size.fills else fitted), name
        if size.method in ("tile", "fit"):
            assert all(map(near, corners(made), CORNERS)), name
        else:
            column = 0 if size.method == "left" else 1
            middle, height = size.width // 2, size.height
            # The square is three quarters of the picture wide, so that its centre lies in that half.
            assert near(made.getpixel((middle, height // 8)), CORNERS[column]), name
            assert near(made.getpixel((middle, height * 7 // 8)), CORNERS[2 + column]), name
    assert pictures.pixels(pictures.hash_of("small.png"), "fit_7680").size == (60, 40)  # it is not enlarged
    assert pictures.pixels(pictures.hash_of("small.png"), "tile_100").size == (100, 100)


def test_the_size_colors_is_nine_exact_pixels_of_the_whole_picture(pictures):
    for name, size, accept in (("photo.jpg", "colors", BROWSER), ("small.png", "colors.jpg", "*/*")):
        answer = pictures.thumbnail(pictures.hash_of(name), size, Accept=accept)
        made = Image.open(BytesIO(answer.data))
        assert (answer.status_code, answer.content_type, made.format, made.size) == (200, "image/png", "PNG", (3, 3))
        pixels = [made.convert("RGB").getpixel((x, y)) for y in (0, 2) for x in (0, 2)]
        assert all(map(near, pixels, CORNERS)), name
        again = pictures.thumbnail(pictures.hash_of(name), size, If_None_Match=answer.headers["ETag"])
        assert (again.status_code, pictures.cache().has(pictures.hash_of(name), "colors.png")) == (304, True)


def test_a_size_may_end_in_a_slash_or_in_jpg_and_a_hash_be_in_upper_case(pictures):
    content_hash = pictures.hash_of("small.png")
    first = pictures.thumbnail(content_hash, "tile_50")
    assert (first.status_code, first.content_type) == (200, "image/jpeg")
    for name, ending in (
        (content_hash, ".jpg"),
        (content_hash, "/"),
        (content_hash, ".jpg/"),
        (content_hash.upper(), ""),
    ):
        assert pictures.thumbnail(name, f"tile_50{ending}").data == first.data, (name, ending)


def test_an_area_shows_that_part_of_the_picture(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    areas = ("0000001f41f4", 0), ("1f40001f41f4", 1), ("0001f41f41f4", 2), ("1f41f41f41f4", 3), ("2580640c80c8", 1)
    for area, colour in areas:
        made = pictures.pixels(f"{content_hash}-{area}", "tile_160")
        assert made.size == (160, 160), area
        assert all(near(pixel, CORNERS[colour]) for pixel in corners(made)), area


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


def test_pictures_of_every_kind_show_their_colours(pictures):
    for name, point, colour in (
        ("turned-6.jpg", (20, 20), CORNERS[2]),
        ("profile.jpg", (32, 32), (20, 250, 20)),  # red and green exchanged by its profile
        ("alpha.png", (80, 50), (127, 127, 255)),
        ("phone.heic", (40, 30), CORNERS[0]),
        ("phone.heic", (280, 210), CORNERS[3]),
        ("clip.mp4", (8, 8), CORNERS[0]),
        ("clip.mp4", (56, 40), CORNERS[3]),
    ):
        made = pictures.pixels(pictures.hash_of(name))
        assert made.mode == "RGB", name
        assert near(made.getpixel(point), colour, 14), name
        assert "icc_profile" not in made.info, name


def test_a_raw_shows_its_preview_upright_and_is_developed_for_sizes_that_it_is_too_small_for(pictures):
    red, green, blue, white = CORNERS
    turned, rough = pictures.hash_of("turned.dng"), pictures.hash_of("rough.dng")
    for size, pixels in (("tile_100", (100, 100)), ("tile_500", (500, 500)), ("fit_720", (480, 640))):
        made = pictures.pixels(turned, size)
        assert (made.format, made.size) == ("JPEG", pixels)
        for found, expected in zip(corners(made), (blue, red, white, green), strict=True):
            assert near(found, expected, 3), size
    tile, large = pictures.pixels(rough, "tile_50"), pictures.pixels(rough, "fit_720")
    assert all(near(found, expected, 3) for found, expected in zip(corners(tile), CORNERS, strict=True))
    assert large.size == (720, 540)
    assert len({pixel for corner in corners(large) for pixel in corner}) == 1  # the sensor is plain grey


def test_a_thumbnail_may_be_kept_for_ever_but_not_by_shared_caches(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    first = pictures.thumbnail(content_hash, "fit_720")
    assert first.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    assert first.headers["X-Content-Type-Options"] == "nosniff"
    assert int(first.headers["Content-Length"]) == len(first.data)
    assert "Accept-Ranges" not in first.headers
    head = pictures.thumbnail(content_hash, "fit_720", method="HEAD")
    assert (head.status_code, head.data, dict(head.headers)) == (200, b"", dict(first.headers))
    saved = pictures.thumbnail(content_hash, "fit_720?download").headers["Content-Disposition"]
    assert saved == f'attachment; filename="fit_720-{content_hash[:8]}.jpg"'
    tag = first.headers["ETag"]
    for condition in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        again = pictures.thumbnail(content_hash, "fit_720", If_None_Match=condition)
        assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag), condition
        assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
        assert "Content-Type" not in again.headers


def test_tags_differ_by_picture_size_area_and_encoding_and_need_no_thumbnail(pictures):
    one, other = pictures.hash_of("photo.jpg"), pictures.hash_of("small.png")
    answers = [
        pictures.thumbnail(name, size)
        for name, size in (
            (one, "tile_224"),
            (other, "tile_224"),
            (one, "tile_100"),
            (f"{one}-0000001f41f4", "tile_224"),
        )
    ]
    answers.append(pictures.thumbnail(one, "tile_224", Accept="image/webp"))
    assert len({answer.headers["ETag"] for answer in answers}) == 5
    pictures.cache().remove(one, "tile_100.jpg")
    assert pictures.thumbnail(one, "tile_100", If_None_Match=answers[2].headers["ETag"]).status_code == 304
    assert not pictures.cache().has(one, "tile_100.jpg")


def test_small_tiles_are_webp_for_clients_that_name_it(pictures):
    for size, accept, kind in (
        *((size, "image/webp", "WEBP") for size in ("tile_500", "left_384")),
        *(("tile_224", accept, "JPEG") for accept in ("*/*", "image/webp;q=0, image/jpeg")),
        *((size, BROWSER, kind) for size, kind in (("tile_224", "WEBP"), ("tile_1080", "JPEG"), ("fit_720", "JPEG"))),
    ):
        answer = pictures.thumbnail(pictures.hash_of("photo.jpg"), size, Accept=accept)
        assert answer.content_type == f"image/{kind.lower()}", (size, accept)
        assert Image.open(BytesIO(answer.data)).format == kind
        assert answer.headers.get("Vary") == (None if size.startswith("fit") else "Accept")


def test_a_webp_tile_keeps_transparency_even_if_a_larger_jpeg_is_cached(pictures):
    content_hash = pictures.hash_of("alpha.png")
    assert pictures.pixels(content_hash, "fit_720").mode == "RGB"
    for size in ("tile_50", "tile_224"):
        answer = pictures.thumbnail(content_hash, size, Accept=BROWSER)
        tile = Image.open(BytesIO(answer.data))
        assert (tile.format, tile.mode, tile.getextrema()[3][0]) == ("WEBP", "RGBA", 0), size


def test_an_unknown_size_hash_or_area_is_not_found(pictures):
    known = pictures.hash_of("photo.jpg")
    sizes = ("fit_721", "tile_0", "fit_720.png", "fit_720.jpg.jpg", "colours", "x" * 3000, "%00")
    hashes = ("0" * 40, "0" * 39, "g" * 40, "0" * 41, "x", "0" * 3000, f"{known}-", f"{known}-00000000000")
    # The last three areas: without pixels, beyond the picture, no digits.
    areas = ("0000000000001", "000000000000", "3e80003e83e8", "zzzzzzzzzzzz")
    for content_hash, size, field in (
        *((known, size, "size") for size in sizes),
        *((name, "fit_720", "hash") for name in (*hashes, *(f"{known}-{area}" for area in areas))),
    ):
        body = check_error(pictures.thumbnail(content_hash, size), 404)
        assert body["details"][0]["field"] == field, (content_hash, size)
        assert len(body["error"]) < 80, (content_hash, size)


def test_a_sidecar_has_no_thumbnail_and_a_damaged_picture_its_stored_reason(pictures):
    data = (pictures.library.originals / "beside.xmp").read_bytes()
    assert pictures.thumbnail(sha1(data, usedforsecurity=False).hexdigest()).status_code == 404
    body = check_error(pictures.thumbnail(pictures.hash_of("half.jpg")), 422)
    assert body["error"] == "the picture is truncated"
    for method in ("POST", "PUT", "DELETE"):
        check_error(pictures.thumbnail(pictures.hash_of("photo.jpg"), method=method), 405)


def test_clients_that_want_an_image_get_an_icon_with_the_status_and_others_json(pictures):
    answer = pictures.thumbnail("0" * 40, Accept=BROWSER)
    assert (answer.status_code, answer.content_type) == (404, "image/svg+xml")
    assert answer.data.startswith(b"<svg ")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["Vary"] == "Accept"
    assert "script" not in answer.text
    for accept in ("*/*", "application/json", "text/html", "image/*;q=0, */*", ""):
        check_error(pictures.thumbnail("0" * 40, Accept=accept), 404)
