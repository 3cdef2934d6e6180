"""The pages of a public link for its visitors, and the page of an album's links for those who may share it."""

import re
import zipfile
from io import BytesIO

import pytest

from photosvc.pages.wording import size_text
from tests.app.pages.browser import OWN, Browser, text_of
from tests.helpers.api_client import HASH, open_api
from tests.helpers.factories.accounts import add_user
from tests.helpers.pictures import exif, jpeg

PLACE = {1: "N", 2: [(52, 1), (31, 1), (0, 1)], 3: "E", 4: [(13, 1), (24, 1), (0, 1)]}


@pytest.fixture(scope="module")
def sharing(tmp_path_factory):
    settings = {"PHOTOSVC_BASE_URL": "https://photos.example.org"}
    with open_api(tmp_path_factory.mktemp("sharing"), settings=settings) as api:
        for number in range(125):
            tags = exif({0x0110: "Maplecam"}, {0x9003: f"2021:07:01 {10 + number // 60}:{number % 60:02}:00"}, PLACE)
            api.library.put(f"beach/wave{number}.jpg", jpeg(160 + number, 120, exif=tags))
        api.library.index()
        api.token = api.app_password("alice")
        photos = api.call("GET", "/photos?count=200&order=oldest", api.token).json
        api.photos = [photo["UID"] for photo in photos]
        album = api.call("POST", "/albums", api.token, json={"Title": "Summer", "Description": "By the sea."}).json
        api.call("POST", f"/albums/{album['UID']}/photos", api.token, json={"photos": api.photos[:-1]})
        api.album = album["UID"]
        yield api


@pytest.fixture
def visitor(sharing):
    browser = Browser(sharing, base="https://photos.example.org", address="198.51.100.1")
    sharing.clock.move(hours=1)  # failures of other tests are forgotten
    return browser


def make(api, **values):
    answer = api.call("POST", f"/albums/{api.album}/links", api.token, json=values)
    assert answer.status_code == 200, answer.text
    return answer.json


def pictures(answer):
    return re.findall(r'<a href="(/s/[^"]+/picture/[^"]+)"><img src="([^"]+)"', answer.text)


def test_a_link_shows_the_pictures_of_its_album_and_no_way_into_the_library(sharing, visitor):
    link = make(sharing, Expires=86_400)
    answer = visitor.open(f"/s/{link['Token']}/{link['Slug']}")
    assert answer.status_code == 200
    assert "Summer 124 photos · until" in text_of(answer)
    assert "By the sea." in text_of(answer)
    found = pictures(answer)
    assert len(found) == 120
    assert (
        visitor.open(found[0][1].replace("&amp;", "&"), headers={"Accept": "image/*"}, buffered=True).status_code == 200
    )
    assert not re.search(r"<nav aria-label=\"Main|sign-in|manifest|/api/v1/photos", answer.text)
    assert re.findall(r"<script[^>]*?([\w-]+\.js)", answer.text) == ["adding.js", "main.js", "page.js"]
    assert not re.search(r"(library|suggest|upload|news)\.js", answer.text)
    assert 'name="robots" content="noindex, nofollow"' in answer.text
    assert answer.headers["X-Robots-Tag"] == "noindex, nofollow, noarchive"
    assert answer.headers["Referrer-Policy"] == "strict-origin"
    assert answer.headers["Cache-Control"] == "no-store"
    shown = re.sub(r"<script type=.application.*?</script>", "", answer.text)
    for word in ("Maplecam", "wave", "Berlin", "alice", "Download"):
        assert word not in shown, word


