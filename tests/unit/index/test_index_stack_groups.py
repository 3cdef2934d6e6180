"""Which files are one photo: decided by their names and keys, in any order."""

from random import Random

import pytest

from photosvc.core.vocabulary import KINDS, parse_kinds
from photosvc.index.stack_rules import MAX_FILES, Member, burst_of, divide, original_of, series_of

SHORT, LONG = 3_100_000_000, 3_100_000_001


def member(number, name, *keys, duration_ns=0, **values):
    base, _, extension = name.rpartition(".")
    video = extension.lower() in {"mov", "mp4"}
    return Member(
        id=number, folder="a", base=base, video=video, duration_ns=duration_ns, keys=frozenset(keys), **values
    )


def stacks(*members, kinds=KINDS):
    return divide(members, kinds)


@pytest.mark.parametrize(
    ("picture", "video", "duration_ns", "together"),
    [
        ("IMG_6.HEIC", "IMG_6.MOV", SHORT, True),
        ("IMG_6.HEIC", "img_6.mov", SHORT, True),
        ("IMG_4.jpg", "IMG_4_HEVC.MOV", SHORT, True),
        ("IMG_6.HEIC", "IMG_6.MOV", LONG, False),
        ("IMG_6.HEIC", "IMG_6.MOV", 0, False),
        ("IMG_6.HEIC", "IMG_7.MOV", SHORT, False),
    ],
)
def test_a_short_video_of_the_same_name_belongs_to_a_picture(picture, video, duration_ns, together):
    found = stacks(member(1, picture), member(2, video, duration_ns=duration_ns))
    assert found == ([[1, 2]] if together else [[1], [2]])


def test_a_video_with_the_identifier_of_a_picture_belongs_to_it_however_long_it_is():
    assert stacks(member(1, "IMG_6.HEIC", 77), member(2, "x.MOV", 77, duration_ns=LONG)) == [[1, 2]]


def test_names_that_differ_in_case_are_two_pictures_and_the_video_belongs_to_its_own():
    found = stacks(member(1, "a.jpg"), member(2, "A.jpg"), member(3, "a.mov", duration_ns=SHORT))
    assert found == [[1, 3], [2]]


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("IMG_E1234", "IMG_1234"), ("img_e1234", "img_1234"), ("a-edited", "a"), ("a(1)-edited", "a(1)"),
        ("a-edited(1)", "a(1)"), ("a-bearbeitet", "a"), ("a-编辑", ""), ("a-編集済み", "a"), ("IMG_1234", ""),
        ("modifie\u0301", ""), ("a-modifie\u0301", "a"), ("a-ha editado", "a"),
    ],
)  # fmt: skip
def test_the_original_of_an_edited_copy_is_in_its_name(copy, original):
    assert original_of(copy) == original


def test_an_edited_copy_joins_its_original_and_without_one_stays_alone():
    assert stacks(member(1, "IMG_1234.HEIC"), member(2, "IMG_E1234.JPG")) == [[1, 2]]
    assert stacks(member(1, "b-edited.jpg"), member(2, "b-effects.jpg")) == [[1], [2]]
    long = {"duration_ns": LONG}
    assert stacks(member(1, "IMG_1.MOV", **long), member(2, "IMG_E1.MOV", **long), member(3, "IMG_1.JPG")) == [
        [1],
        [2],
        [3],
    ]
    assert stacks(member(1, "IMG_1000.MOV", **long), member(2, "IMG_E1000.MOV", **long), member(3, "IMG_1000.JPG")) == [
        [1, 2],
        [3],
    ]


@pytest.mark.parametrize(
    ("base", "burst"),
    [
        ("IMG_20150214_184515_BURST002_COVER", "IMG_20150214_184515"), ("20151021_123456_Burst01", "20151021_123456"),
        ("00001IMG_00001_BURST20171111030039363", "20171111030039363"), ("IMG_1", ""), ("starburst", ""),
        ("00100lrPORTRAIT_00100_BURST20181216123456789_COVER", "20181216123456789"), ("IMAG0020_BURST001", "IMAG0020"),
    ],
)  # fmt: skip
def test_the_frames_of_a_burst_share_a_part_of_their_names(base, burst):
    assert burst_of(base) == burst


