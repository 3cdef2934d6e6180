from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from photosvc.media.metadata import Metadata, Region, camera_type, lens_name, lens_of_range, merge, merge_file

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
WALL = NOON.replace(tzinfo=None)
NONE = Metadata()
#: Another value than the default for every field.
FULL = Metadata(
    taken_local=WALL, taken_utc=NOON, utc_offset=0, date_parts=2, modified_local=WALL,
    modified_offset=60, camera_make="Maker", camera_model="M1", camera_serial="7",
    lens_make="Lensmaker", lens_model="L1", iso=100, focal_length=50, f_number=2.8, exposure="1/60", lat=0.0, lng=2.0,
    altitude=3, title="title", description="description", keywords=("tree",), subject="subject", artist="artist",
    copyright="copyright", license="license", notes="notes", software="software", rating=4, document_id="document",
    labels=("Red",), city="Bern", state="BE", country="ch",
    zone="Europe/Zurich", scan=True, panorama=True,
    unfixed=True, private=True, favorite=True, archived=True, edited=True, content_id="c", burst_id="b",
    instance_id="instance", original_name="name.jpg", regions=(Region("Ada", "face", 0.1, 0.2, 0.3, 0.4),),
)  # fmt: skip


def test_a_place_without_a_fix_comes_after_all_others():
    void = Metadata(lat=1.0, lng=2.0, altitude=3, unfixed=True)
    assert merge([void, Metadata(lat=5.0, lng=6.0)]) == Metadata(lat=5.0, lng=6.0)
    assert merge([Metadata(title="x"), void]) == replace(void, title="x")


def test_every_field_is_filled_by_the_next_source():
    assert all(getattr(FULL, item.name) != getattr(NONE, item.name) for item in fields(Metadata))
    assert merge([FULL]) == merge([NONE, FULL]) == merge([FULL, NONE]) == FULL


def test_the_first_source_wins():
    assert merge([replace(FULL, iso=200), FULL]).iso == 200


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ({"taken_local": WALL + timedelta(1)}, {"taken_utc": None, "utc_offset": None}),
        ({"lat": 1.0, "lng": 1.0}, {"lat": 1.0, "lng": 1.0, "altitude": 0}),
        ({"camera_model": "X"}, {"camera_model": "X", "camera_make": "", "camera_serial": "7"}),
        ({"lens_model": "X"}, {"lens_model": "X", "lens_make": ""}),
        ({"taken_utc": NOON + timedelta(1)}, {"taken_local": WALL, "taken_utc": NOON, "utc_offset": 0}),
        ({"camera_make": "X"}, {"camera_model": "M1", "camera_make": "Maker"}),
        ({"altitude": 9}, {"lat": 0.0, "lng": 2.0, "altitude": 3}),
    ],
)
def test_facts_that_belong_together_come_from_one_source(first, expected):
    merged = merge([Metadata(**first), FULL])
    assert {name: getattr(merged, name) for name in expected} == expected


def test_without_the_leading_fact_a_group_is_led_by_the_next_one():
    assert merge([NONE, Metadata(taken_utc=NOON)]).taken_utc == NOON
    assert merge([Metadata(utc_offset=60), Metadata(camera_make="Maker")]).camera_make == "Maker"


def test_in_one_file_the_camera_leads_for_its_facts_and_editors_for_texts():
    exif, iptc, xmp = (
        Metadata(iso=number, title=str(number), lat=number, lng=number, keywords=(word, "tree"))
        for number, word in ((1.0, "a"), (2.0, "b"), (3.0, "c"))
    )
    metadata = merge_file(exif, iptc, replace(xmp, utc_offset=60))
    assert (metadata.iso, metadata.lat, metadata.title, metadata.keywords) == (1, 1, "3.0", ("c", "tree", "b", "a"))
    assert (merge_file(NONE, iptc, xmp).iso, merge_file(exif, iptc, NONE).title) == (3, "2.0")
    dated = merge_file(Metadata(taken_local=WALL), NONE, Metadata(utc_offset=60))
    assert dated.utc_offset is None  # the offset of another date would move this one