def test_pages_follow_each_other_and_pictures_lead_to_their_neighbours(sharing, visitor):
    path = f"/s/{make(sharing)['Token']}"
    first, second = visitor.open(path), visitor.open(f"{path}?page=2")
    assert len({uid for uid, _ in pictures(first) + pictures(second)}) == 124
    assert "Page 2 of 2" in text_of(second)
    assert visitor.open(f"{path}?page=9").status_code == 200
    one = visitor.open(pictures(first)[1][0])
    assert one.status_code == 200
    assert re.findall(r'rel="(prev|next)" href="([^"]+)"', one.text) == [
        ("prev", pictures(first)[0][0]), ("next", pictures(first)[2][0]),
    ]  # fmt: skip
    assert "Maplecam" not in one.text
    assert "Berlin" not in one.text
    for uid in (sharing.photos[-1], sharing.photos[0]):  # the ids of the library lead nowhere
        outside = visitor.open(f"{path}/picture/{uid}")
        assert (outside.status_code, "sign-in" in outside.text) == (404, False)
        assert uid not in first.text + one.text
    for uid in ("x", "ptb7yo0000000000", "%00"):
        assert visitor.open(f"{path}/picture/{uid}").status_code == 404


def test_the_grid_reads_what_a_link_shows_by_position_and_no_more(sharing, visitor):
    path = f"/s/{make(sharing)['Token']}"
    assert visitor.open(f"{path}/photos/sequence").status_code == 401  # no visit
    shown = [uid.rpartition("/")[2] for uid, _ in pictures(visitor.open(path))]
    first = visitor.open(f"{path}/photos/sequence?from=2&n=3").json
    assert [first[name] for name in ("from", "total", "type", "next")] == [2, 124, "000", ""]
    assert [photo["uid"] for photo in first["photos"]] == shown[2:5]
    assert first["photos"][0] == {
        "uid": shown[2], "hash": first["photos"][0]["hash"], "duration": 0, "favorite": False, "private": False,
        "width": 162, "height": 120, "turn": 1, "text": "Photo, 1 July 2021", "title": "", "about": "1 July 2021",
        "description": "", "camera": "", "own": False,
    }  # fmt: skip
    located = visitor.open(f"{path}/photos/sequence?locate={shown[7]}&n=1").json
    assert (located["from"], located["photos"][0]["uid"]) == (7, shown[7])
    for wrong in (sharing.photos[0], sharing.photos[-1], "x", "%00"):
        assert visitor.open(f"{path}/photos/sequence?locate={wrong}").status_code == 404
    for odd in ("from=-1&n=0", "from=x&n=9999999&q=wave&s=all&order=name", "from=%00"):
        assert len(visitor.open(f"{path}/photos/sequence?{odd}").json["photos"]) == 120
    assert visitor.open(f"{path}/photos/sequence?from=2147483647").json["photos"] == []
    detailed = f"/s/{make(sharing, ShowMetadata=True)['Token']}"
    visitor.open(detailed)
    photo = visitor.open(f"{detailed}/photos/sequence?n=1").json["photos"][0]
    assert (photo["about"].startswith("1 July 2021 · "), photo["camera"], photo["title"]) == (True, "Maplecam", "")
    assert "wave" not in str(photo)


def test_the_cookie_of_a_visit_is_that_of_one_link_alone(sharing, visitor):
    link = make(sharing)
    answer = visitor.open(f"/s/{link['Token']}")
    cookie = answer.headers["Set-Cookie"]
    assert re.match(r"__Secure-photosvc-[0-9a-f]{6}-[0-9a-f]{12}=[0-9a-f]{48};", cookie)
    assert all(part in cookie for part in (f"Path=/s/{link['Token']}", "Secure", "HttpOnly", "SameSite=Lax"))
    assert "Set-Cookie" not in visitor.open(f"/s/{link['Token']}?page=2").headers
    listed = {
        one["UID"]: one["Views"] for one in sharing.call("GET", f"/albums/{sharing.album}/links", sharing.token).json
    }
    assert listed[link["UID"]] == 1
    assert visitor.open("/").status_code == 303


