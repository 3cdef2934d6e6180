"""The XML of WebDAV: bodies of requests, parsed within limits, and the answer 207 (RFC 4918 section 13).

The answer is written as text: a tree of elements takes three times as long.
"""

import re
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, tostring

from photosvc.core.errors import PhotosvcError

#: The most bytes of a body.
LARGEST: Final = 65_536
DEEPEST: Final = 40
#: The most elements of a body, and of those that name a property.
MOST_ELEMENTS: Final = 1000
MOST_PROPERTIES: Final = 200
DAV: Final = "{DAV:}"
_NAMING: Final = {f"{DAV}prop", f"{DAV}include"}
CONTENT_TYPE: Final = "application/xml; charset=utf-8"
_HEAD: Final = '<?xml version="1.0" encoding="utf-8"?>\n'
BEGIN: Final = f'{_HEAD}<D:multistatus xmlns:D="DAV:">\n'
END: Final = "</D:multistatus>\n"
#: Characters that XML cannot contain in any form.
_IMPOSSIBLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class XmlError(PhotosvcError):
    """The body is not the XML that this method takes."""

    status = HTTPStatus.BAD_REQUEST


class XmlTooLargeError(PhotosvcError):
    """The XML of a request has at most 65536 bytes."""

    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE


class LengthRequiredError(PhotosvcError):
    """The server cannot read a body of unknown length."""

    status = HTTPStatus.LENGTH_REQUIRED


def read_xml(environ: Mapping[str, Any], root: str) -> Element | None:
    """Read and parse the body of a request; None when it is empty.

    Args:
        root: the local name that its root element must have, in the namespace `DAV:`.

    Raises:
        XmlError: it is cut short or not well formed, has another root element or too many elements, declares a
            document type, or is nested too deep.
        XmlTooLargeError: it has too many bytes.
        LengthRequiredError: it has no length, and the server cannot find its end.
    """
    body = _read(environ)
    if not body.strip():
        return None
    parser = DefusedXMLParser(target=_BoundedBuilder(), forbid_dtd=True)
    try:
        parser.feed(body)
        element: Element = parser.close()
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:  # LookupError: an unknown encoding
        raise XmlError from error
    if element.tag != DAV + root:
        raise XmlError(f"the root element is not `{root}`")
    return element


def element_text(element: Element) -> str:
    """Return an element as ASCII text, which can be part of any document."""
    element.tail = None
    text: bytes = tostring(element, encoding="us-ascii")
    return text.decode("ascii")


class _BoundedBuilder(TreeBuilder):
    """A tree builder that stops when the tree is too deep or too large."""

    def __init__(self) -> None:
        super().__init__()
        self._open: list[str] = []
        self._elements = 0
        self._properties = 0

    def start(self, tag: str, attributes: dict[str, str]) -> Element:
        self._elements += 1
        self._properties += bool(self._open) and self._open[-1] in _NAMING
        self._open.append(tag)
        if len(self._open) > DEEPEST or self._elements > MOST_ELEMENTS or self._properties > MOST_PROPERTIES:
            raise XmlError(f"at most {MOST_PROPERTIES} properties, {MOST_ELEMENTS} elements, {DEEPEST} levels")
        return super().start(tag, attributes)

    def end(self, tag: str) -> Element:
        self._open.pop()
        return super().end(tag)


def _read(environ: Mapping[str, Any]) -> bytes:
    length = environ.get("CONTENT_LENGTH") or ""
    if length and not (length.isascii() and length.isdigit()):
        raise XmlError
    if not length and "HTTP_TRANSFER_ENCODING" in environ and not environ.get("wsgi.input_terminated"):
        raise LengthRequiredError
    if not length and "HTTP_TRANSFER_ENCODING" not in environ:
        return b""
    wanted = int(length or LARGEST + 1)
    if length and wanted > LARGEST:
        raise XmlTooLargeError
    try:
        body: bytes = environ["wsgi.input"].read(wanted)
    except OSError as error:  # gunicorn: the client went away, or its chunks are wrong
        raise XmlError from error
    if len(body) > LARGEST:
        raise XmlTooLargeError
    if length and len(body) < wanted:
        raise XmlError
    return body


def text(value: str) -> str:
    """Escape text as character data."""
    return escape(_IMPOSSIBLE.sub("\ufffd", value))


def element(name: str, content: str = "") -> str:
    """Render an element around rendered content; its name is in Clark notation."""
    if name.startswith(DAV):
        tag, declared = "D:" + name.removeprefix(DAV), ""
    elif name.startswith("{"):
        namespace, _, local = name[1:].rpartition("}")
        tag, declared = f"N:{local}", f" xmlns:N={quoteattr(namespace)}"
    else:
        tag, declared = name, ""
    return f"<{tag}{declared}>{content}</{tag}>" if content else f"<{tag}{declared}/>"


def document(name: str, content: str) -> str:
    """Render a document: its root element, by its local name in the namespace `DAV:`, around rendered content."""
    return f'{_HEAD}<D:{name} xmlns:D="DAV:">{content}</D:{name}>\n'


def propstat(status: HTTPStatus, properties: str) -> str:
    """Render the element `propstat` of rendered properties that share a status."""
    line = f"HTTP/1.1 {status} {status.phrase}"
    return f"<D:propstat><D:prop>{properties}</D:prop><D:status>{line}</D:status></D:propstat>"


def response(href: str, propstats: Iterable[str]) -> str:
    """Render the element `response` of one resource."""
    return f"<D:response><D:href>{escape(href)}</D:href>{''.join(propstats)}</D:response>\n"
