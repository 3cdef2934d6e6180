"""Visitors of public links: every route, page and folder shows them the photos of their link and no more.

The walk takes its routes from the app, so that a new route is tried by itself. The table of routes that are open to
visitors is written by hand.
"""

from base64 import urlsafe_b64encode
from datetime import UTC, datetime
from io import BytesIO
from itertools import product

import orjson
import pytest
from PIL import Image

from photosvc.dav.blueprint import BLUEPRINT as WEBDAV
from photosvc.pages import BLUEPRINT as PAGES
from photosvc.web.contract import VISITORS
from tests.app.access.sharing import (
    FULL,
    OUTSIDE,
    TOLD,
    check_left_out,
    filled,
    name_of,
    refuses_to_tell,
    routes,
    send,
    values_of,
    walk,
)
from tests.helpers.api_client import check_error

#: The routes that are open to visitors, with the answer for the inside of their link, and for the outside.
OPEN = {
    "GET /photos": (200, 404),
    "GET /photos/view": (200, 404),
    "GET /t/<content_hash>/<token>/<size>": (200, 404),
    "GET /videos/<content_hash>/<token>/<video_format>": (404, 404),
    "GET /dl/<content_hash>": (200, 404),
    "GET /photos/<photo_uid>/dl": (200, 404),
    "GET /albums/<album_uid>": (200, 404),
    "GET /albums/<album_uid>/dl": (200, 404),
    "POST /zip": (200, 404),
    "GET /zip/<name>": (404, 404),
    **{f"{method} /{name}": (200, 200) for method, name in product(("GET", "DELETE"), ("session", "sessions"))},
    **{
        f"{method} /{name}/<session_id>": (403, 403)
        for method, name in product(("GET", "DELETE"), ("session", "sessions"))
    },
    "POST /shared/<album_uid>/photos": (403, 403),  # unless the link takes files
    "GET /config": (200, 200),
    "GET /credential": (403, 403),
    "GET /": (303, 303),
    "GET /sign-in": (303, 303),
    "POST /sign-in": (403, 403),
    "POST /sign-out": (403, 403),
}
#: Routes for guests, which show no photos.
FOR_GUESTS = {"GET /credential", "GET /", "GET /sign-in", "POST /sign-in", "POST /sign-out"}


@pytest.mark.parametrize("rights", [{}, FULL], ids=["pictures only", "all rights"])
def test_no_route_shows_a_visitor_anything_outside_of_the_link(shared, rights):
    hidden = {*shared.identifiers(shared.outside), *OUTSIDE, shared.other, "Smart pictures"}
    walk(shared, shared.visit(**rights), hidden if rights else hidden | {*TOLD})


def test_the_table_lists_the_routes_that_are_open_to_visitors(shared):
    app = shared.api.library.app
    marked = {name_of(method, rule) for method, rule, view in routes(app) if getattr(view, VISITORS, False)}
    assert marked == set(OPEN)


def test_pages_and_folders_do_not_know_visitors(shared):
    visitor = shared.visit(**FULL)
    values = values_of(shared, shared.album, shared.photos["insidefile0"], "x")
    words = {*TOLD, *OUTSIDE, *shared.identifiers(shared.photos)}
    for prefix in (PAGES, WEBDAV):
        rules = [rule for rule in shared.api.library.app.url_map.iter_rules() if rule.endpoint.startswith(prefix)]
        paths = [filled(rule, values) for rule in rules if "GET" in rule.methods]
        assert paths
        for path in paths:
            refuses_to_tell(send(shared, "GET", path, visitor), words, path)


def test_open_routes_show_the_inside_and_refuse_the_outside(shared):
    rules = {rule.rule: rule for rule in shared.api.library.app.url_map.iter_rules()}
    visitor = shared.visit(**FULL)
    token = send(shared, "GET", "/api/v1/photos", visitor).headers["X-Preview-Token"]
    tried = [route for route in OPEN if "session" not in route and route not in FOR_GUESTS]
    for route, side in product(tried, (0, 1)):
        method, _, name = route.partition(" ")
        rule = rules[f"/api/v1{name}"]
        album, name = ((shared.album, "insidefile0"), (shared.other, "outsidefile0"))[side]
        photo = shared.photos[name]
        body = {"photos": [photo["UID"]]} if method == "POST" else None
        query = f"?s={album}" if not rule.arguments and method == "GET" else ""
        path = filled(rule, values_of(shared, album, photo, token))
        answer = send(shared, method, path, visitor, body=body, query=query)
        assert answer.status_code == OPEN[route][side], (route, name, answer.text)


