"""Names with accents, which have two spellings in Unicode: macOS sends the decomposed one, others the composed one."""

import re
import unicodedata
from urllib.parse import quote, unquote

import pytest

from tests.app.dav.dav_client import LOCKINFO, PATCH, DavClient
from tests.helpers.api_client import open_api

NFC, NFD = BOTH = [unicodedata.normalize(form, "Café Zoë") for form in ("NFC", "NFD")]


@pytest.fixture
def dav(tmp_path):
    with open_api(tmp_path) as api:
        yield DavClient(api)


def call(dav, method, path, data=None, *, target=None, **headers):
    if target is not None:
        headers["Destination"] = f"/originals{quote(target)}"
    return dav.call(method, quote(path), data, headers=headers)


def names(dav):
    root = dav.api.library.originals
    return {path.relative_to(root).as_posix() for path in root.rglob("*") if ".photosvc" not in path.parts}


def hrefs(answer):
    return [unquote(href) for href in re.findall("<D:response><D:href>([^<]*)", answer.text)]


def test_a_new_file_or_folder_gets_the_composed_name_and_both_spellings_are_one(dav):
    for asked in BOTH:
        assert call(dav, "MKCOL", f"/{asked}").status_code == (201 if asked == NFC else 405)
        assert call(dav, "PUT", f"/{asked}/{asked}.txt", b"data").status_code == (201 if asked == NFC else 204)
    assert call(dav, "DELETE", f"/{NFD}").status_code == 204
    assert call(dav, "MKCOL", f"/{NFD}").status_code == 201
    assert call(dav, "PUT", f"/{NFD}.txt", b"one").status_code == 201
    assert names(dav) == {NFC, f"{NFC}.txt"}
    assert call(dav, "PUT", f"/{NFC}.txt", b"two").status_code == 204
    assert [call(dav, "GET", f"/{asked}.txt").data for asked in BOTH] == [b"two"] * 2
    assert call(dav, "PUT", f"/{NFD}.txt", b"four", **{"If-None-Match": "*"}).status_code == 412
    assert call(dav, "COPY", f"/{NFD}.txt", target="/a.txt").status_code == 201
    assert call(dav, "MOVE", "/a.txt", target=f"/{NFD}.txt", Overwrite="F").status_code == 412
    assert call(dav, "MOVE", "/a.txt", target=f"/{NFD}.txt").status_code == 204
    assert call(dav, "MOVE", f"/{NFD}.txt", target=f"/{NFC}.txt").status_code == 403
    assert names(dav) == {NFC, f"{NFC}.txt"}
    assert call(dav, "DELETE", f"/{NFD}.txt").status_code == 204
    assert names(dav) == {NFC}


def test_a_file_that_a_program_named_in_either_spelling_is_found_by_both(dav):
    for asked in BOTH:
        dav.api.library.put(f"{asked}/{asked}.txt", b"data")
        for folder in BOTH:
            for name in BOTH:
                assert call(dav, "GET", f"/{folder}/{name}.txt").data == b"data"
        assert call(dav, "PUT", f"/{NFC}/{NFD}.txt", b"more").status_code == 204
        assert names(dav) == {asked, f"{asked}/{asked}.txt"}
        assert call(dav, "DELETE", f"/{NFC}").status_code == 204


def test_of_two_files_that_differ_in_their_spelling_only_the_one_that_was_asked_for_is_meant(dav):
    for name in BOTH:
        dav.api.library.put(f"{name}.txt", name.encode())
    assert [call(dav, "GET", f"/{name}.txt").text for name in BOTH] == BOTH


def test_a_listing_has_the_addresses_that_its_client_asked_for(dav):
    dav.api.library.put(f"{NFC}/a.txt", b"data")
    for asked in BOTH:
        listed = call(dav, "PROPFIND", f"/{asked}/", Depth="1")
        assert hrefs(listed) == [f"/originals/{asked}/", f"/originals/{asked}/a.txt"]
        assert hrefs(call(dav, "PROPPATCH", f"/{asked}/a.txt", PATCH)) == [f"/originals/{asked}/a.txt"]


def test_a_lock_on_one_spelling_holds_for_the_other(dav):
    call(dav, "PUT", f"/{NFC}.txt", b"data")
    token = call(dav, "LOCK", f"/{NFD}.txt", LOCKINFO).headers["Lock-Token"]
    assert call(dav, "PUT", f"/{NFC}.txt", b"more").status_code == 423
    tagged = f"</originals/{quote(NFD)}.txt> ({token})"
    assert call(dav, "PUT", f"/{NFC}.txt", b"more", If=tagged).status_code == 204
    assert call(dav, "UNLOCK", f"/{NFC}.txt", **{"Lock-Token": token}).status_code == 204
