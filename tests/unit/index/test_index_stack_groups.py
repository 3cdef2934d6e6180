"""Which files are one photo: decided by their names and keys, in any order."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import permutations
from random import Random

import pytest

from photosvc.core.vocabulary import KINDS, parse_kinds
from photosvc.index.agreement import Facts
from photosvc.index.name_groups import burst_of, is_preview, original_of, series_of
from photosvc.index.stack_rules import (
    MAX_FILES,
    Member,
    StackLink,
    divide,
    keys_of,
    name_key,
)
from photosvc.media.metadata import YEAR, Metadata
from tests.helpers.factories.photos import new_extraction

SHORT, LONG = 3_100_000_000, 3_100_000_001


def member(number, name, *keys, duration_ns=0, **values):
    base, _, extension = name.rpartition(".")
    video = extension.lower() in {"mov", "mp4", "lrv", "lrf", "insv"}
    keys = frozenset(len(StackLink) * key + StackLink.SURE for key in keys)
    values.setdefault("preview", is_preview(name))
    return Member(id=number, folder="a", base=base, video=video, duration_ns=duration_ns, keys=keys, **values)


def stacks(*members, kinds=KINDS):
    return divide(members, kinds)


def test_a_short_video_of_the_same_name_belongs_to_a_picture():
    for picture, video, duration_ns, together in (
        ("IMG_6.HEIC", "IMG_6.MOV", SHORT, True),
        ("IMG_6.HEIC", "img_6.mov", SHORT, True),
        ("IMG_4.jpg", "IMG_4_HEVC.MOV", SHORT, True),
        ("IMG_6.HEIC", "IMG_6.MOV", LONG, False),
        ("IMG_6.HEIC", "IMG_6.MOV", 0, False),
        ("IMG_6.HEIC", "IMG_7.MOV", SHORT, False),
    ):
        found = stacks(member(1, picture), member(2, video, duration_ns=duration_ns))
        assert found == ([[1, 2]] if together else [[1], [2]]), (picture, video, duration_ns)
    assert stacks(member(1, "IMG_6.HEIC", 77), member(2, "x.MOV", 77, duration_ns=LONG)) == [[1, 2]]
    assert stacks(member(1, "a.jpg"), member(2, "A.jpg"), member(3, "a.mov", duration_ns=SHORT)) == [[1, 3], [2]]


def test_an_edited_copy_joins_its_original_and_without_one_stays_alone():
    long = {"duration_ns": LONG}
    cut = "n" * 43
    for files, expected in (
        ([member(1, "IMG_1234.HEIC"), member(2, "IMG_E1234.JPG")], [[1, 2]]),
        ([member(1, f"{cut}.jpg"), member(2, f"{cut}-edi.jpg")], [[1, 2]]),
        ([member(1, f"{cut[1:]}.jpg"), member(2, f"{cut[1:]}-edi.jpg")], [[1], [2]]),
        ([member(1, "b-edited.jpg"), member(2, "b-effects.jpg")], [[1], [2]]),
        ([member(1, "IMG_1.MOV", **long), member(2, "IMG_E1.MOV", **long), member(3, "IMG_1.JPG")], [[1], [2], [3]]),
        ([member(1, "IMG_99.MOV", **long), member(2, "IMG_E99.MOV", **long)], [[1], [2]]),
        (
            [member(1, "IMG_1000.MOV", **long), member(2, "IMG_E1000.MOV", **long), member(3, "IMG_1000.JPG")],
            [[1, 2], [3]],
        ),
    ):
        assert stacks(*files) == expected, [file.base for file in files]


@pytest.mark.parametrize(
    ("original", "copy", "together"),
    [
        ("GX010123.MP4", "GL010123.LRV", True), ("GH010123.MP4", "GL010123.LRV", True),
        ("GOPR0123.MP4", "GOPR0123.LRV", True), ("GX010123.MP4", "GL010124.LRV", False),
        ("GX010123.MP4", "GL010123.MP4", False),
        ("DJI_20240503141233_0001_D.MP4", "DJI_20240503141233_0001_D.LRF", True),
        ("VID_20240503_141233_00_001.insv", "LRV_20240503_141233_11_001.insv", True),
        ("PRO_VID_20240503_141233_00_001.mp4", "PRO_LRV_20240503_141233_01_001.lrv", True),
        ("VID_20240503_141233_00_001.insv", "LRV_20240503_141234_11_001.insv", False),
        ("a.jpg", "a.sync-conflict-20240503-141233-ABCDEFG.jpg", True),
        ("A.jpg", "a.sync-conflict-20240503-141233.jpg", True),
        ("a.mp4", "a.sync-conflict-20240503-141233-ABCDEFG.sync-conflict-20240504-141233-ABCDEFG.mp4", True),
        ("a.jpg", "a (Ann's conflicted copy 2024-05-03).jpg", True),
        ("a.jpg", "a (conflicted copy 2024-05-03 141233).jpg", True),
        ("a.jpg", "a (In Konflikt stehende Kopie von Ann 2024-05-03).jpg", True),
        ("a.jpg", "a (Case Conflict 1).jpg", True), ("a.jpg", "a_NAS_May-03-141233-2024_Conflict.jpg", True),
        ("a.jpg", "a_conflict-20240503-141233.jpg", True), ("a.jpg", "a-DESKTOP-AB12CDE.jpg", True),
        ("a.jpg", "a-Anns-MacBook-Pro-2.jpg", True), ("GX010123.MP4", "GX010123 (conflicted copy).MP4", True),
        ("GX010123.MP4", "GL010123 (conflicted copy).LRV", True), ("a.jpg", "a-edited (conflicted copy).jpg", True),
        ("a.jpg", "b.sync-conflict-20240503-141233.jpg", False), ("a.jpg", "a (1).jpg", False),
        ("a.jpg", "a-DESKTOP.jpg", False), ("a.jpg", "a conflict.jpg", False),
    ],
)  # fmt: skip
def test_small_copies_of_videos_and_copies_in_conflict_belong_to_their_original(original, copy, together):
    for seconds in (2, 60):
        files = [member(1, original, duration_ns=seconds * 10**9), member(2, copy, duration_ns=seconds * 10**9)]
        assert stacks(*files) == ([[1, 2]] if together else [[1], [2]]), seconds
    # What shares a photo shares a key, by which an index run finds it.
    keys = {name_key(f"a/{name}", video=name[-1] in "4vVF") for name in (original, copy)}
    assert len(keys) == 1 or not together


def test_a_copy_in_conflict_that_shows_another_picture_is_a_photo_of_its_own():
    conflict = "IMG_1.sync-conflict-20240503-141233-ABCDEFG.jpg"
    for one, other, together in (
        (facts(PHONE, LOOK), facts(PHONE, UNLIKE), True),
        (facts(PHONE, LOOK), facts(at(hours=1), LOOK), False),
        (facts(look=LOOK), facts(look=LOOK), True),
        (facts(look=LOOK), facts(look=UNLIKE), False),
    ):
        files = [member(1, "IMG_1.jpg", facts=one), member(2, conflict, facts=other)]
        assert stacks(*files) == ([[1, 2]] if together else [[1], [2]])


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
    assert stacks(member(1, "a.jpg", 5, stacked=9), member(2, "b.jpg", 6, stacked=9), member(3, "c.jpg", 6)) == [
        [1, 2, 3]
    ]


def test_a_photo_that_would_have_too_many_files_is_divided_by_names():
    chain = [member(number, f"{number // 2}.{'jpg' if number % 2 else 'dng'}", number // 20) for number in range(400)]
    linked = [
        Member(id=one.id, folder="a", base=one.base, video=False, keys=one.keys | {len(StackLink) * (one.id // 20 + 1)})
        for one in chain
    ]
    assert max(map(len, stacks(*chain))) == 20
    assert stacks(*linked) == [[number, number + 1] for number in range(0, 400, 2)]
    assert stacks(*linked[:MAX_FILES]) == [list(range(MAX_FILES))]


TAKEN = datetime(2021, 8, 24, 20, 38, 57)  # noqa: DTZ001 - wall time
PHONE = Metadata(taken_local=TAKEN, camera_make="Apple", camera_model="iPhone XR")
LOOK = 0x0F0F_3333_5555_00FF
UNLIKE = LOOK ^ 0xFFFF_FFFF


NOTHING = Metadata()


def facts(metadata=NOTHING, look=None, video=None):
    parts = [-1] * 4 if look is None else [look >> shift & 0xFFFF for shift in (48, 32, 16, 0)]
    values = dict(zip(("look_1", "look_2", "look_3", "look_4"), parts, strict=True))
    kind = {"media_type": "video", "duration_ns": video} if video else {}
    return Facts.of(new_extraction(1, colors="", luminance="", **values, **kind), metadata)


def at(utc=None, **later):
    """The metadata of the phone at a later time, or in UTC alone."""
    taken = TAKEN + timedelta(**later)
    if utc is None:
        return replace(PHONE, taken_local=taken)
    return replace(PHONE, taken_local=None, taken_utc=taken.replace(tzinfo=UTC) - timedelta(hours=utc))


def test_files_of_one_name_are_one_photo_unless_their_times_cameras_or_looks_contradict_it():
    for names, one, other, together in (
        # A raw and a JPEG, or a picture in two formats.
        (("a.jpg", "a.heic"), facts(PHONE, LOOK), facts(at(days=-2000), UNLIKE), False),
        (("a.jpg", "a.heic"), facts(PHONE, LOOK), facts(at(seconds=2), LOOK), False),
        (("a.jpg", "a.heic"), facts(PHONE, LOOK), facts(at(milliseconds=900), UNLIKE), True),
        (("a.jpg", "a.heic"), facts(PHONE), facts(replace(PHONE, camera_make="Canon", camera_model="EOS 6D")), False),
        (("a.jpg", "a.dng"), facts(PHONE), facts(replace(PHONE, camera_make="", camera_model="Apple iPhone XR")), True),
        (("a.jpg", "a.dng"), facts(PHONE), facts(replace(PHONE, camera_model="iPhone 7")), False),
        (("a.jpg", "a.png"), facts(PHONE, LOOK), facts(NOTHING, LOOK ^ 0x3FFFF), True),
        (("a.jpg", "a.png"), facts(PHONE, LOOK), facts(NOTHING, LOOK ^ 0x7FFFF), False),
        (("a.jpg", "a.png"), facts(PHONE, LOOK), facts(), True),
        (("a.jpg", "a.png"), facts(PHONE), facts(Metadata(taken_local=datetime(2021, 1, 1), date_parts=YEAR)), True),  # noqa: DTZ001 - wall time
        (("a.jpg", "a.png"), facts(PHONE), facts(Metadata(taken_local=datetime(2019, 1, 1), date_parts=YEAR)), False),  # noqa: DTZ001 - wall time
        (("a.jpg", "a.heic"), facts(replace(PHONE, utc_offset=120)), facts(replace(at(hours=-2), utc_offset=0)), True),
        # An edited copy may look otherwise.
        (("a.jpg", "a-edited.jpg"), facts(PHONE, LOOK), facts(NOTHING, UNLIKE), True),
        (("a.jpg", "a-edited.jpg"), facts(PHONE, LOOK), facts(at(days=1), LOOK), False),
        (("IMG_1234.heic", "IMG_E1234.jpg"), facts(PHONE, LOOK), facts(PHONE, UNLIKE), True),
        # A picture and its video, whose time may be UTC, that of its end, or unknown.
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(at(utc=0, days=700), UNLIKE, SHORT), False),
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(at(utc=2, seconds=3), UNLIKE, SHORT), True),
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(at(utc=-5.75), UNLIKE, SHORT), True),
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(at(utc=2, minutes=6), UNLIKE, SHORT), False),
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(at(hours=2), UNLIKE, SHORT), False),
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(Metadata(camera_model="SM-1"), UNLIKE, SHORT), True),
        (("a.heic", "a.mov"), facts(PHONE, LOOK), facts(Metadata(camera_make="Google"), UNLIKE, SHORT), False),
        # The frames of a burst.
        (("a_BURST001.jpg", "a_BURST002.jpg"), facts(PHONE, LOOK), facts(at(seconds=9), UNLIKE), True),
        (("a_BURST001.jpg", "a_BURST002.jpg"), facts(PHONE, LOOK), facts(at(days=9), LOOK), False),
    ):  # fmt: skip
        burst = frozenset(
            {name_key("x", video=False) // len(StackLink) * len(StackLink) + StackLink.BURST}
            if "BURST" in names[0]
            else ()
        )
        files = [
            replace(member(number, name, duration_ns=fact.duration_ns), facts=fact, keys=burst)
            for number, (name, fact) in enumerate(zip(names, (one, other), strict=True), 1)
        ]
        assert stacks(*files) == stacks(*reversed(files)) == ([[1, 2]] if together else [[1], [2]]), names


def test_a_file_without_a_time_joins_the_picture_that_it_looks_like_and_no_chain_joins_other_times():
    pictures = [
        replace(member(1, "a.jpg"), facts=facts(PHONE, LOOK), content="1"),
        replace(member(2, "a.heic"), facts=facts(at(days=9), UNLIKE), content="2"),
        replace(member(3, "a.png"), facts=facts(NOTHING, UNLIKE ^ 1), content="3"),
        replace(member(4, "a.mp4", duration_ns=SHORT), facts=facts(video=SHORT), content="4"),
    ]
    for some in permutations(pictures):
        assert stacks(*some) == [[1, 4], [2, 3]]


def test_a_copy_in_another_folder_links_its_files_to_those_there():
    picture = replace(member(1, "a.jpg"), folder="z", copies=(("a", "a"),))
    assert stacks(picture, member(2, "a-edited.jpg"), replace(member(3, "a.dng"), folder="z")) == [[1, 2, 3]]


def test_the_order_of_files_does_not_matter():
    random = Random(7)
    names = ["IMG_1000", "img_1000", "IMG_E1000", "IMG_1000_HEVC", "IMG_1000-edited", "b", "B"]
    numbers = [*range(12)]
    for _ in range(200):
        files = [
            replace(
                member(
                    number,
                    f"{random.choice(names)}.{random.choice(['jpg', 'dng', 'mov'])}",
                    duration_ns=random.choice((0, SHORT, LONG)),
                    unstacked=random.random() < 0.1,
                    copies=random.choice([(), (), (("a", random.choice(names)),)]),
                    content=str(number),
                    facts=facts(
                        random.choice([NOTHING, PHONE, at(milliseconds=700), at(seconds=1.5), at(utc=2)]),
                        random.choice([None, LOOK, LOOK ^ 0xFFF, UNLIKE]),
                    ),
                ),
                keys=frozenset(random.sample(range(20), random.randrange(3))),
            )
            for number in numbers
        ]
        expected = stacks(*files)
        random.shuffle(numbers)
        other = stacks(*(replace(one, id=numbers.index(one.id)) for one in random.sample(files, len(files))))
        assert sorted(sorted(numbers[number] for number in photo) for photo in other) == expected
        numbers.sort()


def test_an_unknown_kind_is_refused():
    for written in ("", "live,unknown", "raw"):
        with pytest.raises(ValueError, match="expected none, or some of live, edited, burst, document, moment, names"):
            parse_kinds(written)
        assert parse_kinds("None") == frozenset()
        assert parse_kinds("live, names") == {"live", "names"}, written


def test_edited_copies_bursts_and_numbered_copies_are_recognized_by_their_names():
    originals = {
        "IMG_E1234": "IMG_1234", "img_e1234": "img_1234", "a-edited": "a", "a(1)-edited": "a(1)",
        "a-edited(1)": "a(1)", "a-bearbeitet": "a", "a-编辑": "", "a-編集済み": "a", "IMG_1234": "",
        "modifie\u0301": "", "a-modifie\u0301": "a", "a-ha editado": "a",
    }  # fmt: skip
    assert {base: original_of(base) for base in originals} == originals
    bursts = {
        "IMG_20150214_184515_BURST002_COVER": "IMG_20150214_184515", "20151021_123456_Burst01": "20151021_123456",
        "00001IMG_00001_BURST20171111030039363": "20171111030039363", "IMG_1": "", "starburst": "",
        "00100lrPORTRAIT_00100_BURST20181216123456789_COVER": "20181216123456789", "IMAG0020_BURST001": "IMAG0020",
    }  # fmt: skip
    assert {base: burst_of(base) for base in bursts} == bursts
    series = {
        "a (2)": "a", "a(2)": "a", "a copy": "a", "a copy 3": "a", "a (+3.3)": "a", "a - Copy (2)": "a",
        "a 2": "a 2", "(2)": "(2)", "a (2000)": "a (2000)",
    }  # fmt: skip
    assert {base: series_of(base) for base in series} == series


def dated(metadata, **later):
    return replace(metadata, taken_local=TAKEN + timedelta(**later))


def looking(bits):
    """The values of a picture whose look differs from others by these bits of its last part."""
    return {"look_1": 7, "look_2": 7, "look_3": 7, "look_4": 7 ^ bits}


PLACED = Metadata(taken_local=TAKEN, camera_make="Maker", camera_model="M1", camera_serial="7", lat=48.0, lng=2.0)
UNPLACED = replace(PLACED, lat=None, lng=None)
EXACT, LATER = dated(PLACED, milliseconds=120), dated(PLACED, milliseconds=220)
UNIQUE, COMMON = Metadata(document_id="xmp.did:1"), Metadata(document_id="0123456789ABCDEF")
CAMERA = Metadata(document_id="C13QLHH01MM")
#: Metadata of two pictures in different folders, values of the look of the other one, and whether they are one photo.
PAIRS = [
    (Metadata(content_id="abc"), Metadata(content_id="ABC"), {}, True),
    (Metadata(burst_id="b"), Metadata(burst_id="b"), {}, True),
    *((one, one, looking(bits), bits < 0x7FF) for one in (UNIQUE, COMMON) for bits in (0, 0x3FF, 0x7FF)),
    (UNIQUE, Metadata(document_id="xmp.did:2"), {}, False),
    (dated(UNIQUE), dated(UNIQUE), {"look_1": 0xFFFF}, True),
    (dated(UNIQUE), dated(UNIQUE, seconds=1), {}, True),
    (dated(UNIQUE), dated(UNIQUE, seconds=1), {"look_2": 0xFFFF}, False),
    (dated(CAMERA), dated(CAMERA, seconds=1), {}, False),
    (PLACED, PLACED, {}, True),
    (PLACED, EXACT, {}, False),
    (EXACT, EXACT, {}, True),
    (EXACT, LATER, {}, False),
    (dated(UNPLACED, milliseconds=120), dated(UNPLACED, milliseconds=120), {}, True),
    (dated(UNPLACED, milliseconds=120), dated(UNPLACED, milliseconds=220), {}, False),
    (PLACED, dated(PLACED, seconds=1), {}, False),
    (PLACED, PLACED, looking(0x3FF), True),
    (PLACED, PLACED, looking(0x7FF), False),
    (EXACT, EXACT, looking(0x7FF), True),
    (EXACT, EXACT, {"look_3": 0xFFFF, "look_4": 0xFFFF}, False),
    (PLACED, replace(PLACED, camera_serial="8"), {}, False),
    (PLACED, replace(PLACED, camera_model="M2"), {}, False),
    (PLACED, replace(PLACED, lat=48.1), {}, False),
    (UNPLACED, UNPLACED, {}, False),
    (*[replace(PLACED, camera_serial="")] * 2, {}, True),
    (*[replace(dated(UNPLACED, milliseconds=120), camera_serial="")] * 2, {}, False),
    (Metadata(taken_local=TAKEN), Metadata(taken_local=TAKEN), {}, False),
    (*[replace(PLACED, taken_local=TAKEN.replace(hour=0, minute=0, second=0))] * 2, {}, False),
]


def test_metadata_of_two_pictures_say_whether_they_are_one_photo():
    for one, other, look, together in PAIRS:
        extractions = [
            new_extraction(1, metadata=one, **looking(0)),
            new_extraction(2, metadata=other, **looking(0) | look),
        ]
        files = [
            Member(
                id=number, folder=folder, base="x", video=False, keys=keys_of(f"{folder}/x.jpg", found, KINDS),
                facts=Facts.of(found, found.metadata), content=str(number),
            )
            for number, (folder, found) in enumerate(zip("ab", extractions, strict=True), 1)
        ]  # fmt: skip
        assert stacks(*files) == ([[1, 2]] if together else [[1], [2]]), (one, other, look)
