"""The XML of XMP, parsed within limits, and its properties by their usual names (ISO 16684-1 section 7)."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from xml.etree.ElementTree import Element, ParseError, TreeBuilder

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser

#: Bytes of a packet; the limit is high because each stroke of a brush in Lightroom adds some bytes to a sidecar.
MAX_PACKET: Final = 1 << 24
MAX_DEPTH: Final = 64
#: Elements of the tree, and elements of a whole packet with those that are left out.
MAX_ELEMENTS: Final = 20_000
MAX_SEEN: Final = 400_000
MAX_ITEMS: Final = 1000
#: Property name (`dc:title`) → its texts: one, or one for each list item.
Properties = Mapping[str, tuple[str, ...]]
#: Prefix → namespace; `svc` has properties for which no standard has a word.
NAMESPACES: Final = {
    "x": "adobe:ns:meta/",
    "svc": "urn:photosvc:xmp:1.0/",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xml": "http://www.w3.org/XML/1998/namespace",
    "dc": "http://purl.org/dc/elements/1.1/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "xmpMM": "http://ns.adobe.com/xap/1.0/mm/",
    "xmpRights": "http://ns.adobe.com/xap/1.0/rights/",
    "photoshop": "http://ns.adobe.com/photoshop/1.0/",
    "exif": "http://ns.adobe.com/exif/1.0/",
    "exifEX": "http://cipa.jp/exif/1.0/",
    "aux": "http://ns.adobe.com/exif/1.0/aux/",
    "tiff": "http://ns.adobe.com/tiff/1.0/",
    "crs": "http://ns.adobe.com/camera-raw-settings/1.0/",
    "lr": "http://ns.adobe.com/lightroom/1.0/",
    "GPano": "http://ns.google.com/photos/1.0/panorama/",
    "cc": "http://creativecommons.org/ns#",
    "Iptc4xmpExt": "http://iptc.org/std/Iptc4xmpExt/2008-02-29/",
    "Iptc4xmpCore": "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/",
    "mwg-rs": "http://www.metadataworkinggroup.com/schemas/regions/",
    "stDim": "http://ns.adobe.com/xap/1.0/sType/Dimensions#",
    "stArea": "http://ns.adobe.com/xmp/sType/Area#",
    "MP": "http://ns.microsoft.com/photo/1.2/",
    "MPRI": "http://ns.microsoft.com/photo/1.2/t/RegionInfo#",
    "MPReg": "http://ns.microsoft.com/photo/1.2/t/Region#",
    "MicrosoftPhoto": "http://ns.microsoft.com/photo/1.0/",
    "digiKam": "http://www.digikam.org/ns/1.0/",
    "darktable": "http://darktable.sf.net/",
    "acdsee": "http://ns.acdsee.com/iptc/1.0/",
    "fstop": "http://www.fstopapp.com/xmp/",
    "xmpDM": "http://ns.adobe.com/xmp/1.0/DynamicMedia/",
    "GCamera": "http://ns.google.com/photos/1.0/camera/",
    "Container": "http://ns.google.com/photos/1.0/container/",
    "Item": "http://ns.google.com/photos/1.0/container/item/",
}
# ExifTool writes that of Microsoft without the slash.
_PREFIXES: Final = {uri: prefix for prefix, uri in NAMESPACES.items()} | {
    "http://ns.microsoft.com/photo/1.0": "MicrosoftPhoto"
}
#: Prefixes of properties of which only texts are read: editors list thousands of steps and strokes in them.
_TEXTS: Final = frozenset(("crs", "darktable", "xmpDM", "xmpMM"))


def tag(name: str) -> str:
    """Return the ElementTree name of `prefix:local`."""
    prefix, _, local = name.partition(":")
    return f"{{{NAMESPACES[prefix]}}}{local}"


_DESCRIPTION: Final = tag("rdf:Description")
_STRUCTURED: Final = (
    *(tag(f"{prefix}:") for prefix in NAMESPACES if prefix not in _TEXTS),
    *(f"{{{uri}}}" for uri, prefix in _PREFIXES.items() if uri != NAMESPACES[prefix]),
    tag("darktable:colorlabels"),
)
#: A list that grows without end: Photoshop adds every document that was ever pasted.
_ANCESTORS: Final = tag("photoshop:DocumentAncestors")


def parse_packet(packet: bytes) -> Element | None:
    """Return the root element; None when the packet is malformed, too large, too deep, or declares a DTD or entities.

    Lists that editors write for themselves, such as strokes of brushes and former versions, are left out.
    """
    if packet.lstrip().startswith(b"<"):  # in an encoding of single bytes, packets are padded with blanks or NULs
        packet = packet.rstrip(b"\0 \r\n\t").lstrip()
    if not packet or len(packet) > MAX_PACKET:
        return None
    tree = _LimitedTree()
    try:
        parser = XMLParser(target=tree, forbid_dtd=True)
        parser.feed(packet)  # at once: expat before 2.6 reads a long text again with each portion
        parser.close()
    except _CompleteError:
        return tree.root
    except (ParseError, DefusedXmlException, ValueError, LookupError):
        return None
    return None


class _CompleteError(Exception):
    """The root element has ended; some programs leave the end of a longer packet behind the new one."""


class _LimitedTree:
    """A builder of the tree of a packet, without the elements inside properties that are read as texts alone.

    Raises:
        ValueError: the packet has too many elements, or too deep ones.
    """

    def __init__(self) -> None:
        self._builder = TreeBuilder()
        self._names: list[str] = []
        self._seen = self._count = 0
        self._left_out = MAX_DEPTH + 1
        """The depth from which on elements are left out."""
        self.root: Element | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        names = self._names
        names.append(name)
        depth = len(names)
        self._seen += 1
        if depth > self._left_out:
            if depth > MAX_DEPTH or self._seen > MAX_SEEN:
                raise ValueError
            return
        self._count += 1
        if depth > MAX_DEPTH or self._count > MAX_ELEMENTS:
            raise ValueError
        if depth > 1 and names[-2] == _DESCRIPTION and (not name.startswith(_STRUCTURED) or name == _ANCESTORS):
            self._left_out = depth
        self._builder.start(name, attributes)

    def data(self, text: str) -> None:
        if len(self._names) <= self._left_out:
            self._builder.data(text)

    def end(self, name: str) -> None:
        depth = len(self._names)
        self._names.pop()
        if depth > self._left_out:
            return
        if depth == self._left_out:
            self._left_out = MAX_DEPTH + 1
        self._builder.end(name)
        if depth == 1:
            self.root = self._builder.close()
            raise _CompleteError


def properties(root: Element) -> Properties:
    """Return the simple and list properties of the packet in the known namespaces, by name."""
    values: dict[str, tuple[str, ...]] = {}
    descriptions = (description for rdf in root.iter(tag("rdf:RDF")) for description in rdf.iterfind(_DESCRIPTION))
    for description in descriptions:
        for name, value in description.attrib.items():
            _add(values, name, (value,))
        for child in description:
            _add(values, child.tag, tuple(_texts(child)))
    return values


def items(element: Element) -> list[Element]:
    """Return the list items of a Bag, Seq or Alt property, at most `MAX_ITEMS`."""
    return [item for box in element for item in box.iterfind(tag("rdf:li"))][:MAX_ITEMS]


def attribute(element: Element, name: str) -> str:
    """Return a field of a structure; in XMP an attribute, a child element, or a field of a nested Description."""
    return next(iter(field_texts(element, name)), "")


def field_texts(element: Element, name: str) -> tuple[str, ...]:
    """Return the texts of a field of a structure: one, or one for each list item."""
    wanted = tag(name)
    for holder in (element, *element.iterfind(_DESCRIPTION)):
        if wanted in holder.attrib:
            return (holder.attrib[wanted],)
        child = holder.find(wanted)
        if child is not None and (texts := _present(_texts(child))):
            return texts
    return ()


def structures(root: Element, name: str) -> Iterator[Element]:
    """Yield the structures of a property wherever it stands: its list items, or itself."""
    for holder in root.iter(tag(name)):
        yield from items(holder) or [holder]


def _texts(element: Element) -> Iterator[str]:
    """Yield the text of a simple property, or of each item; the default language of an Alt comes first."""
    listed = items(element)
    if not listed:
        value = element.text if len(element) == 0 else None
        yield value or element.get(tag("rdf:resource")) or ""
        return
    yield from (item.text or "" for item in sorted(listed, key=lambda item: item.get(tag("xml:lang")) != "x-default"))


def _add(properties: dict[str, tuple[str, ...]], name: str, values: tuple[str, ...]) -> None:
    uri, _, local = name[1:].partition("}")
    prefix = _PREFIXES.get(uri)
    if prefix and (present := _present(values)):
        properties.setdefault(f"{prefix}:{local}", present)


def _present(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(value for value in values if value.strip())
