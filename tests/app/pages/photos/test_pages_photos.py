"""The page of the photos of a search, and the address of a photo, which leads into it."""

import json
import re
from html import unescape

import pytest
from sqlalchemy import select

from photosvc.models import Photo
from photosvc.search.rows.write import project
from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import open_api
from tests.helpers.factories.photos import add_photos, edit_photos
from tests.helpers.pictures import exif, jpeg

HOSTILE = '"><script>alert(1)</script>\u202e{{7*7}}'


@pytest.fixture(scope="module")
def filled_api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("pages")) as api:
        with api.library.session() as session:
            add_photos(session, 30, api.clock())
            ids = list(session.scalars(select(Photo.id).order_by(Photo.id)))
            edit_photos(session, ids[:1], title=HOSTILE, description=HOSTILE)
            edit_photos(session, ids[1:2], private=True)
            edit_photos(session, ids[2:3], quality=-1)
            edit_photos(session, ids[3:4], year=-1, month=-1, day=-1)
            project(session, ids)
        yield api


@pytest.fixture
def alice(filled_api):
    browser = Browser(filled_api)
    assert browser.sign_in().status_code == 303
    return browser


def photos_of(answer):
    """Return the UIDs of the photos that a page contains for its scripts."""
    first = re.search(r"data-first='([^']+)'", answer.text)
    return [photo[0] for photo in json.loads(unescape(first[1]))["photos"]] if first else []


def grid_of(browser, address):
    """Return the address of the grid to which the page of a photo leads."""
    page = browser.open(address, headers=OWN)
    return unescape(re.search(r'data-grid="([^"]*)"', page.text)[1])


def of_timeline(api, **parameters):
    """Return the UIDs of dated photos in the order of the timeline."""
    token, found = api.app_password("alice"), []
    for month, _ in api.call("GET", "/photos/timeline", token, query_string=parameters).json["months"]:
        path = f"/photos/timeline/months/{month}/photos"
        photos = api.call("GET", path, token, query_string=parameters).json["photos"]
        found += [photo["uid"] for photo in photos if month != "0000-00"]
    return found


def uids(api, **parameters):
    found = api.library.find(token=api.app_password("alice"), merged="true", count=1000, **parameters)
    return [record["UID"] for record in found]


def test_every_list_that_scripts_send_may_have_the_length_that_the_page_names(filled_api, alice):
    text = alice.open("/", headers=OWN).text
    portion, most = (int(re.search(f'data-{name}="([0-9]+)"', text)[1]) for name in ("portion", "mostphotos"))
    token = filled_api.session_of("ann")
    album = filled_api.call("POST", "/albums", token, json={"Title": "Lists"}).json["UID"]
    batches = {name: {} for name in ("archive", "restore", "delete")}
    batches |= {"private": {"private": True}, "edit": {"values": {"Favorite": True}}, "undo": {"change": 1}}
    lists = [("POST", f"/batch/photos/{name}", portion, more) for name, more in batches.items()]
    lists += [(method, f"/albums/{album}/photos", portion, {}) for method in ("POST", "DELETE")]
    lists += [("POST", "/trash/restore", portion, {}), ("POST", "/zip", most, {})]
    for method, path, length, more in lists:
        photos = [f"ptb7yo0{number:09}" for number in range(length)]
        answer = filled_api.call(method, path, token, json={"photos": photos, **more})
        assert answer.status_code in {200, 404}, (path, answer.text)


def test_without_an_order_it_is_the_newest_first_unless_the_query_names_one(filled_api, alice):
    assert photos_of(alice.open("/", headers=OWN)) == of_timeline(filled_api, order="newest")
    assert photos_of(alice.open("/?q=order:oldest", headers=OWN)) == of_timeline(filled_api, order="oldest")


def test_words_alone_are_shown_best_match_first_and_one_link_leads_to_the_newest(filled_api, alice):
    word = "tree"
    best, newest = (uids(filled_api, q=word, order=order) for order in ("relevance", "newest"))
    assert len(best) > 2
    assert best != newest
    page = alice.open(f"/?q={word}", headers=OWN)
    assert photos_of(page) == best
    assert "Whole words first: show the newest first" in text_of(page)
    assert "Order: Best match" in page.text
    assert grid_of(alice, f"/photos/{best[0]}?q={word}") == f"/?q={word}"
    address = unescape(re.search(r'href="([^"]+)">show the newest first', page.text)[1])
    by_date = alice.open(address, headers=OWN)
    assert photos_of(by_date) == of_timeline(filled_api, q=word, order="newest")
    assert "Whole words first" not in text_of(by_date)
    assert grid_of(alice, f"/photos/{newest[0]}?q={word}&order=newest") == f"/?q={word}&order=newest"


