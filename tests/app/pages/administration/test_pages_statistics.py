"""The columns of a plot by year: places and heights in percent, gathered where there are many years."""

import pytest

from photosvc.pages.administration.statistics import columns


def shown(years):
    return [(one.bar.label, one.bar.photos, one.bar.address, one.height) for one in columns(years, "?q={}".format)]


def test_years_without_photos_keep_their_place():
    assert shown({2021: 4, 2023: 1}) == [
        ("2021", 4, "?q=year:2021", 100.0),
        ("2022", 0, "", 0.0),
        ("2023", 1, "?q=year:2023", 25.0),
    ]


def test_few_photos_beside_many_are_seen_all_the_same():
    assert [height for *_, height in shown({2021: 100_000, 2022: 1})] == [100.0, 1.0]


def test_years_that_are_not_known_are_left_out():
    assert shown({-1: 7, 0: 2}) == []
    assert [label for label, *_ in shown({-1: 7, 2000: 1})] == ["2000"]


@pytest.mark.parametrize(
    ("first", "last", "number", "label"),
    [
        (1984, 2023, 40, "1984"),
        (1983, 2023, 9, "1980-1984"),
        (1826, 2026, 21, "1820-1829"),
        (1, 9999, 20, "1-499"),
    ],
)
def test_many_years_are_gathered_and_no_photo_is_lost(first, last, number, label):
    found = columns(dict.fromkeys((first, (first + last) // 2, last), 5), "?q={}".format)
    assert (len(found), found[0].bar.label) == (number, label)
    assert sum(one.bar.photos for one in found) == 15
    assert found[-1].left + found[-1].width == pytest.approx(100, abs=0.1)
    assert 0 < sum(bool(one.label) for one in found) <= 6