@pytest.mark.parametrize(
    ("base", "first"),
    [
        ("a (2)", "a"), ("a(2)", "a"), ("a copy", "a"), ("a copy 3", "a"), ("a (+3.3)", "a"), ("a - Copy (2)", "a"),
        ("a 2", "a 2"), ("(2)", "(2)"), ("a (2000)", "a (2000)"),
    ],
)  # fmt: skip
def test_a_numbered_copy_is_named_after_the_first(base, first):
    assert series_of(base) == first


def test_kinds_that_are_off_stack_nothing_but_equal_names_are_one_photo():
    files = [member(1, "IMG_1000.dng"), member(2, "IMG_1000.jpg"), member(3, "IMG_E1000.jpg")]
    short = member(4, "IMG_1000_HEVC.mov", duration_ns=SHORT)
    assert stacks(*files, short, kinds=()) == [[1, 2], [3], [4]]
    assert stacks(*files, short, kinds=("edited",)) == [[1, 2, 3], [4]]


def test_keys_join_photos_and_chains_of_keys_do_too():
    assert stacks(member(1, "a.jpg", 5), member(2, "b.jpg", 5, 6), member(3, "c.jpg", 6), member(4, "c.dng")) == [
        [1, 2, 3, 4]
    ]


def test_what_a_person_took_apart_stays_apart():
    files = [member(1, "a.jpg", 5), member(2, "b.jpg", 5)]
    assert stacks(*files, member(3, "a.dng", 5, unstacked=True)) == [[1, 2], [3]]
    assert stacks(*files, member(3, "c.jpg", 5, closed=9), member(4, "c.dng", 5)) == [[1, 2], [3, 4]]
    assert stacks(member(1, "IMG_1000.jpg", closed=9), member(2, "IMG_E1000.jpg", closed=9)) == [[1, 2]]
    assert stacks(member(1, "IMG_1000.jpg", closed=9), member(2, "IMG_E1000.jpg")) == [[1], [2]]


def test_a_photo_that_would_have_too_many_files_is_divided_by_names():
    chain = [member(number, f"{number // 2}.{'jpg' if number % 2 else 'dng'}", number // 20) for number in range(400)]
    linked = [
        Member(id=one.id, folder="a", base=one.base, video=False, keys=one.keys | {one.id // 20 + 1}) for one in chain
    ]
    assert max(map(len, stacks(*chain))) == 20
    assert stacks(*linked) == [[number, number + 1] for number in range(0, 400, 2)]
    assert stacks(*linked[:MAX_FILES]) == [list(range(MAX_FILES))]


def test_the_order_of_files_does_not_matter():
    random = Random(7)
    names = ["IMG_1000", "img_1000", "IMG_E1000", "IMG_1000_HEVC", "IMG_1000-edited", "b", "B"]
    for _ in range(200):
        files = [
            member(
                number,
                f"{random.choice(names)}.{random.choice(['jpg', 'dng', 'mov'])}",
                *random.sample(range(8), random.randrange(3)),
                duration_ns=random.choice((0, SHORT, LONG)),
                unstacked=random.random() < 0.1,
            )
            for number in range(12)
        ]
        expected = stacks(*files)
        random.shuffle(files)
        assert stacks(*files) == expected


@pytest.mark.parametrize("written", ["", "live,unknown", "raw"])
def test_an_unknown_kind_is_refused(written):
    with pytest.raises(ValueError, match="expected none, or some of live, edited, burst, document, moment, names"):
        parse_kinds(written)
    assert parse_kinds("None") == frozenset()
    assert parse_kinds("live, names") == {"live", "names"}
