"""The photos as pages without scripts: search, order, paging, and one photo at a time."""

import json
import re
from html import unescape

import pytest
from sqlalchemy import select

from photosvc.models import Photo
from photosvc.pages import photos as page_of_photos
from photosvc.search.rows.write import project
from tests.helpers.api_client import open_api
from tests.helpers.browser import OWN, Browser, text_of
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
    return re.findall(r'href="/photos/(p[0-9a-z]{15})', answer.text)


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


@pytest.mark.parametrize("order", ["newest", "oldest", "added", "title", "name", "size", "edited", "similar"])
def test_the_pages_together_are_the_search(filled_api, alice, monkeypatch, order):
    monkeypatch.setattr(page_of_photos, "COUNT", 7)
    found, address = [], f"/?order={order}"
    while address:
        answer = alice.open(address, headers=OWN)
        assert answer.status_code == 200
        found += photos_of(answer)
        following = re.search(r'rel="next" href="([^"]+)"', answer.text)
        address = unescape(following[1]) if following else ""
    assert found == uids(filled_api, order=order)


def test_without_an_order_it_is_the_newest_first_unless_the_query_names_one(filled_api, alice):
    assert photos_of(alice.open("/", headers=OWN)) == uids(filled_api, order="newest")
    assert photos_of(alice.open("/?q=order:oldest", headers=OWN)) == uids(filled_api, order="oldest")


def test_words_alone_are_shown_best_match_first_and_one_link_leads_to_the_newest(filled_api, alice):
    word = "tree"
    best, newest = (uids(filled_api, q=word, order=order) for order in ("relevance", "newest"))
    assert len(best) > 2
    assert best != newest
    page = alice.open(f"/?q={word}", headers=OWN)
    assert photos_of(page) == best
    assert "Whole words first: show the newest first" in text_of(page)
    assert '<option value="" selected>Best match</option>' in page.text
    photo = alice.open(f"/photos/{best[0]}?q={word}", headers=OWN)
    assert f'rel="next" href="/photos/{best[1]}?q={word}"' in photo.text  # the same photo follows it
    address = unescape(re.search(r'href="([^"]+)">show the newest first', page.text)[1])
    by_date = alice.open(address, headers=OWN)
    assert photos_of(by_date) == newest
    assert "Whole words first" not in text_of(by_date)
    photo = alice.open(f"/photos/{newest[0]}?q={word}&order=newest", headers=OWN)
    assert f'href="/?q={word}&amp;order=newest"' in photo.text


@pytest.mark.parametrize("query", ["", "year:2020", "tree year:2020", "february 2020", "tree | lake", "a order:newest"])
def test_filters_dates_and_a_named_order_keep_photos_by_date(filled_api, alice, query):
    page = alice.open("/", headers=OWN, query_string={"q": query})
    assert photos_of(page) == uids(filled_api, q=query, order="newest")
    assert "Whole words first" not in text_of(page)


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
        path = f"/photos/timeline/{month['name']}"
        columns = filled_api.call("GET", f"{path}?order={order}", token).json
        assert month == {"name": month["name"], **{key: columns[key] for key in ("days", "ratio", "color", "type")}}
        photos += filled_api.call("GET", f"{path}/photos?order={order}", token).json["photos"]
    keys = ("uid", "hash", "duration", "favorite", "private")
    assert [photo[:5] for photo in first["photos"]] == [[photo[key] for key in keys] for photo in photos]


def test_photos_of_one_day_have_one_heading(alice):
    text = text_of(alice.open("/", headers=OWN))
    assert "Saturday, 29 February 2020" in text
    assert text.index("Saturday, 29 February 2020") < text.index("Friday, 28 February 2020")


def test_filters_are_chips_that_can_be_removed(alice):
    answer = alice.open("/", headers=OWN, query_string={"q": 'tree -camera:"Model 1" year:2020'})
    chips = re.findall(r'<a href="([^"]+)" aria-label="Remove ([^"]+)"', answer.text)
    assert [(unescape(href), unescape(name)) for href, name in chips] == [
        ("/?q=tree+year%3A2020", 'camera "Model 1"'),
        ("/?q=tree+-camera%3A%22Model+1%22", "year 2020"),
    ]
    for query in ("camera:a or camera:b", "year:2020 or year:2021", "(year:2020)"):
        assert 'aria-label="Remove' not in alice.open("/", headers=OWN, query_string={"q": query}).text


def test_words_that_mean_a_filter_are_chips_that_can_be_taken_back(alice):
    answer = alice.open("/", headers=OWN, query_string={"q": "tree february 2020 -videos order:oldest"})
    chips = re.findall(r'<a href="([^"]+)" aria-label="Search for the words ([^"]+)"', answer.text)
    assert [(unescape(href), unescape(name)) for href, name in chips] == [
        ("/?q=tree+%22february+2020%22+-videos+order%3Aoldest&order=oldest", "february 2020"),
        ("/?q=tree+february+2020+-%22videos%22+order%3Aoldest&order=oldest", "videos"),
    ]
    assert "taken:2020-02" in text_of(answer)
    places = alice.open("/places", headers=OWN, query_string={"q": "february 2020"})
    assert "Search for the words february 2020" in places.text


def test_an_empty_page_links_to_what_would_be_found(alice):
    text = alice.open("/", headers=OWN, query_string={"q": "february year:1900"}).text
    assert re.findall(r'<a href="([^"]+)">\d+ photos? without year:1900</a>', text) == ["/?q=february"]


