"""Hostile names, headers and bodies over WebDAV: none is a fault, none reaches what lies outside of the originals."""

import os
from urllib.parse import unquote_to_bytes

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import delete

from photosvc.models import DavLock
from tests.app.dav.dav_client import LOCKINFO, METHODS, PATCH, DavClient
from tests.helpers.api_client import open_api
from tests.helpers.examples import examples
from tests.helpers.library import hashes

SECRET = b"SECRET-outside"
INSIDE = {"one.jpg": b"one", "folder/two.jpg": b"two"}
BODIES = {"PUT": b"planted", "PROPPATCH": PATCH, "LOCK": LOCKINFO}


@pytest.fixture(scope="module")
def dav(tmp_path_factory):
    """A client; beside the originals lies a folder that it must not reach."""
    with open_api(tmp_path_factory.mktemp("hostile")) as api:
        dav = DavClient(api)
        dav.originals = api.library.originals
        dav.outside = api.library.instance / "outside"
        dav.outside.mkdir()
        (dav.outside / "secret.jpg").write_bytes(SECRET)
        restore(dav)
        yield dav


def restore(dav):
    """Put back what a request may have changed rightly."""
    for name, data in INSIDE.items():
        path = dav.originals / name
        if path.parent.is_symlink() or path.parent.is_file():
            path.parent.unlink()
        if not path.is_file():
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(data)
    for name, target in (("link", dav.outside), ("file-link.jpg", dav.outside / "secret.jpg"), ("loop", "loop")):
        if not (dav.originals / name).is_symlink():
            (dav.originals / name).symlink_to(target)
    if not (dav.originals / "fifo").exists():
        os.mkfifo(dav.originals / "fifo")


def send(dav, method, path, *, target=None, headers=None, body=None):
    """The answer to a request whose path arrives as a server hands it on: decoded once, as Latin-1."""
    headers = {"Depth": "1" if method == "PROPFIND" else "infinity", **(headers or {})}
    if target is not None:
        headers["Destination"] = target
    before = hashes(dav.outside), sorted(dav.outside.iterdir())
    # A quoted path is decoded by hand: the test client does not pass on what is not UTF-8.
    info = unquote_to_bytes(f"/originals{path.partition('?')[0]}").decode("latin-1")
    body = BODIES.get(method, b"") if body is None else body
    answer = dav.call(method, "/x", body, headers=headers, environ_overrides={"PATH_INFO": info})
    sent = method, path, target, headers
    assert answer.status_code < 500 or answer.status_code in {502, 507}, (sent, answer.text)
    assert SECRET not in answer.data, sent
    assert bytes(dav.originals) not in answer.data, sent
    assert (hashes(dav.outside), sorted(dav.outside.iterdir())) == before, sent
    if method == "LOCK":  # else it refuses all that follows
        with dav.api.library.session() as session:
            session.execute(delete(DavLock))
    restore(dav)
    return answer


OUT = [
    "..", "%2e%2e", "%2E.", "..%2f..", "%252e%252e", "%c0%ae%c0%ae", "..%5c", "..;", "....", "．．",
    "%EF%BC%8E%EF%BC%8E", "%00", "a%00/..", "link", "link/..", "folder/../..", "./..", "//", "/%2f", "~", "C:", "%FF..",
]  # fmt: skip
NAMES = [
    *(f"/{step}/outside/secret.jpg" for step in OUT), *(f"/{step}/{step}/etc/passwd" for step in OUT),
    "/link", "/link/", "/link/secret.jpg", "/link/new.jpg", "/file-link.jpg", "/file-link.jpg/", "/loop/loop/x.jpg",
    "/.photosvc", "/.photosvc/x", "/.photosvc/trash", "/folder/.photosvc/x.jpg", "/%2ephotosvc/x", "/fifo", "/fifo/x",
    "/" + "n" * 255, "/" + "n" * 256, "/" + "n" * 300, "/" + "é" * 128, "/" + "d/" * 1500, "/%ff%fe.jpg", "/a%0d%0ab",
    "/a%0a", "/\x7f", "/%e2%80%ae", "/a?b=c", "/a#b", "/;x=y", "/*", "*", "", "/", "/.", "/..", "/...", "/ ", "/%20",
    "/a%2fb", "/one.jpg/", "/one.jpg/x", "/CON", "/aux.jpg", "/a.", "/folder", "/folder/", "/FOLDER/", "/one.JPG",
    "/" + "%25" * 100 + "2e",
]  # fmt: skip
WAYS = [*METHODS, *((method, source, overwrite) for method in ("COPY", "MOVE") for source in ("/one.jpg", "/folder/")
                    for overwrite in "TF")]  # fmt: skip


def attack(dav, name, way):
    """Send a name as the path of a request, or as the target of a copy or move."""
    if isinstance(way, str):
        send(dav, way, name, target="http://localhost/originals/target.jpg")
    else:
        method, source, overwrite = way
        target = f"/originals{name}".encode().decode("latin-1")
        send(dav, method, source, target=target, headers={"Overwrite": overwrite})


def test_the_names_that_lead_out_most_directly_are_harmless_in_every_request(dav):
    for name in ("/../outside/secret.jpg", "/link/secret.jpg", "/file-link.jpg", "/.photosvc/x", "/%00"):
        for way in WAYS:
            attack(dav, name, way)