def test_filters_dates_and_a_named_order_keep_photos_by_date(filled_api, alice):
    for query in ("", "year:2020", "tree year:2020", "february 2020", "tree | lake", "a order:newest"):
        page = alice.open("/", headers=OWN, query_string={"q": query})
        assert photos_of(page) == of_timeline(filled_api, q=query, order="newest"), query
        assert "Whole words first" not in text_of(page), query


def test_it_tells_how_many_there_are_and_how_many_are_hidden(filled_api, alice):
    answer = alice.open("/?q=year:2020", headers=OWN)
    total = len(uids(filled_api, q="year:2020"))
    assert f"{total} photos · 1 hidden: show" in text_of(answer)
    link = unescape(re.search(r'href="([^"]+)">1 hidden', answer.text)[1])
    assert link == "/?q=year%3A2020+hidden%3Atrue"
    assert len(photos_of(alice.open(link, headers=OWN))) == 1


@pytest.mark.parametrize("order", ["newest", "oldest"])
def test_what_the_scripts_show_first_is_the_beginning_of_the_timeline(filled_api, alice, order):
    first = json.loads(re.search(r"data-first='([^']+)'", alice.open(f"/?order={order}", headers=OWN).text)[1])
    token = filled_api.app_password("alice")
    months = [name for name, _ in filled_api.call("GET", f"/photos/timeline?order={order}", token).json["months"]]
    assert [month["name"] for month in first["months"]] == months[:-1]
    assert months[-1] == "0000-00"
    photos = []
    for month in first["months"]:
        path = f"/photos/timeline/months/{month['name']}"
        columns = filled_api.call("GET", f"{path}?order={order}", token).json
        assert month == {"name": month["name"], **{key: columns[key] for key in ("days", "ratio", "color", "type")}}
        photos += filled_api.call("GET", f"{path}/photos?order={order}", token).json["photos"]
    keys = ("uid", "hash", "duration", "favorite", "private")
    assert [photo[:5] for photo in first["photos"]] == [[photo[key] for key in keys] for photo in photos]


def test_filters_are_chips_that_can_be_removed(alice):
    answer = alice.open("/", headers=OWN, query_string={"q": 'tree -camera:"Model 1" year:2020'})
    chips = re.findall(r'<a href="([^"]+)" aria-label="Remove ([^"]+)"', answer.text)
    assert [(unescape(href), unescape(name)) for href, name in chips] == [
        ("/?q=tree+year%3A2020", "not Model 1"),
        ("/?q=tree+-camera%3A%22Model+1%22", "2020"),
    ]
    for query in ("camera:a or camera:b", "year:2020 or year:2021", "(year:2020)"):
        assert 'aria-label="Remove' not in alice.open("/", headers=OWN, query_string={"q": query}).text


def test_a_chip_says_its_filter_in_words_and_the_field_has_the_rest(alice):
    words = {
        'person:"Ada L."': "Ada L.", "taken:2023-07": "July 2023", "taken:2023-07-14": "14 July 2023",
        "month:7": "July",
        "country:de": "Germany", "rating:4-": "★★★★ and more", "rating:5": "★★★★★", "color:red": "Red",
        "type:video": "Videos", "favorite:true": "Favorites", "is:panorama": "Panoramas", "iso:100-400": "iso 100-400",
        "after:2023": "since 2023", "before:2023": "until 2023",
        "taken:2023-07-01..2023-07-02": "1 July 2023 – 2 July 2023", "near:ptb7yo0q47kfsok1": "Near a photo",
    }  # fmt: skip
    for query, label in words.items():
        text = alice.open("/", headers=OWN, query_string={"q": ["tree", query]}).text
        parts = re.findall(r'name="q" value="([^"]*)"><span>([^<]*)', text)
        assert [(unescape(part), said) for part, said in parts] == [(query, label)]
        assert 'type="search" name="q" value="tree"' in text


def test_words_that_mean_a_filter_are_chips_that_can_be_taken_back(alice):
    answer = alice.open("/", headers=OWN, query_string={"q": "tree february 2020 -videos order:oldest"})
    chips = re.findall(r'<a href="([^"]+)" aria-label="Search for the words ([^"]+)"', answer.text)
    assert [(unescape(href), unescape(name)) for href, name in chips] == [
        ("/?q=tree+%22february+2020%22+-videos+order%3Aoldest&order=oldest", "february 2020"),
        ("/?q=tree+february+2020+-%22videos%22+order%3Aoldest&order=oldest", "not videos"),
    ]
    assert 'title="taken:2020-02"' in answer.text
    places = alice.open("/places", headers=OWN, query_string={"q": "february 2020"})
    assert "Search for the words february 2020" in places.text


