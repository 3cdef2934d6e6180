"""Headers of the answers to long input, on every route."""

from urllib.parse import quote, urlencode

from photosvc.pages import BLUEPRINT as PAGES
from tests.app.serving import test_header_sizes as everyday
from tests.app.serving.test_header_sizes import MOST, size

api = everyday.api

LONG = {
    "bytes": "é日" * 700,
    "slashes": "a//" * 2000,
    "query": "count=1&q=" + "a+" * 3000,
}
ENCODED = {
    kind: text if kind == "query" else urlencode(dict.fromkeys(("q", "name", "t", "cursor"), text))
    for kind, text in LONG.items()
}


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
