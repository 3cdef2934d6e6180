"""The XML that clients send: what is read and what is refused before the whole of it is parsed."""

from io import BytesIO

import pytest

from photosvc.dav.xml import LengthRequiredError, XmlError, XmlTooLargeError, read_xml

HEAD = b'<D:propfind xmlns:D="DAV:">'
TAIL = b"</D:propfind>"
CHUNKED = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}


def read(body, **more):
    """The root of a body that has its length; `more` is of its environment."""
    return read_xml({"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body), **more}, "propfind")


def names(count):
    return HEAD + b"<D:prop>" + b"".join(b"<a%d/>" % number for number in range(count)) + b"</D:prop>" + TAIL


def nested(depth):
    return HEAD + b"<a>" * depth + b"</a>" * depth + TAIL


def test_an_empty_body_is_none():
    assert [read(body) for body in (b"", b" \r\n", b"\t")] == [None] * 3
    assert read_xml({"wsgi.input": BytesIO(b"ignored without a length")}, "propfind") is None


def test_well_formed_bodies_are_read():
    for body in (
        HEAD + b"<D:allprop/>" + TAIL,
        b"\xef\xbb\xbf" + HEAD + b"<D:allprop/>" + TAIL,
        '<?xml version="1.0" encoding="utf-16"?><propfind xmlns="DAV:"><allprop/></propfind>'.encode("utf-16"),
        b'<?xml version="1.0" encoding="iso-8859-1"?>' + HEAD + b"<!-- \xe4 --><?pi?><D:allprop/>" + TAIL,
        b"\n" + HEAD + b"<D:allprop/>" + TAIL + b"\n\n",
    ):
        assert [part.tag for part in read(body)] == ["{DAV:}allprop"], body


def test_a_body_is_read_at_each_limit():
    assert len(read(names(200))[0]) == 200
    filled = HEAD + b" " * (65_536 - len(HEAD) - len(TAIL)) + TAIL
    for body in (nested(39), HEAD + b"<a/>" * 999 + TAIL, filled):
        assert read(body) is not None, body[:50]


LAUGHS = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 9))
REFUSED = [
    names(201),
    nested(40),
    nested(6000),
    HEAD + b"<a/>" * 1000 + TAIL,
    b"<!DOCTYPE propfind>" + HEAD + TAIL,
    b'<!DOCTYPE p [<!ENTITY l0 "ha">' + LAUGHS + b"]>" + HEAD + b"&l8;" + TAIL,
    b'<!DOCTYPE p [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + HEAD + b"&a;" + TAIL,
    b'<!DOCTYPE p SYSTEM "http://127.0.0.1:1/x.dtd">' + HEAD + TAIL,
    b'<!DOCTYPE p [<!ENTITY % a SYSTEM "http://127.0.0.1:1/x"> %a;]>' + HEAD + TAIL,
    HEAD + b"&undeclared;" + TAIL,
    HEAD + b"<x:a/>" + TAIL,
    HEAD + b"<a>",
    HEAD + TAIL + b"<more/>",
    b"<propfind/>",
    b'<D:propertyupdate xmlns:D="DAV:"/>',
    b"{}",
    b"\x00\x01\xff",
    b'<?xml version="1.0" encoding="klingon"?><a/>',
    b'<?xml version="1.0" encoding="idna"?><a/>',
    b'<a b="1" b="2"/>',
]


def test_what_is_not_well_formed_or_too_much_is_refused():
    for body in REFUSED:
        with pytest.raises(XmlError):
            pytest.fail(f"{body[:80]!r} is read as {read(body)}")


def test_a_body_with_a_length_that_is_no_number_or_longer_than_the_body_is_refused():
    for length in ("-1", "1e3", "٣", "3 4", "0x10", "500"):
        with pytest.raises(XmlError):
            pytest.fail(f"{length} is read as {read(HEAD + TAIL, CONTENT_LENGTH=length)}")


def test_a_large_body_is_refused_before_it_is_read_and_one_in_chunks_at_the_limit():
    body = BytesIO(b"x" * 100)
    with pytest.raises(XmlTooLargeError):
        read_xml({"CONTENT_LENGTH": "65537", "wsgi.input": body}, "propfind")
    assert body.tell() == 0
    assert read_xml({**CHUNKED, "wsgi.input": BytesIO(HEAD + TAIL)}, "propfind").tag == "{DAV:}propfind"
    body = BytesIO(HEAD + b" " * 1_000_000 + TAIL)
    with pytest.raises(XmlTooLargeError):
        read_xml({**CHUNKED, "wsgi.input": body}, "propfind")
    assert body.tell() == 65_537
    with pytest.raises(LengthRequiredError):
        read_xml({"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": BytesIO(HEAD + TAIL)}, "propfind")
