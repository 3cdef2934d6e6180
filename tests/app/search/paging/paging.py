"""Clients that page through GET /photos, by offset or by the links of cursors."""

from itertools import count
from urllib.parse import parse_qs, urlsplit

MOST_PAGES = 1000


def by_offset(library, asked, *, step=None, to_empty=False):
    """Yield the answers to a client that raises `offset` by `step`, else by `X-Count`, until a page is not full.

    Args:
        to_empty: go on until a page is empty.
    """
    offset = 0
    for pages in count(1):
        assert pages <= MOST_PAGES
        answer = library.get({**asked, "offset": offset})
        assert answer.status_code == 200, answer.text
        assert answer.headers["X-Offset"] == str(offset)
        yield answer
        given, limit = (int(answer.headers[name]) for name in ("X-Count", "X-Limit"))
        if not given or (given != limit and not to_empty):
            return
        offset += step or given


def by_cursor(library, asked):
    """Yield the answers to a client that follows the links."""
    so_far = 0
    for pages in count(1):
        assert pages <= MOST_PAGES
        answer = library.get(asked)
        assert answer.status_code == 200, answer.text
        assert answer.headers["X-Offset"] == str(so_far)
        yield answer
        if "Link" not in answer.headers:
            return
        so_far += int(answer.headers["X-Count"])
        asked = next_query(answer)


def next_query(answer):
    """Return the parameters of the link to the next page."""
    url, _, rel = answer.headers["Link"].partition("; ")
    assert rel == 'rel="next"'
    parts = urlsplit(url.strip("<>"))
    assert (parts.scheme, parts.netloc, parts.path) == ("", "", "/api/v1/photos")
    return {name: value for name, (value,) in parse_qs(parts.query, strict_parsing=True).items()}
