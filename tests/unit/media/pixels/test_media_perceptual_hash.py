"""The perceptual hash: copies differ in few bits, other pictures in many."""

import random
from io import BytesIO

from PIL import Image, ImageDraw, ImageOps

from photosvc.media.perceptual_hash import PerceptualHash, hash_picture, turned
from tests.helpers.pictures import clouds, encoded


def perceptual_hash(picture):
    return hash_picture(picture).whole


def bits(one, other):
    return (perceptual_hash(one) ^ perceptual_hash(other)).bit_count()


def test_a_fixed_picture_has_the_hash_that_the_library_imagehash_gives():
    draw = random.Random(7)
    picture = Image.frombytes("L", (32, 32), bytes(draw.randrange(256) for _ in range(1024)))
    assert f"{perceptual_hash(picture):016x}" == "eb2da3d14a4d06c7"


def test_a_copy_differs_in_at_most_four_bits_and_other_pictures_in_more_than_ten():
    pictures = [clouds(seed) for seed in range(12)]
    for name, copied in {
        "half the size": lambda one: one.resize((160, 120)),
        "low quality": lambda one: Image.open(BytesIO(encoded(one, "JPEG", quality=30))),
        "grey": lambda one: one.convert("L"),
        "paler": lambda one: Image.eval(one, lambda level: level * 3 // 4 + 20),
    }.items():
        assert max(bits(one, copied(one)) for one in pictures) <= 4, name
    looks = [perceptual_hash(one) for one in pictures]
    assert min((one ^ other).bit_count() for at, one in enumerate(looks) for other in looks[:at]) > 10


def test_the_hash_of_a_turned_picture_is_nearly_the_hash_with_its_bits_moved():
    for seed in range(5):
        for way in Image.Transpose:
            other = perceptual_hash(clouds(seed).transpose(way))
            assert min((other ^ one).bit_count() for one in turned(perceptual_hash(clouds(seed)))) <= 10
    assert bits(clouds(1), ImageOps.mirror(clouds(1))) > 10


def test_a_picture_without_contrast_has_no_hash():
    for picture in (Image.new("RGB", (50, 50), "red"), Image.linear_gradient("L").point(lambda v: v // 25)):
        assert hash_picture(picture) == PerceptualHash(-1, -1, -1, -1)


def test_transparent_pixels_count_as_white():
    seen = clouds(3).convert("RGBA")
    seen.putalpha(Image.linear_gradient("L").resize(seen.size))
    on_white = Image.alpha_composite(Image.new("RGBA", seen.size, "white"), seen).convert("RGB")
    assert bits(seen, on_white) <= 1


def test_the_parts_are_the_hash_from_the_highest_bits_on():
    look, whole = hash_picture(clouds(5)), perceptual_hash(clouds(5))
    assert look.look_1 << 48 | look.look_2 << 32 | look.look_3 << 16 | look.look_4 == whole


def test_frequencies_that_cancel_out_in_a_symmetric_picture_do_not_count():
    bar = Image.new("L", (64, 64), 255)
    ImageDraw.Draw(bar).rectangle((24, 0, 39, 63), fill=0)
    paler = bar.point(lambda level: level // 3 + 50)
    assert {f"{perceptual_hash(one):016x}" for one in (bar, paler)} == {"a200000000000000"}
