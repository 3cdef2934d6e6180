"""Random bodies and headers over WebDAV: none gives a 5xx, none changes anything outside of the originals."""

from random import Random

import pytest

from tests.app.dav.hostile_dav_client import LOCKINFO, METHODS, PATCH, is_untouched, prepare, send
from tests.helpers.api_client import open_api

TOKENS = [
    "<opaquelocktoken:1>",
    "(<opaquelocktoken:1>)",
    "<>",
    "()",
    "(Not <DAV:no-lock>)",
    '(["x"])',
    "</originals/one.jpg> (<a>)",
    "(((",
    '<http://x/> ([W/"1"] Not ["2"])',
    "(Not Not <a>)",
    "(<a> <b>) (<c>)",
    "[",
    "é",
    "(" * 4000,
]
VALUES = {
    "Depth": ["0", "1", "infinity", "INFINITY", "2", "-1", "", "1,noroot", "é", "9" * 5000],
    "Destination": [
        "/originals/t.jpg",
        "/originals/folder/",
        "/originals/",
        "x",
        "http://localhost/originals/%ff",
        "é" * 500,
    ],
    "Overwrite": ["T", "F", "t", "x", "", "é"],
    "If": TOKENS,
    "Lock-Token": TOKENS,
    "Timeout": [
        "Infinite",
        "Second-1",
        "Second-0",
        "Second--1",
        "Second-" + "9" * 40,
        "Second-x",
        "",
        "é",
        "Extend, Second-9",
    ],
    "If-Match": ["*", '"x"', 'W/"x"', "x", "", "é", '"' * 100, ",,,"],
    "If-None-Match": ["*", '"x"', "é", ""],
    "If-Modified-Since": ["Sun, 13 Sep 2020 12:26:40 GMT", "yesterday", "Sun, 99 Sep 99999 99:99:99 GMT", ""],
    "If-Unmodified-Since": ["Sun, 13 Sep 1020 12:26:40 GMT", "-1", "é"],
    "Range": [
        "bytes=0-1",
        "bytes=9-1",
        "bytes=-0",
        "bytes=" + "0-1," * 500,
        "x=1",
        "bytes=é",
        "bytes=" + "9" * 400 + "-",
    ],
    "If-Range": ['"x"', "yesterday", ""],
    "Content-Range": ["bytes 0-1/2", "x"],
    "Content-Type": ["text/xml", "application/json", "é", "a" * 3000],
    "Content-Encoding": ["gzip", "identity", "br", "é"],
    "X-OC-Mtime": ["1600000000", "-1", "9" * 19, "9" * 400, "1e9", "é", ""],
    "OC-Checksum": ["SHA1:00", "MD5:é", "ADLER32:1", ":", "SHA1:", "x", "SHA256:zz"],
    "X-Expected-Entity-Length": ["7", "8", "-1", "é", "9" * 50],
    "Transfer-Encoding": ["chunked", "identity", "x"],
    "Expect": ["100-continue", "x"],
    "X-Forwarded-Host": ["evil.example"],
    "X-Forwarded-Proto": ["https"],
    "X-HTTP-Method-Override": ["DELETE"],
    "User-Agent": ["Microsoft-WebDAV-MiniRedir/6.1.7600", "litmus", "é"],
    "Authorization": [
        "Basic",
        "Basic é",
        "Basic YTpi",
        "Bearer",
        "Basic " + "A" * 9000,
        "Digest x",
        "Basic /w==",
        "Basic OjpA",
    ],
}
PIECES = [
    b"<",
    b">",
    b"&amp;",
    b"&a;",
    b"DAV:",
    b"xmlns",
    b'="',
    b"/>",
    b"\xff",
    b"\x00",
    b"<!--",
    b"<![CDATA[",
    b"]]>",
    b"<?x?>",
    b"<!DOCTYPE a>",
    b"D:prop",
    b"<a/>" * 40,
    b"<a>" * 40,
    b'xml:lang="de"',
    b" " * 70_000,
    "Ω".encode("utf-16"),
]
WHOLE = [
    PATCH,
    LOCKINFO,
    b'<propfind xmlns="DAV:"><prop><getetag/></prop></propfind>',
    b'<propfind xmlns="DAV:"><allprop/></propfind>',
    b"",
    b"{}",
    b"planted",
]


@pytest.fixture
def dav(tmp_path):
    with open_api(tmp_path) as api:
        yield prepare(api)


def fuzz(dav, seed, count):
    before, random = is_untouched(dav), Random(seed)
    for _ in range(count):
        headers = {name: random.choice(VALUES[name]) for name in random.sample(list(VALUES), random.randrange(5))}
        body = bytearray(random.choice(WHOLE))
        for _ in range(random.choice((0, 0, 1, 3))):
            start = random.randrange(len(body) + 1)
            body[start : start + random.randrange(4)] = random.choice(PIECES)
        name = random.choice(["/one.jpg", "/folder/", "/folder/two.jpg", "/new.jpg", "/folder/new/", "/"])
        send(dav, random.choice(METHODS), name, headers=headers, body=bytes(body))
        is_untouched(dav)
    assert is_untouched(dav) == before


@pytest.mark.slow
def test_a_few_random_requests_are_answered(dav):
    fuzz(dav, 1, 120)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.long) for seed in (2, 3, 4))])
def test_many_random_requests_are_answered(dav, seed):
    fuzz(dav, 100 + seed, 1500)
