"""Names over WebDAV that lead out of the originals or that no file can have."""

from urllib.parse import quote

import pytest

from tests.app.dav.hostile_dav_client import METHODS, is_untouched, prepare, send
from tests.helpers.api_client import open_api
from tests.helpers.library import hashes

OUT = [
    "..",
    "%2e%2e",
    "%2E.",
    "..%2f..",
    "%252e%252e",
    "%c0%ae%c0%ae",
    "..%5c",
    "..;",
    "....",
    "．．",
    "%EF%BC%8E%EF%BC%8E",
    "%00",
    "a%00/..",
    "link",
    "link/..",
    "folder/../..",
    "./..",
    "//",
    "/%2f",
    "~",
    "C:",
    "%FF..",
]
NAMES = [
    *[f"/{step}/outside/secret.jpg" for step in OUT],
    *[f"/{step}/{step}/etc/passwd" for step in OUT],
    "/link",
    "/link/",
    "/link/secret.jpg",
    "/link/new.jpg",
    "/file-link.jpg",
    "/file-link.jpg/",
    "/loop/loop/x.jpg",
    "/.photosvc",
    "/.photosvc/x",
    "/.photosvc/trash",
    "/folder/.photosvc/x.jpg",
    "/%2ephotosvc/x",
    "/fifo",
    "/fifo/x",
    "/" + "n" * 255,
    "/" + "n" * 256,
    "/" + "n" * 300,
    "/" + "é" * 128,
    "/" + "d/" * 1500,
    "/%ff%fe.jpg",
    "/a%0d%0ab",
    "/a%0a",
    "/\x7f",
    "/%e2%80%ae",
    "/a?b=c",
    "/a#b",
    "/;x=y",
    "/*",
    "*",
    "",
    "/",
    "/.",
    "/..",
    "/...",
    "/ ",
    "/%20",
    "/a%2fb",
    "/one.jpg/",
    "/one.jpg/x",
    "/CON",
    "/aux.jpg",
    "/a.",
    "/folder",
    "/folder/",
    "/FOLDER/",
    "/one.JPG",
    "/" + "%25" * 100 + "2e",
]


@pytest.fixture
def dav(tmp_path):
    with open_api(tmp_path) as api:
        yield prepare(api)


def attack(dav, names):
    before = is_untouched(dav)
    for name in names:
        for method in METHODS:
            send(dav, method, name, target="http://localhost/originals/target.jpg")
        for method in ("COPY", "MOVE"):
            for overwrite in "TF":
                address = name if name.startswith("http") else f"/originals{name}"
                target = address.encode().decode("latin-1")
                send(dav, method, "/one.jpg", target=target, headers={"Overwrite": overwrite})
                send(dav, method, "/folder/", target=target, headers={"Overwrite": overwrite})
                is_untouched(dav)
        assert is_untouched(dav) == before, name


@pytest.mark.slow
def test_some_names_that_lead_out_are_harmless(dav):
    attack(
        dav, ["/../outside/secret.jpg", "/link/secret.jpg", "/file-link.jpg", "/.photosvc/x", "/%00", "/" + "n" * 300]
    )


@pytest.mark.slow
def test_no_name_leads_out_or_breaks_the_service(dav):
    attack(dav, NAMES)


TARGETS = [
    "http://evil.example/originals/a.jpg",
    "//evil.example/originals/a.jpg",
    "ftp://localhost/originals/a.jpg",
    "http://localhost@evil.example/originals/a.jpg",
    "http://localhost/api/v1/a",
    "/api/v1/a",
    "/originals2/a",
    "a.jpg",
    "http://localhost/originals/../a",
    "http://localhost:1/originals/a",
    "https://localhost.evil.example/originals/a",
    "",
    " ",
    "\x00",
    "http://[::1",
    "http:///originals/a",
    "javascript:alert(1)",
]


@pytest.mark.slow
def test_a_target_elsewhere_is_refused(dav):
    for target in TARGETS:
        for method in ("COPY", "MOVE"):
            assert send(dav, method, "/one.jpg", target=target).status_code in {400, 502}, target
    assert [path.name for path in dav.originals.iterdir() if path.is_file() and not path.is_symlink()] == ["one.jpg"]


@pytest.mark.slow
def test_a_folder_that_becomes_a_link_leads_nowhere(dav):
    """Each request looks for its file again: a link that was swapped in between two of them does not exist."""
    (dav.originals / "folder").rename(dav.originals / "moved")
    (dav.originals / "folder").symlink_to(dav.outside)
    before = hashes(dav.outside)
    for method in METHODS:
        for name in ("/folder/secret.jpg", "/folder/new.jpg", "/folder/", "/folder"):
            answer = send(dav, method, name, target=f"/originals/{quote('t.jpg')}")
            refused = {403, 404, 405, 409} | ({400} if method == "UNLOCK" else set())  # there is no token
            assert answer.status_code in refused or method == "OPTIONS", (method, name, answer.status)
    assert hashes(dav.outside) == before


def test_an_address_with_a_fragment_is_refused(dav):
    overridden = {"RAW_URI": "/originals/folder/#two.jpg"}
    assert dav.call("DELETE", "/folder/", environ_overrides=overridden).status_code == 400
    assert (dav.originals / "folder/two.jpg").is_file()