def test_an_empty_page_links_to_what_would_be_found(alice):
    text = alice.open("/", headers=OWN, query_string={"q": "february year:1900"}).text
    assert re.findall(r'<a href="([^"]+)">\d+ photos? without year:1900</a>', text) == ["/?q=february"]


def test_a_quote_that_is_not_closed_ends_with_the_query(alice):
    answer = alice.open("/", headers=OWN, query_string={"q": '"lake si'})
    assert answer.status_code == 200
    assert 'value="&#34;lake si&#34;"' in answer.text


def test_what_is_wrong_with_a_query_is_told_beside_the_field(alice):
    for query, message in {
        "yaer:2020": 'did you mean "year"?',
        "(lake": "this ( is not closed",
        "year:x": "year",
        "x" * 5000: "4,096 are allowed",
        "a\x01b": "control character",
        "near:ptouqe1kbhlaydg7": "no",
    }.items():
        answer = alice.open("/", headers=OWN, query_string={"q": query})
        assert answer.status_code == (404 if query.startswith("near:") else 400), query
        assert message in text_of(answer), query
        assert 'aria-invalid="true"' in answer.text, query
        assert 'role="alert"' in answer.text, query


def test_strange_parameters_are_no_errors_of_ours(alice):
    fine = ("page=9", "order=random&seed=7", "q=%ff%fe", "order=-newest")
    wrong = ("q=%00", "seed=x", "order=none", "order=manual")
    for query in (*fine, *wrong):
        assert alice.open(f"/?{query}", headers=OWN).status_code == (400 if query in wrong else 200), query


def test_a_photo_that_may_not_be_seen_is_not_found(filled_api, alice):
    private = uids(filled_api, private="true")[0]
    assert alice.open(f"/photos/{private}", headers=OWN).status_code == 200
    vera = Browser(filled_api)
    vera.sign_in("vera")
    for uid in (private, "ptouqe1kbhlaydg7", "x", "%00"):
        answer = vera.open(f"/photos/{uid}", headers=OWN)
        assert answer.status_code == 404
        assert "This photo does not exist, or you have no permission to see it." in text_of(answer)
    assert private not in photos_of(vera.open("/", headers=OWN))
    assert "hidden: show" not in vera.open("/", headers=OWN).text


def test_the_grid_begins_with_photos_whose_month_is_known_as_the_timeline_does(api):
    """A file without a date counts as taken when it was written, and would be the newest."""
    api.library.put("scan.jpg", jpeg(8, 6))
    api.library.put("lake.jpg", jpeg(9, 6, exif=exif({}, {0x9003: "2024:05:01 10:00:00"})))
    api.library.index()
    browser = Browser(api)
    assert browser.sign_in().status_code == 303
    text = unescape(re.search(r"data-first='([^']+)'", browser.open("/").text)[1])
    assert [month["name"] for month in json.loads(text)["months"]] == ["2024-05"]


def test_markup_in_a_title_is_text(alice):
    page = alice.open("/", headers=OWN).text
    assert "<script>alert" not in page
    assert r"\u003e\u003cscript\u003ealert(1)\u003c/script\u003e" in page


def test_a_photo_leads_into_the_search_that_finds_it_or_to_itself_alone(filled_api, alice):
    uid, *_ = uids(filled_api)
    for query in ("", "uid:" + uid):
        assert grid_of(alice, f"/photos/{uid}?q={query}") == (f"/?q=uid%3A{uid}" if query else "/")
    alone = f"/?q=uid%3A{uid}+archived%3Atrue"
    for query in ("year:1900", "(x", "a\x01"):
        assert grid_of(alice, f"/photos/{uid}?q={query}") == f"/?q=uid%3A{uid}", query
    hidden, *_ = uids(filled_api, q="hidden:true")
    assert grid_of(alice, f"/photos/{hidden}") == f"/?q=uid%3A{hidden}+hidden%3Atrue"
    token = filled_api.app_password("alice")
    filled_api.call("POST", "/batch/photos/archive", token, json={"photos": [uid]})
    assert grid_of(alice, f"/photos/{uid}") == alone
    filled_api.call("POST", "/batch/photos/restore", token, json={"photos": [uid]})
    page = alice.open(f"/photos/{uid}", headers=OWN)
    assert f'data-photo="{uid}"' in page.text
    assert f'href="/#photo={uid}"' in page.text  # if its script does not load


def test_browsers_without_scripts_read_what_shows_the_photos(filled_api, alice):
    for path in ("/", "/favorites", f"/photos/{uids(filled_api)[0]}"):
        (sentence,) = re.findall("<noscript>.*?</noscript>", alice.open(path, headers=OWN).text)
        assert "Photos are shown and uploaded with JavaScript." in sentence, path