@examples(3000)
@given(st.sampled_from(NAMES), st.sampled_from(WAYS))
def test_no_name_leads_out_or_breaks_the_service(dav, name, way):
    attack(dav, name, way)


def test_a_target_elsewhere_and_an_address_with_a_fragment_are_refused(dav):
    for target in (
        "http://evil.example/originals/a.jpg", "//evil.example/originals/a.jpg", "ftp://localhost/originals/a.jpg",
        "http://localhost@evil.example/originals/a.jpg", "http://localhost/api/v1/a", "/api/v1/a", "/originals2/a",
        "/ORIGINALS/a.jpg", "a.jpg", "http://localhost/originals/../a", "http://localhost:1/originals/a",
        "https://localhost.evil.example/originals/a", "", " ", "\x00", "http://[::1", "http:///originals/a",
        "javascript:alert(1)",
    ):  # fmt: skip
        for method in ("COPY", "MOVE"):
            before = hashes(dav.originals)
            assert send(dav, method, "/one.jpg", target=target).status_code in {400, 502}, (method, target)
            assert hashes(dav.originals) == before, (method, target)
    overridden = {"RAW_URI": "/originals/folder/#two.jpg"}
    assert dav.call("DELETE", "/folder/", environ_overrides=overridden).status_code == 400
    assert (dav.originals / "folder/two.jpg").is_file()


TOKENS = [
    "<opaquelocktoken:1>", "(<opaquelocktoken:1>)", "<>", "()", "(Not <DAV:no-lock>)", '(["x"])',
    "</originals/one.jpg> (<a>)", "(((", '<http://x/> ([W/"1"] Not ["2"])', "(Not Not <a>)", "(<a> <b>) (<c>)", "[",
    "é", "(" * 4000,
]  # fmt: skip
VALUES = {
    "Depth": ["0", "1", "infinity", "INFINITY", "2", "-1", "", "1,noroot", "é", "9" * 5000],
    "Destination": ["/originals/t.jpg", "/originals/folder/", "/originals/", "x", "http://localhost/originals/%ff",
                    "é" * 500],
    "Overwrite": ["T", "F", "t", "x", "", "é"],
    "If": TOKENS,
    "Lock-Token": TOKENS,
    "Timeout": ["Infinite", "Second-1", "Second-0", "Second--1", "Second-" + "9" * 40, "Second-x", "", "é",
                "Extend, Second-9"],
    "If-Match": ["*", '"x"', 'W/"x"', "x", "", "é", '"' * 100, ",,,"],
    "If-None-Match": ["*", '"x"', "é", ""],
    "If-Modified-Since": ["Sun, 13 Sep 2020 12:26:40 GMT", "yesterday", "Sun, 99 Sep 99999 99:99:99 GMT", ""],
    "If-Unmodified-Since": ["Sun, 13 Sep 1020 12:26:40 GMT", "-1", "é"],
    "Range": ["bytes=0-1", "bytes=9-1", "bytes=-0", "bytes=" + "0-1," * 500, "x=1", "bytes=é",
              "bytes=" + "9" * 400 + "-"],
    "If-Range": ['"x"', "yesterday", ""],
    "Content-Range": ["bytes 0-1/2", "x"],
    "Content-Encoding": ["gzip", "identity", "br", "é"],
    "X-OC-Mtime": ["1600000000", "-1", "9" * 19, "9" * 400, "1e9", "é", ""],
    "OC-Checksum": ["SHA1:00", "MD5:é", "ADLER32:1", ":", "SHA1:", "x", "SHA256:zz"],
    "X-Expected-Entity-Length": ["7", "8", "-1", "é", "9" * 50],
    "Transfer-Encoding": ["chunked", "identity", "x"],
    "User-Agent": ["Microsoft-WebDAV-MiniRedir/6.1.7600", "litmus", "é"],
    "Authorization": ["Basic", "Basic é", "Basic YTpi", "Bearer", "Basic " + "A" * 9000, "Digest x", "Basic /w==",
                      "Basic OjpA"],
}  # fmt: skip
PIECES = [
    b"<", b">", b"&amp;", b"&a;", b"DAV:", b"xmlns", b'="', b"/>", b"\xff", b"\x00", b"<!--", b"<![CDATA[", b"]]>",
    b"<?x?>", b"<!DOCTYPE a>", b"D:prop", b"<a/>" * 40, b"<a>" * 40, b'xml:lang="de"', b" " * 70_000,
    "Ω".encode("utf-16"),
]  # fmt: skip
WHOLE = [PATCH, LOCKINFO, b'<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>',
         b'<propfind xmlns="DAV:"><allprop/></propfind>', b"", b"{}", b"planted"]  # fmt: skip


@examples(6000)
@given(
    st.sampled_from(METHODS),
    st.sampled_from(["/one.jpg", "/folder/", "/folder/two.jpg", "/new.jpg", "/folder/new/", "/"]),
    st.lists(st.sampled_from([(name, value) for name, values in VALUES.items() for value in values]), max_size=4),
    st.sampled_from(WHOLE),
    st.lists(st.tuples(st.integers(0, 120), st.integers(0, 3), st.sampled_from(PIECES)), max_size=3),
)
def test_random_headers_and_bodies_are_answered(dav, method, path, headers, whole, changes):
    body = bytearray(whole)
    for start, length, piece in changes:
        body[start : start + length] = piece
    send(dav, method, path, headers=dict(headers), body=bytes(body))
