"""Headers of the answers to long input, on every route."""

from urllib.parse import quote, urlencode

import pytest

from photosvc.pages import BLUEPRINT as PAGES
from tests.helpers.api_client import open_api
from tests.helpers.pictures import exif, jpeg

MOST = 4096
LONG = {
    "bytes": "é日" * 700,
    "slashes": "a//" * 2000,
    "query": "count=1&q=" + "a+" * 3000,
}
ENCODED = {
    kind: text if kind == "query" else urlencode(dict.fromkeys(("q", "name", "t", "cursor"), text))
    for kind, text in LONG.items()
}


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("headers")) as api:
        for number in range(3):
            api.library.put(f"{number}.jpg", jpeg(64 + number, 48, exif=exif({}, {})))
        api.library.index()
        yield api


def size(answer):
    """Bytes of the head of an answer, as a server sends it."""
    lines = [f"HTTP/1.1 {answer.status}", *(f"{name}: {value}" for name, value in answer.headers), "", ""]
    return len("\r\n".join(lines).encode("latin-1")) + len("Server: nginx\r\nDate: Sun, 22 Nov 2026 06:31:12 GMT\r\n")


def test_no_answer_of_any_route_to_long_input_has_long_headers_or_a_redirect(api):
    """A page may lead to another one."""
    rules = list(api.library.app.url_map.iter_rules())
    token = api.session_of("ann")
    longest = 0
    for rule in rules:
        for kind, text in LONG.items():
            path = rule.rule
            for name in rule.arguments:
                start, end = path.index("<"), path.index(">") + 1
                path = path[:start] + quote(text[:2000] if kind != "query" else name, safe="/") + path[end:]
            if kind == "slashes" and not rule.arguments:
                path += "//" + text
            for method in sorted(rule.methods - {"HEAD"}) if kind == "bytes" else ("GET",):
                answer = api.library.app.test_client().open(
                    path,
                    method=method,
                    query_string=ENCODED[kind],
                    headers={"X-Auth-Token": token, "Upload-Metadata": text[:8000].encode().decode("latin-1")},
                    buffered=True,
                )
                assert answer.status_code < 500 or answer.status_code == 501, (method, path[:80], answer.status)
                redirects = {303, 304} if rule.endpoint.startswith(PAGES) else {304}
                assert answer.status_code // 100 != 3 or answer.status_code in redirects, (method, path[:80])
                assert size(answer) <= MOST, (method, path[:80], answer.headers)
                longest = max(longest, size(answer))
    assert len(rules) > 80
    assert longest < 1500
