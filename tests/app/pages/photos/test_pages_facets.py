"""Filters to choose without scripts: values with their numbers, which narrow the search they came from."""

import re
from html import escape, unescape

import pytest

from photosvc.pages import facets
from tests.app.pages.browser import Browser
from tests.app.pages.photos.test_pages_photos import photos_of
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg, showing

HOSTILE = '"><img src=x onerror=alert(1)>'
YEARS = (2022, 2023, 2023)


@pytest.fixture
def browser(tmp_path):
    with open_api(tmp_path) as api:
        for number, year in enumerate(YEARS):
            taken = exif({0x010F: "Canon", 0x0110: "EOS 5D"}, {0x9003: f"{year}:05:01 10:00:00"})
            found = showing("Ada", escape(HOSTILE)) if number else b""
            api.library.put(f"{number}.jpg", jpeg(400 + number, 300, exif=taken, xmp=found))
        api.library.index()
        browser = Browser(api)
        browser.sign_in("alice")
        yield browser


def groups(page):
    """The names and numbers of each group, and the addresses of all links by name."""
    found, addresses = {}, {}
    for title, body in re.findall(r"<h2>(.*?)</h2>(.*?)</section>", page.text, re.DOTALL):
        links = re.findall(r'<a href="([^"]*)"[^>]*>.*?<span[^>]*>([^<]*)</span> <small>([\d,]+)', body, re.DOTALL)
        found[title] = [(unescape(name), int(count)) for _, name, count in links if name]
        addresses |= {unescape(name): unescape(href) for href, name, _ in links}
    return found, addresses


def photos(page):
    return len(photos_of(page))


def test_every_choice_leads_to_as_many_photos_as_it_says(browser):
    found, addresses = groups(browser.open("/filters"))
    assert found["Year"] == [("2023", 2), ("2022", 1)]
    assert found["Camera"] == [("Canon EOS 5D", 3)]
    assert sorted(found["People"]) == sorted([("Ada", 2), (HOSTILE, 2)])
    assert found["Kind"] == [("Pictures", 3)]
    assert "Month" not in found
    for named in found.values():
        for name, count in named:
            assert photos(browser.open(addresses[name])) == count, name


def test_choices_are_those_of_the_search_and_add_to_it(browser):
    page = browser.open("/filters?q=person:Ada+|+name:0&order=oldest")
    found, addresses = groups(page)
    assert found["Year"] == [("2023", 2), ("2022", 1)]
    assert "order=oldest" in addresses["2022"]
    assert photos(browser.open(addresses["2022"])) == 1
    within, _ = groups(browser.open("/filters?q=year:2023"))
    assert (within["Year"], within["Month"]) == ([("2023", 2)], [("May", 2)])


def test_a_chosen_filter_can_be_taken_back(browser):
    page = browser.open("/filters?q=year:2023+person:Ada")
    without = unescape(re.search(r'href="([^"]*)" aria-label="Remove 2023"', page.text)[1])
    assert without == "/filters?q=person%3AAda"
    assert groups(browser.open(without))[0]["Year"] == [("2023", 2)]
    assert 'href="/?q=person%3AAda"' in browser.open(without).text


def test_the_photos_lead_to_their_filters_also_in_an_album(browser):
    api = browser.api
    token = api.app_password()
    uid = api.call("POST", "/albums", token, json={"Title": "One", "Filter": "year:2022"}).json["UID"]
    page = browser.open(f"/albums/{uid}?q=camera:canon")
    href = unescape(re.search(r'href="(/filters[^"]*)"', page.text)[1])
    found, addresses = groups(browser.open(href))
    assert found["Year"] == [("2022", 1)]
    assert addresses["2022"].startswith(f"/albums/{uid}?q=camera")
    assert photos(browser.open(addresses["2022"])) == 1


def test_a_wrong_search_is_told_and_no_value_is_markup(browser):
    page = browser.open("/filters?q=yaer:2023")
    assert page.status_code == 400
    assert "yaer" in page.text
    assert "<section>" not in page.text
    assert "<img src=x" not in browser.open("/filters").text
    assert "nothing to choose" in browser.open("/filters?q=year:1900").text


def test_long_lists_are_cut_and_say_so(browser, monkeypatch):
    monkeypatch.setattr(facets, "_FIRST", 1)
    monkeypatch.setattr(facets, "_MOST", 1)
    text = browser.open("/filters").text
    assert "And 1 that fewer photos have" not in text  # only behind a click
    monkeypatch.setattr(facets, "_MOST", 2)
    api = browser.api
    api.library.put("3.jpg", jpeg(410, 300, exif=exif({}, {0x9003: "2021:05:01 10:00:00"})))
    api.library.index()
    text = browser.open("/filters").text
    assert "And 1 that fewer photos have" in text
    assert "2021" not in text
