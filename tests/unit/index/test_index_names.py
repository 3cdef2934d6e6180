from datetime import datetime

from hypothesis import given
from hypothesis import strategies as st

from photosvc.index.names import date_in, date_in_path, title_in
from photosvc.media.metadata import DAY, MONTH, YEAR, WrittenDate
from tests.helpers.examples import examples


def test_a_date_is_found_where_one_is_spelled():
    for name, moment in (
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
        ("IMG20201009123456.jpg", "2020-10-09T12:34:56"), ("DJI_20201009123456_0001_D.jpg", "2020-10-09T12:34:56"),
        ("00000IMG_00000_BURST20201009123456789_COVER.jpg", "2020-10-09T12:34:56"),
        ("20201009246060.jpg", None), ("202010091234.jpg", None), ("2020100912345678.jpg", None),
        ("Screenshot 2023-01-02 at 10.04.05 PM.png", "2023-01-02T22:04:05"),
        ("Screenshot 2023-01-02 at 12.04.05\u202fAM.png", "2023-01-02T00:04:05"),
        ("Screenshot 2023-01-02 at 12.04.05\xa0pm (2).png", "2023-01-02T12:04:05"),
        ("WhatsApp Image 2023-01-02 at 9.04 p.m..jpg", "2023-01-02T21:04:00"),
        ("Captura 2023-01-02 a las 9.04.05 a.\xa0m..png", "2023-01-02T09:04:05"),
        ("2023-01-02 10.04.05 Amsterdam.png", "2023-01-02T10:04:05"),
        ("2023-01-02, 10-04-05.jpg", "2023-01-02T10:04:05"),
        ("Bildschirmfoto 2023-01-02 um 22.04.05.png", "2023-01-02T22:04:05"),
        ("24.12.2008 Feier.jpg", "2008-12-24T00:00:00"), ("1.2.2008 18.30.00.jpg", "2008-02-01T18:30:00"),
        ("24-12-2008.jpg", "2008-12-24T00:00:00"), ("12_24_2008.jpg", "2008-12-24T00:00:00"),
        ("05-06-2008.jpg", None), ("31.02.2008.jpg", None), ("192.168.2008.jpg", None),
        ("2098-01-02.jpg", None), ("20980102030405.jpg", None),
    ):  # fmt: skip
        found = date_in(name, "UTC")
        assert (found and found.isoformat()) == moment, name


def test_folders_name_a_day_a_month_or_a_year():
    for path, first, parts in (
        ("2005/08/pic.jpg", "2005-08-01", MONTH), ("a1/2005/08/14.jpg", "2005-08-01", MONTH),
        ("2005/08/14/pic.jpg", "2005-08-14", DAY), ("2005-08 Holiday/pic.jpg", "2005-08-01", MONTH),
        ("DCIM/2005_08/pic.jpg", "2005-08-01", MONTH), ("2005/2005-08-14 Lake/pic.jpg", "2005-08-14", DAY),
        ("2005/2005-08 Lake/pic.jpg", "2005-08-01", MONTH), ("2005-08-14 a/2006-01-02 b/pic.jpg", "2006-01-02", DAY),
        ("2005/08 Rome/1998 Wedding/1/pic.jpg", "1998-01-01", YEAR), ("1998 Wedding/pic.jpg", "1998-01-01", YEAR),
        ("Photos from 2019/pic.jpg", "2019-01-01", YEAR), ("Wedding_1998/pic.jpg", "1998-01-01", YEAR),
        ("2005/13/pic.jpg", "2005-01-01", YEAR), ("2005-08 lake.jpg", "2005-08-01", MONTH),
        ("24.12.2008 Party/pic.jpg", "2008-12-24", DAY),
        *((path, None, DAY) for path in (
            "IMG_1998.jpg", "1998.jpg", "1998 Wedding.jpg", "2001_05.jpg", "1920x1080.jpg", "IMG_1998/a.jpg",
            "Wallpaper 1920x1080/a.jpg", "1920 x 1080/a.jpg", "1080 x 1920/a.jpg", "1920 × 1080/a.jpg",
            "+49 30 1998 20/a.jpg", "0171 1998 2005/a.jpg", "0301998/a.jpg", "#1998/a.jpg", "1998-2005/a.jpg",
            "order 2005-1234/a.jpg", "2098 Mars/a.jpg", "2098-01/a.jpg", "EOS 2000D/a.jpg", "a.jpg", "",
        )),
    ):  # fmt: skip
        assert date_in_path(path, "UTC") == WrittenDate(first and datetime.fromisoformat(first), None, parts), path


def test_a_title_is_made_of_words_unless_a_camera_named_the_file():
    for base, title in (
        ("IMG_1234", ""), ("DSC00012", ""), ("P1010001", ""), ("_MG_0001", ""), ("20200131_120000", ""),
        ("summer-in_paris", "Summer In Paris"), ("McDonald birthday", "McDonald Birthday"), ("ab", ""), ("", ""),
        ("été à Nîmes", "Été À Nîmes"),
    ):  # fmt: skip
        assert title_in(base) == title, base


@examples(100)
@given(st.text(max_size=300))
def test_any_name_is_taken(name):
    date_in_path(name, "UTC")
    assert len(title_in(name)) <= 200


def test_no_long_name_needs_many_steps():
    texts = ["img" * 85, "-" * 255, "a-" * 127, "1" * 255, "2020-" * 51, "_" * 255, "a1" * 127, "20" * 127]
    for text in (*texts, "2005-08-" * 31, "1998 " * 51, "2005-08-14 a " * 19):
        assert len(title_in(text)) <= 200
        date_in_path(f"{text}/{text}", "UTC")  # backtracking of its patterns would last for years