@pytest.mark.parametrize(
    ("minutes", "offset", "trusted"), [(14, 0, True), (15, 0, False), (900, None, True), (901, None, False)]
)
def test_a_satellite_time_of_another_moment_is_dropped(minutes, offset, trusted):
    utc = NOON + timedelta(minutes=minutes)
    merged = merge_file(Metadata(taken_local=WALL, taken_utc=utc, utc_offset=offset), NONE, NONE)
    assert merged.taken_utc == (utc if trusted else None)


@pytest.mark.parametrize(
    ("minutes", "lat", "trusted"), [(120, 43.0, True), (124, 43.0, True), (120, None, False), (110, 43.0, False)]
)
def test_a_satellite_time_corrects_an_offset_where_the_position_proves_a_fix(minutes, lat, trusted):
    utc = NOON - timedelta(minutes=minutes)
    metadata = Metadata(taken_local=WALL, utc_offset=0, taken_utc=utc, lat=lat, lng=lat)
    assert merge_file(metadata, NONE, NONE).taken_utc == (utc if trusted else None)


def test_the_satellite_clock_of_exif_serves_a_date_of_xmp_unless_it_is_of_another_moment():
    editor, clock = Metadata(taken_local=WALL), Metadata(taken_utc=NOON - timedelta(hours=7))
    assert merge_file(clock, NONE, editor).taken_utc == NOON - timedelta(hours=7)
    stale = replace(clock, taken_utc=NOON - timedelta(days=1))
    assert merge_file(stale, NONE, editor).taken_utc is None


def test_the_last_change_is_no_date_of_the_picture():
    metadata = merge_file(Metadata(modified_local=WALL), NONE, Metadata(taken_local=WALL - timedelta(days=1)))
    assert (metadata.taken_local, metadata.modified_local) == (WALL - timedelta(days=1), WALL)


def test_a_description_that_the_camera_writes_into_every_picture_is_dropped():
    for text in ("OLYMPUS DIGITAL CAMERA         ", "SONY DSC     ", "DCIM\\100GOPRO\\GOPR8511.JPG", "DSC00003"):
        assert merge_file(Metadata(description=text.strip()), NONE, NONE).description == "", text
    assert merge_file(Metadata(description="DSC meeting, day 1"), NONE, NONE).description == "DSC meeting, day 1"


@pytest.mark.parametrize(
    ("make", "model", "kind"),
    [
        ("Canon", "EOS RP", "body"), ("NIKON", "D90", "body"), ("NIKON", "Z 6", "body"), ("SONY", "ILCE-6400", "body"),
        ("SONY", "SLT-A55V", "body"), ("PENTAX", "*ist DL", "body"), ("FUJIFILM", "FinePix S3Pro", "body"),
        ("Canon", "PowerShot G6", "compact"), ("NIKON", "COOLPIX S3100", "compact"), ("NIKON", "E995", "compact"),
        ("SONY", "FDMAVICA", "compact"), ("FUJIFILM", "X100V", "compact"), ("OLYMPUS", "C3000Z", "compact"),
        ("Apple", "iPhone 13 Pro", "phone"), ("samsung", "SM-G991B", "phone"), ("motorola", "moto g(9) plus", "phone"),
        ("Apple", "iPad Pro", "tablet"), ("samsung", "SM-T970", "tablet"), ("GoPro", "HERO7 Black", "action"),
        ("RICOH", "THETA V", "360-degree"), ("Epson", "Perfection V600", "scanner"),
        ("Canon", "CanoScan 9000F", "scanner"),
        ("NORITSU KOKI", "QSS-32_33", "film"), ("SONY", "HDR-CX405", "video"), ("", "", ""), ("TEKOM", "D30CC", ""),
    ],
)  # fmt: skip
def test_cameras_have_their_usual_kind(make, model, kind):
    assert camera_type(make, model) == kind


def test_lenses_are_named_by_their_limits():
    assert lens_of_range((18.0, 55.0, 3.5, 5.6)) == "18-55mm f/3.5-5.6"
    assert lens_of_range((50.0, 50.0, 1.8, 1.8)) == "50mm f/1.8"
    assert lens_of_range((24.0, 105.0, None, None)) == "24-105mm"
    assert lens_of_range((None, 0.0, None, None)) == ""
    assert lens_of_range(()) == ""


def test_the_filler_of_a_body_without_a_lens_is_no_lens():
    assert lens_name(b"----\0") == ""
    assert lens_name(b"RF35mm F1.8 MACRO IS STM\0\0") == "RF35mm F1.8 MACRO IS STM"