@pytest.mark.parametrize("role", ["guest", "admin"])
def test_a_session_of_an_account_in_the_cookie_of_a_link_is_no_visit(sharing, visitor, role):
    with sharing.library.session() as session:
        add_user(session, f"a{role}", role, password_hash=HASH)
    session = sharing.session_of(f"a{role}")
    path = f"/s/{make(sharing, CanUpload=True)['Token']}"
    cookie = visitor.open(path).headers["Set-Cookie"].partition("=")[0]
    headers = {**OWN, "Origin": "https://photos.example.org", "Cookie": f"{cookie}={session}"}
    stranger = sharing.library.app.test_client(use_cookies=False)

    def ask(rest, method="GET", **sent):
        return stranger.open(path + rest, method=method, base_url=visitor.base, headers=headers, **sent)

    assert len(pictures(ask(""))) == 120
    files = {"files": (BytesIO(b"x"), "a.jpg")}
    for answer in (
        ask(f"/picture/{sharing.photos[0]}"),
        ask("/pictures.zip"),
        ask("/pictures/add", "POST", data=files, content_type="multipart/form-data"),
    ):
        assert (answer.status_code, answer.headers["Location"]) == (303, path)


def visits_of(api, link):
    listed = api.call("GET", f"/albums/{api.album}/links", api.token).json
    return next(one["Views"] for one in listed if one["UID"] == link["UID"])


def preview(api, link):
    """Fetch the page of a link as messengers do, without cookies."""
    path = f"/s/{link['Token']}/{link['Slug']}"
    return [Browser(api).open(path, method=method).status_code for method in ("HEAD", "GET", "GET")]


def test_a_preview_uses_up_no_visit_and_a_press_of_the_button_uses_up_one(sharing, visitor):
    link = make(sharing, MaxViews=1)
    path = f"/s/{link['Token']}/{link['Slug']}"
    assert preview(sharing, link) == [200, 200, 200]
    asked = visitor.open(path)
    assert (asked.status_code, pictures(asked), "Set-Cookie" in asked.headers) == (200, [], False)
    assert "Shared pictures This link opens a limited number of times. Show the pictures" in text_of(asked)
    assert visits_of(sharing, link) == 0
    for _ in range(2):
        sent = visitor.send(path, {})
        assert (sent.status_code, sent.headers["Location"]) == (303, path)
        assert len(pictures(visitor.open(path))) == 120
    assert visits_of(sharing, link) == 1
    other = Browser(sharing)
    assert [other.open(path).status_code, other.send(path, {}).status_code] == [404, 404]


def test_a_visit_without_a_limit_counts_once_its_browser_comes_back(sharing, visitor):
    link = make(sharing)
    assert preview(sharing, link) == [200, 200, 200]
    shown = pictures(visitor.open(f"/s/{link['Token']}"))
    assert (len(shown), visits_of(sharing, link)) == (120, 0)
    for address, _ in shown[:2]:
        assert visitor.open(address).status_code == 200
        assert visits_of(sharing, link) == 1


def test_a_password_is_asked_for_without_telling_what_is_behind_it(sharing, visitor):
    link = make(sharing, Password="open sesame")
    path = f"/s/{link['Token']}"
    asked = visitor.open(path)
    assert (asked.status_code, "Summer" in asked.text, "Set-Cookie" in asked.headers) == (200, False, False)
    assert visitor.open(f"{path}/picture/{sharing.photos[0]}").headers["Location"].endswith(path)
    wrong = visitor.send(path, {"password": "wrong"})
    assert (wrong.status_code, "Wrong password." in wrong.text, "Summer" in wrong.text) == (400, True, False)
    right = visitor.send(path, {"password": "open sesame"})
    assert (right.status_code, right.headers["Location"]) == (303, path)
    assert len(pictures(visitor.open(path))) == 120
    for _ in range(10):
        last = visitor.send(path, {"password": "wrong"})
    assert (last.status_code, int(last.headers["Retry-After"]) > 0) == (429, True)


