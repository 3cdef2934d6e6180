from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.index.describe import date_in, title_in
from photosvc.index.stack_rules import split_name
from tests.support.examples import examples


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a/b/c.JPG", ("a/b", "c", "jpg")), ("c.tar.gz", ("", "c.tar", "gz")), ("c", ("", "c", "")),
        ("a.b/c", ("a.b", "c", "")), (".hidden", ("", ".hidden", "")), ("a/.jpg", ("a", ".jpg", "")),
        ("", ("", "", "")),
    ],
)  # fmt: skip
def test_a_name_has_folder_base_and_extension(name, parts):
    assert split_name(name) == parts


@pytest.mark.parametrize(
    ("name", "moment"),
    [
        ("IMG_20200131_235959.jpg", "2020-01-31T23:59:59"),
        ("2020-01-31 12.13.14.jpg", "2020-01-31T12:13:14"),
        ("Screenshot 2020-01-31 at 12.13.14.png", "2020-01-31T12:13:14"),
        ("2020/01/31/a.jpg", "2020-01-31T00:00:00"),
        ("2020.01.31", "2020-01-31T00:00:00"),
        ("20200131", "2020-01-31T00:00:00"),
        ("20200230.jpg", None), ("20201301.jpg", None), ("18990101.jpg", None), ("1202001310.jpg", None),
        ("2020-0131", None), ("holiday.jpg", None), ("", None),
        ("20200230 then 2021-02-03", "2021-02-03T00:00:00"),
        ("PXL_20210506_070809123.jpg", "2021-05-06T07:08:09"),
        ("PXL_20210506_070809123.RAW-01.COVER.jpg", "2021-05-06T07:08:09"),
        ("IMG_20210506_070809_1.jpg", "2021-05-06T07:08:09"),
        ("VID-20210506-WA0001.mp4", "2021-05-06T00:00:00"),
        ("Screenshot_2021-05-06-07-08-09.png", "2021-05-06T07:08:09"),
        ("Screenshot_20210506-070809_Maps.jpg", "2021-05-06T07:08:09"),
        ("2021-05-06 07.08.09.jpg", "2021-05-06T07:08:09"),
        ("2021-05-06 07.08.09.123.jpg", "2021-05-06T07:08:09"),
        ("signal-2021-05-06-070809.jpeg", "2021-05-06T07:08:09"),
        ("WhatsApp Image 2021-05-06 at 07.08.09.jpeg", "2021-05-06T07:08:09"),
        ("20210506_0708091234.jpg", "2021-05-06T00:00:00"),
        ("1620284889123.jpg", "2021-05-06T07:08:09"), ("FB_IMG_1620284889123.jpg", "2021-05-06T07:08:09"),
        ("mmexport1620284889123.jpg", "2021-05-06T07:08:09"),
        ("1999999999999.jpg", None), ("0620284889123.jpg", None), ("a1620284889123.jpg", None),
        ("16202848891234.jpg", None),
    ],
)  # fmt: skip
def test_a_date_is_found_where_one_is_spelled(name, moment):
    found = date_in(name)
    assert (found and found.isoformat()) == moment


@pytest.mark.parametrize(
    ("base", "title"),
    [
        ("IMG_1234", ""), ("DSC00012", ""), ("P1010001", ""), ("_MG_0001", ""), ("20200131_120000", ""),
        ("summer-in_paris", "Summer In Paris"), ("McDonald birthday", "McDonald Birthday"), ("ab", ""), ("", ""),
        ("été à Nîmes", "Été À Nîmes"),
    ],
)  # fmt: skip
def test_a_title_is_made_of_words_unless_a_camera_named_the_file(base, title):
    assert title_in(base) == title


@examples(100)
@given(st.text(max_size=300))
def test_any_name_is_taken(name):
    split_name(name)
    date_in(name)
    assert len(title_in(name)) <= 200


@pytest.mark.parametrize("text", ["img" * 85, "-" * 255, "a-" * 127, "1" * 255, "2020-" * 51, "_" * 255, "a1" * 127])
def test_no_long_name_takes_long(text):
    began = process_time()
    title_in(text)
    date_in(text)
    assert process_time() - began < 0.05
