"""The answer 207 of WebDAV (RFC 4918 section 13), written as text: a tree of elements takes three times as long."""

import re
from collections.abc import Iterable
from http import HTTPStatus
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from photosvc.dav.properties.xml_body import DAV

CONTENT_TYPE: Final = "application/xml; charset=utf-8"
BEGIN: Final = '<?xml version="1.0" encoding="utf-8"?>\n<D:multistatus xmlns:D="DAV:">\n'
END: Final = "</D:multistatus>\n"

#: Characters that XML cannot contain in any form.
_IMPOSSIBLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def text(value: str) -> str:
    """Character data."""
    return escape(_IMPOSSIBLE.sub("\ufffd", value))


def element(name: str, content: str = "") -> str:
    """An element with rendered content; its name is in Clark notation."""
    if name.startswith(DAV):
        tag, declared = "D:" + name.removeprefix(DAV), ""
    elif name.startswith("{"):
        namespace, _, local = name[1:].rpartition("}")
        tag, declared = f"N:{local}", f" xmlns:N={quoteattr(namespace)}"
    else:
        tag, declared = name, ""
    return f"<{tag}{declared}>{content}</{tag}>" if content else f"<{tag}{declared}/>"


def propstat(status: HTTPStatus, properties: str) -> str:
    """Rendered properties that share a status."""
    line = f"HTTP/1.1 {status} {status.phrase}"
    return f"<D:propstat><D:prop>{properties}</D:prop><D:status>{line}</D:status></D:propstat>"


def response(href: str, propstats: Iterable[str]) -> str:
    """What there is to say about one resource."""
    return f"<D:response><D:href>{escape(href)}</D:href>{''.join(propstats)}</D:response>\n"
