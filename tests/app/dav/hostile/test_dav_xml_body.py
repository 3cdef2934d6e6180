"""The XML that clients send: what is read and what is refused before the whole of it is parsed."""

from io import BytesIO

import pytest

from photosvc.dav.xml import LengthRequiredError, XmlError, XmlTooLargeError, read_xml

HEAD = b'<D:propfind xmlns:D="DAV:">'
TAIL = b"</D:propfind>"


def environ(body, **more):
    return {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body), **more}


def names(count):
    return HEAD + b"<D:prop>" + b"".join(b"<a%d/>" % number for number in range(count)) + b"</D:prop>" + TAIL


def nested(depth):
    return HEAD + b"<a>" * depth + b"</a>" * depth + TAIL


@pytest.mark.parametrize("body", [b"", b" \r\n", b"\t"])
def test_an_empty_body_is_none(body):
    assert read_xml(environ(body), "propfind") is None
    assert read_xml({"wsgi.input": BytesIO(b"ignored without a length")}, "propfind") is None


@pytest.mark.parametrize(
    "body",
    [
        HEAD + b"<D:allprop/>" + TAIL,
        b"\xef\xbb\xbf" + HEAD + b"<D:allprop/>" + TAIL,
        '<?xml version="1.0" encoding="utf-16"?><propfind xmlns="DAV:"><allprop/></propfind>'.encode("utf-16"),
        b'<?xml version="1.0" encoding="iso-8859-1"?>' + HEAD + b"<!-- \xe4 --><?pi?><D:allprop/>" + TAIL,
        b"\n" + HEAD + b"<D:allprop/>" + TAIL + b"\n\n",
    ],
)
def test_well_formed_bodies_are_read(body):
    assert [part.tag for part in read_xml(environ(body), "propfind")] == ["{DAV:}allprop"]


def test_a_body_is_read_at_each_limit():
    assert len(read_xml(environ(names(200)), "propfind")[0]) == 200
    assert read_xml(environ(nested(39)), "propfind") is not None
    assert read_xml(environ(HEAD + b"<a/>" * 999 + TAIL), "propfind") is not None
    filled = HEAD + b" " * (65_536 - len(HEAD) - len(TAIL)) + TAIL
    assert read_xml(environ(filled), "propfind") is not None


LAUGHS = b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 9))


@pytest.mark.parametrize(
    "body",
    [
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
    ],
)
def test_what_is_not_well_formed_or_too_much_is_refused(body):
    with pytest.raises(XmlError):
        read_xml(environ(body), "propfind")


@pytest.mark.parametrize("length", ["-1", "1e3", "٣", "3 4", "0x10"])
def test_a_length_that_is_not_a_number_is_refused(length):
    with pytest.raises(XmlError):
        read_xml({"CONTENT_LENGTH": length, "wsgi.input": BytesIO(HEAD + TAIL)}, "propfind")


def test_a_body_that_is_cut_short_is_refused():
    with pytest.raises(XmlError):
        read_xml({"CONTENT_LENGTH": "500", "wsgi.input": BytesIO(HEAD + TAIL)}, "propfind")


def test_a_large_body_is_refused_before_it_is_read():
    body = BytesIO(b"x" * 100)
    with pytest.raises(XmlTooLargeError):
        read_xml({"CONTENT_LENGTH": "65537", "wsgi.input": body}, "propfind")
    assert body.tell() == 0


def test_a_body_in_chunks_is_read_up_to_the_limit():
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    assert read_xml({**chunked, "wsgi.input": BytesIO(HEAD + TAIL)}, "propfind").tag == "{DAV:}propfind"
    body = BytesIO(HEAD + b" " * 1_000_000 + TAIL)
    with pytest.raises(XmlTooLargeError):
        read_xml({**chunked, "wsgi.input": body}, "propfind")
    assert body.tell() == 65_537
    with pytest.raises(LengthRequiredError):
        read_xml({"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input": BytesIO(HEAD + TAIL)}, "propfind")
