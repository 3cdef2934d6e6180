from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.metadata import Metadata, merge_file
from photosvc.media.packets import read_iptc
from tests.helpers.examples import examples
from tests.helpers.pictures import iptc


def test_everything_the_press_writes_is_read():
    found = read_iptc(
        iptc(
            [
                (5, b"Title"), (25, b"sea"), (25, "Möwe".encode()), (55, b"20220110"), (60, b"151544-0400"),
                (80, b"Ann"), (116, b"(c) Ann"), (120, b"Caption"),
            ]
        )
    )  # fmt: skip
    assert found == Metadata(
        taken_local=datetime.fromisoformat("2022-01-10T15:15:44"),
        utc_offset=-240,
        title="Title",
        description="Caption",
        keywords=("sea", "Möwe"),
        artist="Ann",
        copyright="(c) Ann",
    )


def test_without_its_mark_the_character_set_is_guessed():
    assert read_iptc(iptc([(5, "Möwe".encode())], utf8=False)).title == "Möwe"
    assert read_iptc(iptc([(5, "Möwe".encode("latin-1"))], utf8=False)).title == "Möwe"


def test_a_time_without_a_date_is_no_date():
    assert read_iptc(iptc([(60, b"143000+0000")])).taken_local is None


@pytest.mark.parametrize(
    ("records", "moment", "parts"),
    [
        ([(55, b"20200131")], "2020-01-31T00:00:00", 3),
        ([(55, b"20200131"), (60, b"nonsense")], "2020-01-31T00:00:00", 3),
        ([(55, b"19540000")], "1954-01-01T00:00:00", 1),
        ([(62, b"20200131"), (63, b"101112")], "2020-01-31T10:11:12", 3),
        ([(55, b"20190101"), (62, b"20200131"), (63, b"101112")], "2019-01-01T00:00:00", 3),
    ],
)
def test_a_date_counts_without_a_time(records, moment, parts):
    found = read_iptc(iptc(records))
    assert (found.taken_local, found.date_parts) == (datetime.fromisoformat(moment), parts)


def test_all_authors_are_read():
    found = read_iptc(iptc([(80, b"Ann"), (5, b"Title"), (80, b""), (80, "Jörg".encode())]))
    assert found.artist == "Ann, Jörg"
    assert len(read_iptc(iptc([(80, b"x")] * 999)).artist.split(", ")) == 16


def test_a_cut_record_keeps_what_came_before():
    assert read_iptc(iptc([(5, b"Title"), (120, b"Caption")])[:-3]).title == "Title"


@examples(200)
@given(st.binary(max_size=120))
def test_any_block_gets_an_answer(noise):
    assert isinstance(read_iptc(noise), Metadata)
    assert isinstance(read_iptc(iptc([(5, b"x")]) + noise), Metadata)


def test_texts_come_from_the_last_editor_and_facts_from_the_camera():
    exif = Metadata(
        title="exif", description="exif", camera_make="Canon", camera_model="R", keywords=("a",), lat=1.0, lng=2.0,
        taken_local=datetime.fromisoformat("2020-01-01T10:00"), rating=1,
    )  # fmt: skip
    press = Metadata(title="iptc", description="iptc", keywords=("b", "A"), copyright="press")
    editor = Metadata(
        title="xmp",
        camera_make="Other",
        camera_model="Other",
        lat=5.0,
        lng=6.0,
        keywords=("c",),
        rating=5,
        utc_offset=60,
    )
    found = merge_file(exif, press, editor)
    assert (found.title, found.description, found.copyright, found.rating) == ("xmp", "iptc", "press", 5)
    assert (found.camera_make, found.camera_model, found.lat, found.lng) == ("Canon", "R", 1.0, 2.0)
    assert found.keywords == ("c", "b", "A")
    assert found.utc_offset is None  # the offset of another date would move this one


def test_a_stale_satellite_time_is_dropped():
    local = datetime.fromisoformat("2020-06-01T12:00")
    near, stale = datetime.fromisoformat("2020-06-01T10:00:05Z"), datetime.fromisoformat("2020-05-20T10:00Z")
    assert merge_file(Metadata(taken_local=local, taken_utc=near), Metadata(), Metadata()).taken_utc == near
    assert merge_file(Metadata(taken_local=local, taken_utc=stale), Metadata(), Metadata()).taken_utc is None
    assert (
        merge_file(Metadata(taken_local=local, utc_offset=0, taken_utc=near), Metadata(), Metadata()).taken_utc is None
    )