def test_private_archived_and_hidden_photos_of_the_album_are_left_out_by_every_way(shared):
    for album in (shared.album, shared.smart):
        check_left_out(shared, shared.visit(album, **FULL), album)


# fmt: off
#: Words and filters that tell more than the pictures.
TELLING = [
    "q=Insidetitle", "q=person:Ada*", "q=camera:Maplecam", "q=near:ptb7yo0000000000", "q=similar:ptb7yo0000000000",
    "q=album:Otheralbum", "q=-Insidetitle", "q=year:2021 (country:de | video:true)", "country=de", "path=inside*",
    "filter=name:inside*", "archived=true", "private=true", "hidden=true", "error=true", "q=is:location",
    "q=keywords:fern", "title=x", "geo=true", "q=faces:1", "unsorted=true", "q=hash:0", "q=uid:x", "quality=1",
    "q=favorite:true", "q=rating:3", "q=added:2020", "q=lat:52 lng:13 dist:3",
]
# fmt: on


def test_visitors_cannot_ask_by_words_or_by_filters_that_tell_more_than_the_pictures(shared):
    visitor = shared.visit(**FULL)
    for path, query in product(("/photos", "/photos/view"), TELLING):
        answer = send(shared, "GET", f"/api/v1{path}", visitor, query=f"?{query}")
        assert answer.status_code in {400, 403}, (path, query, answer.text)


def test_visitors_filter_by_kind_shape_and_date(shared):
    visitor = shared.visit()
    for query, count in (("taken=2021-07-01", 1), ("q=year:2021 image:true", 2), ("video=true", 0), ("q=june 2019", 0)):
        answer = send(shared, "GET", "/api/v1/photos", visitor, query=f"?{query}")
        assert (answer.status_code, answer.headers["X-Count"]) == (200, str(count)), query


def test_orders_that_tell_more_than_the_pictures_are_refused_and_bare_pages_have_no_cursor(shared):
    visitor = shared.visit()
    for order in ("name", "title", "place", "similar", "relevance", "size", "edited", "-name"):
        check_error(send(shared, "GET", "/api/v1/photos", visitor, query=f"?order={order}"), 400)
    page = send(shared, "GET", "/api/v1/photos?count=1&order=newest", visitor)
    assert (page.headers["X-Count"], "X-Cursor" in page.headers, "Link" in page.headers) == ("1", False, False)
    assert "X-Cursor" in send(shared, "GET", "/api/v1/photos?count=1&order=newest", shared.visit(**FULL)).headers


def test_the_work_for_a_hash_does_not_tell_whether_the_library_has_the_file(shared):
    visitor = shared.visit(**FULL)
    token = send(shared, "GET", "/api/v1/photos", visitor).headers["X-Preview-Token"]

    def work(path, content_hash):
        with shared.api.library.statements() as statements:
            answer = send(shared, "GET", f"/api/v1{path.format(content_hash, token)}", visitor)
        return answer.status_code, answer.json, statements

    for path in ("/t/{}/{}/tile_224", "/videos/{}/{}/avc", "/dl/{}?{}"):
        unknown = work(path, "ab" * 20)
        assert (unknown[0], len(unknown[2]) > 1) == (404, True), path
        assert work(path, shared.photos["outsidefile0"]["Hash"]) == unknown, path
        assert work(path, shared.photos["insidefile2"]["Hash"]) == unknown, path  # private


def test_made_up_cursors_do_not_find_the_time_in_utc(shared):
    def since(path, visitor, moment):
        made_up = urlsafe_b64encode(orjson.dumps(["oldest", 0, 0, moment, 0])).rstrip(b"=").decode()
        return send(shared, "GET", f"/api/v1{path}?cursor={made_up}", visitor)

    noon = int(datetime(2021, 7, 1, 12, tzinfo=UTC).timestamp() * 1_000_000)
    for path in ("/photos", "/photos/view"):
        check_error(since(path, shared.visit(), noon), 400)
        assert since(path, shared.visit(**FULL), noon).headers["X-Count"] == "1", path


