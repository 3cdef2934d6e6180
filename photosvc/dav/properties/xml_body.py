"""The XML that WebDAV clients send, parsed within limits."""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, tostring

from photosvc.core.errors import PhotosvcError

#: Bytes of a body.
LARGEST: Final = 65_536
DEEPEST: Final = 40
#: Elements of a body, and those that name a property.
MOST_ELEMENTS: Final = 1000
MOST_PROPERTIES: Final = 200

DAV: Final = "{DAV:}"
_NAMING: Final = {f"{DAV}prop", f"{DAV}include"}


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
    """The body of a request; None when it is empty.

    Args:
        environ: of the request.
        root: the local name that its root element must have, in the namespace `DAV:`.

    Raises:
        XmlError: it is cut short, not well formed, another element, declares a document type, is nested too deep, or
            has too many elements.
        XmlTooLargeError: it has too many bytes.
        LengthRequiredError: it has no length, and the server does not find its end.

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
        msg = f"the root element is not `{root}`"
        raise XmlError(msg)
    return element


def element_text(element: Element) -> str:
    """An element as text in ASCII, which can be part of any document."""
    element.tail = None
    text: bytes = tostring(element, encoding="us-ascii")
    return text.decode("ascii")


class _BoundedBuilder(TreeBuilder):
    """Builds the tree, and stops when it is too deep or too large."""

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
            msg = f"at most {MOST_PROPERTIES} properties, {MOST_ELEMENTS} elements, {DEEPEST} levels"
            raise XmlError(msg)
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