def test_a_quote_that_is_not_closed_ends_with_the_query(alice):
    answer = alice.open("/", headers=OWN, query_string={"q": '"lake si'})
    assert answer.status_code == 200
    assert 'value="&#34;lake si&#34;"' in answer.text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("yaer:2020", 'did you mean "year"?'),
        ("(lake", "this ( is not closed"),
        ("year:x", "year"),
        ("x" * 5000, "4,096 are allowed"),
        ("a\x01b", "control character"),
        ("near:ptouqe1kbhlaydg7", "no"),
    ],
)
def test_what_is_wrong_with_a_query_is_told_beside_the_field(alice, query, message):
    answer = alice.open("/", headers=OWN, query_string={"q": query})
    assert answer.status_code == (404 if query.startswith("near:") else 400)
    assert message in text_of(answer)
    assert 'aria-invalid="true"' in answer.text
    assert 'role="alert"' in answer.text


def test_strange_parameters_are_no_errors_of_ours(alice):
    fine = ("page=x", "page=-1", "page=99999999999999", "page=9999999")
    fine += ("order=random&seed=7", "q=%ff%fe", "order=-newest")
    wrong = ("q=%00", "seed=x", "order=none", "order=manual")
    for query in (*fine, *wrong):
        assert alice.open(f"/?{query}", headers=OWN).status_code == (400 if query in wrong else 200), query


def test_a_page_behind_the_last_one_leads_to_the_first_alone(alice):
    beyond = text_of(alice.open("/?page=9", headers=OWN))
    assert "There is no page 9. First page" in beyond
    assert "Previous" not in beyond


def test_markup_in_a_title_is_text(alice, filled_api):
    shown = 0
    for path in ("/", *(f"/photos/{uid}" for uid in uids(filled_api))):
        answer = alice.open(path, headers=OWN)
        assert "<script>alert" not in answer.text
        shown += "&gt;&lt;script&gt;alert(1)&lt;/script&gt;\u202e{{7*7}}" in answer.text
    assert shown == 2  # the grid, and the photo


def test_a_photo_outside_of_the_search_or_with_an_invalid_one_is_shown_alone(filled_api, alice):
    uid = uids(filled_api)[0]
    for query in ("year:1900", "(x", "order:none", "a\x01"):
        answer = alice.open(f"/photos/{uid}", headers=OWN, query_string={"q": query})
        assert answer.status_code == 200
        assert 'rel="next"' not in answer.text


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


#: Values that mean something in queries.
STRANGE = {
    "LensModel": 'Lens 1" Pro | 50*',
    "CameraModel": "Back\\slash & Co",
    "Details": {"Keywords": 'the "old" pier'},
    "Lat": 47.2692,
    "Lng": 11.4041,
}


@pytest.fixture
def strange(api):
    """The UID of a photo with values that mean something in queries; there is another one without them."""
    api.library.put("lake.jpg", jpeg(9, 6))
    api.library.put("pier.jpg", jpeg(9, 8, exif=exif({}, {0x9003: "2024:05:01 10:00:00"})))
    api.library.index()
    (found,) = api.library.find(q="name:pier", count=1)
    answer = api.call("PUT", f"/photos/{found['UID']}", api.access_token(), json=STRANGE)
    assert answer.status_code == 200, answer.text
    return found["UID"]


def test_each_link_of_a_photo_finds_it_whatever_its_values_are(api, strange):
    browser = Browser(api)
    browser.sign_in()
    page = browser.open(f"/photos/{strange}", headers=OWN)
    links = [unescape(link) for link in re.findall(r'href="(/\?q=[^"]+)"', page.text)]
    links = [link for link in links if "favorite" not in link and "archived" not in link]
    assert [link[4:].partition(":")[0] for link in links] == ["taken", "city", "near", "camera", "lens", "keywords"]
    for link in links:
        assert set(photos_of(browser.open(link, headers=OWN))) == {strange}, link


@pytest.mark.parametrize(
    ("date", "shown", "query"),
    [
        ({"Month": 5, "Day": -1}, "May 1987", "year:1987+month:5"),
        ({"Month": -1, "Day": -1}, "1987", "year:1987"),
        ({"Month": 5, "Day": 1}, "Friday, 1 May 1987, 10:00", "taken:1987-05-01"),
    ],
)
def test_a_date_is_shown_as_far_as_it_is_known(api, strange, date, shown, query):
    body = {"TakenAtLocal": "1987-05-01T10:00:00Z", "Title": "", "Year": 1987, **date}
    answer = api.call("PUT", f"/photos/{strange}", api.access_token(), json=body)
    assert answer.status_code == 200, answer.text
    browser = Browser(api)
    browser.sign_in()
    page = browser.open(f"/photos/{strange}", headers=OWN)
    assert f'<a href="/?q={query}">{shown}</a>' in page.text
    place = re.search("city:%22([^%]+)%22", page.text)[1]
    day = shown.removeprefix("Friday, ").removesuffix(", 10:00")
    assert f"<title>Photo, {day}, {place} · " in page.text
    found = browser.open(f"/?q={query}", headers=OWN)
    assert f'alt="Photo, {day}, {place}"' in found.text
    assert set(photos_of(found)) == {strange}
