import pytest

from photosvc.index.describe import make_title


@pytest.mark.parametrize(
    ("people", "city", "country", "base", "year", "title"),
    [
        ([], "", "zz", "IMG_0001", -1, "Unknown"),
        ([], "", "zz", "IMG_1234", 2020, "Unknown / 2020"),
        ([], "", "zz", "summer party", 2020, "Summer Party / 2020"),
        ([], "Paris", "fr", "x", 2020, "Paris / France / 2020"),
        ([], "", "fr", "x", -1, "France"),
        ([], "Singapore", "sg", "x", -1, "Singapore"),
        (["Ada"], "Paris", "fr", "x", 2020, "Ada / Paris / 2020"),
        (["Ada", "Bob"], "", "fr", "x", -1, "Ada & Bob / France"),
        (["Ada", "Bob", "Eve"], "", "zz", "x", 2020, "Ada, Bob & Eve / 2020"),
        (["A", "B", "C", "D"], "Paris", "fr", "x", 2020, "Paris / France / 2020"),
        ([], "Unknown", "zz", "x", -1, "Unknown"),
    ],
)
def test_a_title_names_people_else_place_else_file_and_the_year(people, city, country, base, year, title):
    assert make_title(people=people, city=city, country=country, base_name=base, year=year) == title


def test_a_title_is_never_longer_than_200_characters():
    assert len(make_title(people=["x" * 300], city="", country="zz", base_name="", year=2020)) == 200
