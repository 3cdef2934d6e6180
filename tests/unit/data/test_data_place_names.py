"""Names of countries in the first known language of a browser."""

from photosvc.data.place_names import country_in


def test_a_country_has_its_name_in_the_first_language_that_is_known():
    for languages, name in (
        (["de"], "Österreich"),
        (["de-AT", "en"], "Österreich"),
        (["xx", "fr"], "Autriche"),
        (["pt_BR"], "Áustria"),
        (["zh"], "奥地利"),
        (["zh-TW"], "奧地利"),
        (["zh_Hant"], "奧地利"),
        (["en-GB", "de"], None),
        (["xx"], None),
        ([], None),
    ):
        assert country_in(languages, "at") == name


def test_an_unknown_country_has_no_name():
    assert country_in(["de", "fr"], "qq") is None