def test_unknown_and_ended_links_look_the_same(sharing, visitor):
    link = make(sharing)
    assert visitor.open(f"/s/{link['Token']}").status_code == 200
    assert sharing.call("DELETE", f"/albums/{sharing.album}/links/{link['UID']}", sharing.token).status_code == 200
    ended, unknown = visitor.open(f"/s/{link['Token']}"), visitor.open("/s/" + "0" * 26)
    assert ended.status_code == unknown.status_code == 404
    assert text_of(ended) == text_of(unknown)
    assert "The link does not exist, or has ended" in text_of(ended)
    assert "/sign-in" not in ended.text
    for path in (
        "/s/x",
        "/s/%00",
        "/s/" + "a" * 3000,
        f"/s/{link['Token']}/picture/x",
        f"/s/{link['Token']}/pictures.zip",
    ):
        assert visitor.open(path).status_code == 404, path


def test_everything_is_downloaded_as_one_archive_if_the_link_allows_it(sharing, visitor):
    path = f"/s/{make(sharing, CanDownload=True, ShowMetadata=True)['Token']}"
    page = visitor.open(path)
    assert f'href="{path}/pictures.zip"' in page.text
    moved = visitor.open(f"{path}/pictures.zip")
    assert moved.status_code == 303
    archive = visitor.open(moved.headers["Location"], buffered=True)
    assert len(zipfile.ZipFile(BytesIO(archive.data)).namelist()) == 124
    one = visitor.open(pictures(page)[0][0])
    original = re.search(rf'href="({path}/original/[^"]+)" download', one.text)[1]
    assert b"Maplecam" in visitor.open(visitor.open(original).headers["Location"], buffered=True).data
    some = {"photo": [uid.rpartition("/")[2] for uid, _ in pictures(page)[:3]] + [sharing.photos[-1]]}
    chosen = visitor.open(visitor.send(f"{path}/pictures.zip", some).headers["Location"], buffered=True)
    assert len(zipfile.ZipFile(BytesIO(chosen.data)).namelist()) == 3
    assert visitor.send(f"{path}/pictures.zip", {"photo": sharing.photos[-1]}).status_code == 404
    assert visitor.send(f"{path}/pictures.zip", {}).headers["Location"] == path
    bare = f"/s/{make(sharing)['Token']}"
    visitor.open(bare)
    known = pictures(page)[0][0].rpartition("/")[2]
    for answer in (
        visitor.open(f"{bare}/pictures.zip"),
        visitor.send(f"{bare}/pictures.zip", {"photo": known}),
        visitor.open(original.replace(path, bare)),
    ):
        assert answer.headers["Location"] == bare


def test_the_size_of_the_archive_stands_beside_its_link(sharing, visitor, monkeypatch):
    path = f"/s/{make(sharing, CanDownload=True, ShowMetadata=True)['Token']}"
    sizes = (file.stat().st_size for file in (sharing.library.originals / "beach").iterdir())
    outside = (sharing.library.originals / "beach" / "wave124.jpg").stat().st_size
    assert "Download ·" not in text_of(visitor.open(path))
    monkeypatch.setattr("photosvc.pages.shared.pictures._TOLD", 1)
    assert f"Download · {size_text(sum(sizes) - outside)}" in text_of(visitor.open(path))
    monkeypatch.setattr("photosvc.pages.shared.pictures._MIB", 1)  # more than the largest archive
    assert "Download" not in text_of(visitor.open(path))


def card_of(answer):
    """The properties by which messengers and other programs show a page."""
    found = re.findall(r'<meta (?:property|name)="((?:og|twitter):\w+)" content="([^"]*)">', answer.text)
    return {name: value.replace("&amp;", "&") for name, value in found}


def test_the_card_of_a_link_shows_title_and_cover_as_long_as_the_link_lives(sharing):
    link = make(sharing)
    fetched = Browser(sharing, base="https://photos.example.org").open(f"/s/{link['Token']}/summer")
    card = card_of(fetched)
    cover = card.pop("og:image")
    assert card == {
        "og:type": "website",
        "og:title": "Summer",
        "og:description": "By the sea.",
        "twitter:card": "summary_large_image",
    }
    assert cover.startswith("https://photos.example.org/api/v1/t/")
    without_cookie = Browser(sharing, base="https://photos.example.org")
    path = cover.removeprefix("https://photos.example.org")
    picture = without_cookie.open(path, buffered=True)
    assert (picture.status_code, picture.mimetype, b"Maplecam" in picture.data) == (200, "image/jpeg", False)
    sharing.call("DELETE", f"/albums/{sharing.album}/links/{link['UID']}", sharing.token)
    assert without_cookie.open(path).status_code == 403


