"""Hostile requests drawn at random, for every page and form and by every role: none is an error of the server."""

import random
import re
from urllib.parse import quote

import pytest

from tests.app.pages.browser import OWN, Browser
from tests.helpers.api_client import ROLES, open_api
from tests.helpers.factories.photos import add_photos
from tests.helpers.pictures import jpeg

#: Requests of each role to each page or form.
EACH = 4
TEXTS = (
    "", "0", "-1", "٣", "9" * 20, "1e999", "NaN", "2026-13-45", "9999-12-31T23:59:60Z", "\0", "a\r\nX-Left: b",
    "\ud800", '"><img src=x onerror=alert(1)>', "{{7*7}}", "../../etc/passwd", "//evil.example", "//[::1", "é" * 40,
    "a" * 1001, "(" * 70, '"' * 300, "*" * 200, "|" * 200, "label:" + "*|" * 100, "nan,nan,nan,nan", "lat:1e400",
    "near:abc", "year:0", "iso:-", "photos write", "3600", "ann", "newest", "yes",
)  # fmt: skip
HEADERS = (
    {}, {}, {"Host": "[::1"}, {"Accept-Encoding": "gzip;q=nan"}, {"If-None-Match": 'W/"x",*'},
    {"Range": "bytes=9-1,--"}, {"If-Modified-Since": "Mon, 99 Foo 99999"}, {"Sec-Fetch-Dest": "image"},
    {"X-HTTP-Method-Override": "DELETE"},
)  # fmt: skip
FIELDS = (
    "q", "page", "done", "from", "to", "event", "user", "before", "after", "kind", "type", "order", "count",
    "photo", "album", "title", "description", "name", "password", "again", "code", "half", "stay", "next", "scope",
    "scopes", "lifetime", "email", "display_name", "role", "limit", "owner", "token_format", "old", "new", "item",
    "folder", "group", "set", "act", "version", "expected", "favorite", "s", "bbox", "zoom", "photo-x", "unsent",
    "archived", "apart",
)  # fmt: skip


@pytest.fixture(scope="module")
def browsers(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("any")) as api:
        api.library.put("one.jpg", jpeg())  # uploads into an empty folder are 503: the disk of known files may be away
        with api.library.session() as session:
            add_photos(session, 5, api.clock())
            session.commit()
        found = [Browser(api)] + [Browser(api) for _ in ROLES]
        for browser, name in zip(found[1:], ROLES, strict=True):
            assert browser.sign_in(name).status_code == 303
        yield found


def pages(app):
    """Path and method of each page and form, but those that end sessions."""
    rules = [rule for rule in app.url_map.iter_rules() if rule.endpoint.startswith("photosvc_pages.")]
    ending = ("/sign-out", "/sessions/end", "/end-others")
    found = [(rule.rule, method) for rule in rules for method in sorted(rule.methods & {"GET", "POST"})]
    return [(path, method) for path, method in found if not path.endswith(ending)]


def request_of(draw, path, method):
    def text():
        return draw.choice(TEXTS).encode("utf-8", "surrogatepass") + draw.choice((b"", b"", b"", b"\xff", b"\xc0\xaf"))

    pairs = [(draw.choice(FIELDS), text()) for _ in range(draw.randrange(6))]
    form = "&".join(f"{name}={quote(value)}" for name, value in pairs)
    address = re.sub("<[^>]*>", lambda _: quote(text(), safe="") or "x", path)
    options = {"headers": {**OWN, "Origin": "http://localhost", **draw.choice(HEADERS)}}
    if options["headers"].get("Host"):  # as from a browser in a home network, which sends no other sign
        del options["headers"]["Sec-Fetch-Site"]
    if method == "GET":
        return f"{address}?{form}"[:6000], options
    if draw.random() < 0.3:
        parts = (f'--cut\r\nContent-Disposition: form-data; name="{name}'.encode() for name, _ in pairs)
        ends = (draw.choice((b'"', b"", b'"; filename="a\\..\\b.jpg"')) + b"\r\n\r\n" + value for _, value in pairs)
        body = b"\r\n".join(map(bytes.__add__, parts, ends)) + b"\r\n--cut--\r\n"
        return address, {**options, "data": body, "content_type": "multipart/form-data; boundary=cut"}
    return address, {**options, "data": form, "content_type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_request_for_a_page_is_an_error_of_the_server(browsers, seed):
    draw, refused = random.Random(seed), {}
    for path, method in pages(browsers[0].api.library.app):
        for browser in browsers:
            for _ in range(EACH):
                address, options = request_of(draw, path, method)
                answer = browser.open(address, method=method, **options)
                if answer.status_code >= 500:
                    refused[method, path] = (answer.status_code, address, options)
                assert "X-Left" not in answer.headers
                assert "<img src=x onerror" not in answer.text
                assert not answer.headers.get("Location", "/").startswith(("//", "http"))
    assert refused == {}
