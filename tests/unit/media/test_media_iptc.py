from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.iptc import read_iptc
from photosvc.media.metadata import Metadata
from tests.helpers.examples import examples
from tests.helpers.pictures import iptc


def test_every_field_of_the_press_is_read():
    metadata = read_iptc(
        iptc(
            [
                (5, b"Title"), (25, b"sea"), (25, "Möwe".encode()), (55, b"20220110"), (60, b"151544-0400"),
                (80, b"Ann"), (116, b"(c) Ann"), (120, b"Caption"),
            ]
        )
    )  # fmt: skip
    assert metadata == Metadata(
        taken_local=datetime.fromisoformat("2022-01-10T15:15:44"),
        utc_offset=-240,
        title="Title",
        description="Caption",
        keywords=("sea", "Möwe"),
        artist="Ann",
        copyright="(c) Ann",
    )


def test_without_its_mark_the_character_set_is_guessed():
    for title in ("Möwe".encode(), "Möwe".encode("latin-1")):
        assert read_iptc(iptc([(5, title)], utf8=False)).title == "Möwe"


def test_a_date_counts_without_a_time_and_a_time_without_a_date_does_not():
    for records, moment, parts in (
        ([(55, b"20200131")], "2020-01-31T00:00:00", 3),
        ([(55, b"20200131"), (60, b"nonsense")], "2020-01-31T00:00:00", 3),
        ([(55, b"19540000")], "1954-01-01T00:00:00", 1),
        ([(62, b"20200131"), (63, b"101112")], "2020-01-31T10:11:12", 3),
        ([(55, b"20190101"), (62, b"20200131"), (63, b"101112")], "2019-01-01T00:00:00", 3),
    ):
        metadata = read_iptc(iptc(records))
        assert (metadata.taken_local, metadata.date_parts) == (datetime.fromisoformat(moment), parts), records
    assert read_iptc(iptc([(60, b"143000+0000")])).taken_local is None


def test_all_authors_are_read_and_a_cut_record_keeps_what_came_before():
    metadata = read_iptc(iptc([(80, b"Ann"), (5, b"Title"), (80, b""), (80, "Jörg".encode())]))
    assert metadata.artist == "Ann, Jörg"
    assert len(read_iptc(iptc([(80, b"x")] * 999)).artist.split(", ")) == 16
    assert read_iptc(iptc([(5, b"Title"), (120, b"Caption")])[:-3]).title == "Title"


@examples(200)
@given(st.binary(max_size=120))
def test_any_block_gets_an_answer(noise):
    assert isinstance(read_iptc(noise), Metadata)
    assert isinstance(read_iptc(iptc([(5, b"x")]) + noise), Metadata)