def test_a_link_with_a_password_has_no_card(sharing, visitor):
    path = f"/s/{make(sharing, Password='open sesame')['Token']}"
    assert card_of(visitor.open(path)) == {}
    assert visitor.send(path, {"password": "open sesame"}).status_code == 303
    shown = visitor.open(path)
    assert (len(pictures(shown)), card_of(shown)) == (120, {})


def links_page(api, browser, **form):
    return browser.send(f"/albums/{api.album}/links", {"lifetime": "2592000", "shows": "pictures", **form})


@pytest.fixture
def owner(sharing):
    browser = Browser(sharing, base="https://photos.example.org")
    assert browser.sign_in().status_code == 303
    return browser


def test_an_owner_makes_a_link_and_sees_its_visits(sharing, owner, visitor):
    assert f'href="/albums/{sharing.album}/links"' in owner.open(f"/albums/{sharing.album}").text
    made = links_page(sharing, owner, comment="\x1b For\x07 Ada\x00", visits="7", password="open sesame")
    address = re.search(r'value="https://photos\.example\.org(/s/[0-9a-z]{26}/summer)"', made.text)[1]
    assert "<svg" in made.text
    assert made.headers["Cache-Control"] == "no-store"
    assert visitor.send(address, {"password": "open sesame"}).status_code == 303
    shown = owner.open(f"/albums/{sharing.album}/links")
    assert f'value="https://photos.example.org{address}" readonly' in shown.text  # to copy it again
    entry = next(part for part in shown.text.split("<li>") if "For Ada" in part)
    assert "1 of 7 visits, the last" in " ".join(re.sub("<[^>]*>", "", entry).split())
    uid = re.search(r"/links/(s[0-9a-z]{15})/end", entry)[1]
    assert (
        owner.send(f"/albums/{sharing.album}/links/{uid}/change", {"lifetime": "0", "without": "yes"}).status_code
        == 303
    )
    (stored,) = (
        one for one in sharing.call("GET", f"/albums/{sharing.album}/links", sharing.token).json if one["UID"] == uid
    )
    assert (stored["Expires"], stored["VerifyPassword"], stored["MaxViews"]) == (0, False, 7)
    ended = owner.send(f"/albums/{sharing.album}/links/{uid}/end", {})
    assert (ended.status_code, ended.headers["Location"].endswith("?done=ended")) == (303, True)
    assert visitor.open(address).status_code == 404


def test_a_wrong_value_in_the_form_is_named_and_makes_no_link(sharing, owner):
    before = len(sharing.call("GET", f"/albums/{sharing.album}/links", sharing.token).json)
    for form in ({"lifetime": "-7"}, {"visits": "many"}, {"password": "abc"}):
        answer = links_page(sharing, owner, **form)
        assert (answer.status_code, 'role="alert"' in answer.text) == (400, True), form
    assert len(sharing.call("GET", f"/albums/{sharing.album}/links", sharing.token).json) == before


def test_viewers_and_other_albums_have_no_links(sharing, owner):
    vera = Browser(sharing, base="https://photos.example.org")
    vera.sign_in("vera")
    assert "/links" not in vera.open(f"/albums/{sharing.album}").text
    assert vera.open(f"/albums/{sharing.album}/links").status_code == 403
    folder = sharing.call("GET", "/albums?type=folder", sharing.token).json[0]["UID"]
    assert owner.open(f"/albums/{folder}/links").status_code == 409
    assert owner.open("/albums/atb7yo0000000000/links").status_code == 404