def test_without_the_right_to_metadata_records_tell_nothing_but_the_picture(shared):
    bare, full = (send(shared, "GET", "/api/v1/photos?merged=true", shared.visit(**v)) for v in ({}, FULL))
    for word in TOLD:
        assert word not in bare.text, word
    assert "Maplecam" in full.text
    assert "insidefile0" in full.text
    (one, *_), (other, *_) = bare.json, full.json
    assert one.keys() | {"Faces", "Altitude"} == other.keys() | {"Faces", "Altitude"}
    assert (one["Lat"], one["PlaceCity"], one["Files"][0]["Markers"]) == (0, "", [])
    assert other["Lat"] > 52
    assert bare.headers["ETag"] != full.headers["ETag"]


def test_without_the_right_to_metadata_each_link_has_ids_and_times_of_its_own(shared):
    """The ids and times of the library tell how many photos it has, and when each was indexed."""
    path, inside = "/api/v1/photos?merged=true", [shared.photos[name] for name in shared.inside]
    visit = shared.visit()
    first, again, other = (send(shared, "GET", path, one).json for one in (visit, visit, shared.visit()))
    files = [photo["Files"][0] for photo in first]
    assert first == again
    for name in ("ID", "UID", "FileUID"):
        ids = [{photo[name] for photo in photos} for photos in (inside, first, other)]
        assert len(set.union(*ids)) == 6, name
    assert [(photo["FileUID"], photo["UID"]) for photo in first] == [(one["UID"], one["PhotoUID"]) for one in files]
    assert send(shared, "GET", "/api/v1/photos/view", visit).json[0]["UID"] == first[0]["UID"]
    album = send(shared, "GET", f"/api/v1/albums/{shared.album}", visit).json
    times = {one[name] for one in (*first, *files, album) for name in ("CreatedAt", "UpdatedAt")}
    assert (times, album["ID"]) == ({"0001-01-01T00:00:00Z"}, 0)


def test_tags_do_not_show_changes_of_unshared_photos(shared):
    visit, paths = shared.visit(), ("/api/v1/photos?merged=true", f"/api/v1/albums/{shared.album}")
    before = [send(shared, "GET", path, visit).headers["ETag"] for path in paths]
    for name, title in (("outsidefile1", "Outsidetitle again"), ("outsidefile1", "Outsidetitle")):
        shared.api.call("PUT", f"/photos/{shared.photos[name]['UID']}", shared.token, json={"Title": title})
    assert [send(shared, "GET", path, visit).headers["ETag"] for path in paths] == before
    for path, tag in zip(paths, before, strict=True):
        known = {"Authorization": f"Bearer {visit}", "If-None-Match": tag}
        assert shared.api.call("GET", path.removeprefix("/api/v1"), headers=known).status_code == 304


def test_a_cached_page_of_one_link_is_not_sent_to_the_visitor_of_another(shared):
    everybody = shared.api.call("GET", "/photos?count=99", shared.token)
    for rights, album in product(({}, FULL), (shared.album, shared.other)):
        visitor = shared.visit(album, **rights)
        for _ in range(2):
            answer = send(shared, "GET", "/api/v1/photos?count=99", visitor)
            assert 1 <= len(answer.json) <= 2
            assert all(bool(photo["FileName"]) == bool(rights) for photo in answer.json)
        stale = {"Authorization": f"Bearer {visitor}", "If-None-Match": everybody.headers["ETag"]}
        assert shared.api.call("GET", "/photos?count=99", headers=stale).status_code == 200


def test_pictures_without_metadata_contain_none(shared):
    visitor, photo = shared.visit(), shared.photos["insidefile0"]
    token = send(shared, "GET", "/api/v1/photos", visitor).headers["X-Preview-Token"]
    for size in ("tile_224", "fit_720", "fit_7680"):
        answer = send(shared, "GET", f"/api/v1/t/{photo['Hash']}/{token}/{size}", visitor)
        opened = Image.open(BytesIO(answer.data))
        assert b"Maplecam" not in answer.data
        assert not opened.getexif()
    check_error(send(shared, "GET", f"/api/v1/dl/{photo['Hash']}", visitor), 403)
    check_error(send(shared, "GET", f"/api/v1/albums/{shared.album}/dl", visitor), 403)
    assert "X-Download-Token" not in send(shared, "GET", "/api/v1/photos", visitor).headers
    assert {one["DownloadUrl"] for one in send(shared, "GET", "/api/v1/photos/view", visitor).json} == {""}
