"""No answer has headers above 4 KiB, which is what nginx reads with stock buffers; and none redirects."""

import random
import string

import pytest

from photosvc.media.metadata import Metadata
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import new_extraction, store_extractions
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg

MOST = 4096


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


@pytest.mark.parametrize("path", ["//api/v1/photos", "/api//v1/photos", "/api/v1//photos", "/.well-known//jwks.json"])
def test_doubled_slashes_are_not_found_instead_of_redirected(api, path):
    answer = api.library.app.test_client().get(path, headers={"Host": "evil.example.org"})
    assert (answer.status_code, "Location" in answer.headers) == (404, False)


def letters(number, alphabet):
    return "".join(random.Random(number).choices(alphabet, k=number))


TEXTS = {
    "quotes": '"' * 1000,
    "printable": letters(1000, string.printable[:94].replace("/", "")),
    "letters of three bytes": letters(333, [chr(code) for code in range(0x4E00, 0x9F00)]),
}


@pytest.fixture(params=TEXTS)
def long_names(request, tmp_path):
    """A library of three files whose titles and names are as long as they may be."""
    text = TEXTS[request.param]
    library = open_library(tmp_path)
    with library.session() as session:
        files = [
            (f"{text}/{number}.{kind}", new_extraction(number, metadata=Metadata(title=text[:200])))
            for number, kind in enumerate(("jpg", "png", "gif"))
        ]
        store_extractions(session, files, NOW)
    yield library
    library.close()


@pytest.mark.parametrize("order", ["title", "name", "added", "random"])
def test_pages_continue_by_their_cursor_header_with_any_titles_and_names(long_names, order):
    found, query = [], {"count": 1, "order": order, "q": "-" + "z" * 3000}
    while query is not None:
        answer = long_names.get(query)
        assert answer.status_code == 200, answer.text
        assert size(answer) <= MOST
        assert "Link" not in answer.headers or len(answer.headers["Link"]) <= 2048
        found += [record["FileUID"] for record in answer.json]
        cursor = answer.headers.get("X-Cursor")
        query = {**query, "cursor": cursor} if cursor else None
    assert len(found) == len(set(found)) == 3


def test_a_short_address_is_in_a_link_with_the_same_cursor(api):
    answer = api.library.get({"count": 1})
    assert answer.headers["Link"].partition("cursor=")[2] == answer.headers["X-Cursor"] + '>; rel="next"'
    assert "X-Cursor" not in api.library.get({"count": 100}).headers


def test_the_metadata_of_an_upload_are_repeated_or_refused(api):
    token = api.session_of("ann")

    def begin(length):
        described = "filename " + "YWFh" * (length // 4)
        headers = {"Tus-Resumable": "1.0.0", "Upload-Length": "1000", "Upload-Metadata": described}
        return api.call("POST", "/uploads", token, headers=headers)

    assert check_error(begin(2044), 400)["details"] == [
        {"field": "Upload-Metadata", "message": "Upload-Metadata: send at most 2,048 characters"}
    ]
    begun = begin(2036)
    assert begun.status_code == 201
    measured = api.call(
        "HEAD", begun.headers["Location"].removeprefix("/api/v1"), token, headers={"Tus-Resumable": "1.0.0"}
    )
    assert len(measured.headers["Upload-Metadata"]) == 2045
    assert size(measured) <= MOST
