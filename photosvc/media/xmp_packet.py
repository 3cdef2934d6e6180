"""The packet of an XMP sidecar: properties are put into it, and taken away again (ISO 16684-1 section 7).

A packet of other programs keeps their properties and the prefixes of their namespaces. `svc:Written` names the
properties that were put in, each with a digest of its value, so that a change by another program is noticed.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, ProcessingInstruction, SubElement, TreeBuilder, indent
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from photosvc.media.metadata import SAME_MOMENT, Metadata, Region
from photosvc.media.text import utc_of
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.media.xmp_fields import FIELDS, XmpForm
from photosvc.media.xmp_tree import MAX_DEPTH, MAX_PACKET, MAX_SEEN, NAMESPACES, attribute, items, tag
from photosvc.media.xmp_writer import list_property, text_property

_RDF, _DESCRIPTION, _ABOUT = tag("rdf:RDF"), tag("rdf:Description"), tag("rdf:about")
_REGIONS, _LIST = "mwg-rs:Regions", "mwg-rs:RegionList"
#: Types of regions of the Metadata Working Group that mark no person.
_THINGS: Final = frozenset(("pet", "focus", "barcode"))
_WRITTEN: Final = "svc:Written"
#: The library that wrote them, and those that people entered in it, which are no values of another program for it.
_LIBRARY: Final = "svc:Library"
#: Attributes that belong to the form of XMP, not to its values.
_OF_FORM: Final = frozenset((_ABOUT, tag("rdf:parseType")))
_LISTS: Final = frozenset(map(tag, ("rdf:Bag", "rdf:Seq", "rdf:Alt")))
#: Further properties with people, which must not contradict those that are written.
_PEOPLE: Final = (
    "mwg-rs:Regions", "MP:RegionInfo", "Iptc4xmpExt:PersonInImage", "Iptc4xmpExt:PersonInImageWDetails",
    "Iptc4xmpExt:ImageRegion",
)  # fmt: skip
_ROWS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    **{row.fields[0]: (row.fields, row.properties) for row in FIELDS},
    "regions": (("regions",), _PEOPLE),
}
#: The only names in `svc:Written` that count, so that their number is bounded.
_WRITABLE: Final = frozenset(name for _, names in _ROWS.values() for name in names)
#: The most blocks of properties, and characters of `svc:Library`.
_MOST_BLOCKS: Final = 1000
_MOST_NOTES: Final = 4096
# What may stand before and after the root element: blanks, comments, and instructions such as `xpacket`.
_AROUND: Final = re.compile(r"\ufeff?(?:\s++|<\?.*?\?>|<!--.*?-->)*+", re.DOTALL)
#: The declaration of an encoding, which is UTF-8 from now on.
_ENCODING: Final = re.compile(r"""(?i)\s+encoding=(?!.utf-8.)(?:"[^"]*"|'[^']*')""")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
#: Hexadecimal characters of a digest.
_DIGEST: Final = 16
_NOTHING: Final = Metadata()
#: Decimals in which shares of sides are compared: a turn rounds them twice.
_PLACES: Final = 4
_USUAL: Final = {uri: prefix for prefix, uri in NAMESPACES.items()}


class NotXmpError(ValueError):
    """The content is no XMP packet, or one that is too large or not well-formed."""


class Packet:
    """A packet that properties are put into.

    Args:
        content: that of a sidecar; empty for a new one.
        library: name of the library that puts them in, as properties of its own; those of another library are those of
            another program. Empty for a sidecar for others; None counts those of all libraries as own ones.

    Raises:
        NotXmpError: the content is not one.
    """

    def __init__(self, content: bytes = b"", library: str | None = "") -> None:
        self._before = self._after = ""
        self._prefixes: dict[str, str] = {}
        self._is_new = not content
        self._says = _NOTHING
        """The values that it gave when it was read."""
        if content:
            self._says = read_xmp_sidecar(content) or _NOTHING
            self._root = self._parse(content)
        else:
            self._root = Element(tag("x:xmpmeta"))
            SubElement(SubElement(self._root, _RDF), _DESCRIPTION, {_ABOUT: ""})
        rdf = next(self._root.iter(_RDF), None)
        if rdf is None:
            raise NotXmpError
        listed = [description for one in self._root.iter(_RDF) for description in one.iterfind(_DESCRIPTION)]
        if len(listed) > _MOST_BLOCKS:
            raise NotXmpError
        self._descriptions = listed or [SubElement(rdf, _DESCRIPTION, {_ABOUT: ""})]
        noted = (text.rpartition(" ") for text in self._texts(_WRITTEN))
        self._library = library
        is_own = library is None or library == self.library
        self._written = {name: digest for name, _, digest in noted if is_own and name in _WRITABLE}

    @property
    def library(self) -> str:
        """Return the library that put properties in before; empty if it is not known."""
        return next(iter(self._noted_library()), "")

    def _noted_library(self) -> list[str]:
        return next(((element.text or "")[:_MOST_NOTES].split() for element in self._elements(_LIBRARY)), [])

    def changed_by_others(self, values: Metadata, properties: Mapping[str, Sequence[Element]]) -> list[str]:
        """Return the properties that were put in and that another program has changed or removed since.

        Those that give these values nevertheless are left out; the arguments are those of `put`.
        """
        equal = {
            self._name(element)
            for first, group in properties.items()
            if _agrees(self._says, values, first)
            for element in group
        }
        return [name for name in self._changed() if name not in equal]

    def put(self, values: Metadata, properties: Mapping[str, Sequence[Element]], entered: Collection[str] = ()) -> bool:
        """Put properties in, in place of those that were put in before; return whether anything changed.

        Properties of others stay, but for those that contradict. Where they give a value, nothing is put in for it.

        Args:
            values: the values that the packet shall give.
            properties: those of `xmp_writer.properties_to_write` for these values.
            entered: the rows of these properties, by their first fields, that people entered in the library.
        """
        before = self._state()
        own = set(self._written) - set(self._changed())
        groups = {first: {self._name(element): element for element in group} for first, group in properties.items()}
        put = {
            first: group
            for first, group in groups.items()
            if not own.isdisjoint(group) or self._is_new or not _agrees(self._says, values, first)
        }
        wanted = {name: element for group in put.values() for name, element in group.items()}
        for name in own.difference(*groups.values()):
            self._remove_own(name)
        written: dict[str, str] = {}
        is_put = False
        for name, element in wanted.items():
            self._keep_things(name, element)
            digest = _digest([element])
            if self._digest(name) != digest:
                self._remove(name)
                self._descriptions[0].append(element)
                written[name], is_put = digest, True
            elif name in self._written:
                written[name] = digest
        read = (read_xmp_sidecar(self.content()) or _NOTHING) if is_put and not self._is_new else self._says
        self._remove_contradictions(values, put, read)
        by_people = {name for first, group in put.items() if first in entered for name in group if name in written}
        if written != self._written or (written and self._library and by_people != {*self._noted_library()[1:]}):
            self._note(written, by_people)
        return self._state() != before

    def take_away(self, *, only_entered: bool = False) -> None:
        """Remove the properties that were put in and that nobody changed; all, or those that people entered."""
        for name in set(self._written) - set(self._changed()):
            if not only_entered or name in self._noted_library()[1:]:
                self._remove_own(name)
        self._note({})

    @property
    def has_written(self) -> bool:
        """Return whether properties were put in."""
        return bool(self._written)

    @property
    def is_empty(self) -> bool:
        """Return whether it has no property."""
        return not any(len(description) or set(description.attrib) - {_ABOUT} for description in self._descriptions)

    def content(self) -> bytes:
        """Return the packet in UTF-8."""
        if self._is_new:
            indent(self._root, " ")
        names = {self._uri(name) for element in self._root.iter() for name in (element.tag, *element.attrib)}
        declared_before = (uri for uri in self._prefixes if uri in names or uri != NAMESPACES["svc"])
        used = sorted(names - {"", NAMESPACES["xml"]})
        uris = list(dict.fromkeys((*declared_before, *used)))
        prefixes = {NAMESPACES["xml"]: "xml"}
        for uri in uris:
            usual = self._prefixes.get(uri) or _USUAL.get(uri) or "ns"
            taken, number = set(prefixes.values()), 1
            prefix = usual
            while prefix in taken:
                prefix, number = f"{usual}{number}", number + 1
            prefixes[uri] = prefix
        declared = "".join(f" xmlns:{prefixes[uri]}={quoteattr(uri)}" for uri in uris)
        parts: list[str] = []
        _serialize(self._root, prefixes, declared, parts)
        return (self._before + "".join(parts) + (self._after or "\n")).encode()

    def _parse(self, content: bytes) -> Element:
        """Return the root element; remember what stands around it."""
        try:
            text = content.decode("utf-16" if content[:2] in _UTF_16 else "utf-8")
        except UnicodeDecodeError:
            raise NotXmpError from None
        begin = _AROUND.match(text)
        start = begin.end() if begin else 0
        body = text[start:].encode()
        if len(content) > MAX_PACKET:
            raise NotXmpError
        tree = _WholeTree(self._prefixes)
        parser = XMLParser(target=tree, forbid_dtd=True)
        tree.position = lambda: parser.parser.CurrentByteIndex
        try:
            parser.feed(body)
        except _RootEndedError as complete:
            end = body.find(b">", complete.position) + 1
            if not end:  # the only tag, and an empty one
                raise NotXmpError from None
            self._before, self._after = _in_utf8(text[:start]), body[end:].decode().rstrip("\0")
            return complete.root
        except (ParseError, DefusedXmlException, ValueError, LookupError):
            raise NotXmpError from None
        raise NotXmpError

    @staticmethod
    def _uri(name: object) -> str:
        return name[1:].partition("}")[0] if isinstance(name, str) and name.startswith("{") else ""

    @staticmethod
    def _name(element: Element) -> str:
        uri, _, local = element.tag[1:].partition("}")
        return f"{_USUAL[uri]}:{local}"

    def _elements(self, name: str) -> list[Element]:
        """Return the property as elements, also where it is written as an attribute."""
        wanted = tag(name)
        found: list[Element] = []
        for description in self._descriptions:
            if wanted in description.attrib:
                found.append(Element(wanted))
                found[-1].text = description.attrib[wanted]
            found += description.findall(wanted)
        return found

    def _texts(self, name: str) -> list[str]:
        return [item.text or "" for element in self._elements(name) for item in items(element)]

    def _changed(self) -> list[str]:
        return [name for name, digest in self._written.items() if self._digest(name) != digest]

    def _digest(self, name: str) -> str:
        return _digest(self._elements(name))

    def _remove(self, name: str) -> None:
        wanted = tag(name)
        for description in self._descriptions:
            description.attrib.pop(wanted, None)
            for element in description.findall(wanted):
                description.remove(element)

    def _remove_own(self, name: str) -> None:
        """Remove a property that was put in, but not the regions in it that mark no person."""
        things = self._things(name)
        self._remove(name)
        if things:
            self._descriptions[0].append(_regions_of(things))

    def _keep_things(self, name: str, element: Element) -> None:
        """Add the present regions that mark no person to those that replace them."""
        box = element.find(f"{tag(_LIST)}/{tag('rdf:Bag')}")
        if box is not None:
            box.extend(self._things(name))

    def _things(self, name: str) -> list[Element]:
        """Return the regions of a property that mark no person."""
        if name != _REGIONS:
            return []
        present = (item for old in self._elements(name) for held in old.iter(tag(_LIST)) for item in items(held))
        return [item for item in present if attribute(item, "mwg-rs:Type").strip().lower() in _THINGS]

    def _remove_contradictions(
        self, values: Metadata, put: Mapping[str, Mapping[str, Element]], read: Metadata
    ) -> None:
        """Remove properties of others because of which the packet would not give the values that were put in."""
        if self._is_new:
            return
        for first, group in put.items():
            if not _agrees(read, values, first):
                for name in set(_ROWS[first][1]) - set(group):
                    self._remove(name)
        if "taken_local" in put and read.taken_utc and not _is_at(values, read.taken_utc):
            self._remove_row("taken_utc")
        if "lat" in put and read.altitude != values.altitude:
            self._remove_row("altitude")

    def _remove_row(self, first: str) -> None:
        for name in _ROWS[first][1]:
            self._remove(name)

    def _note(self, written: Mapping[str, str], by_people: Iterable[str] = ()) -> None:
        for name in (_WRITTEN, _LIBRARY):
            self._remove(name)
        if written:
            noted = [f"{name} {digest}" for name, digest in sorted(written.items())]
            self._descriptions[0].append(list_property(_WRITTEN, XmpForm.BAG, noted))
            if self._library:
                self._descriptions[0].append(text_property(_LIBRARY, " ".join((self._library, *sorted(by_people)))))
        self._written = dict(written)

    def _state(self) -> str:
        return _digest(self._descriptions)


def _regions_of(regions: Iterable[Element]) -> Element:
    """Return the property that lists these regions."""
    element = Element(tag(_REGIONS), {tag("rdf:parseType"): "Resource"})
    SubElement(SubElement(element, tag(_LIST)), tag("rdf:Bag")).extend(regions)
    return element


def written_by(content: bytes) -> tuple[str, Metadata]:
    """Return the library that wrote into a sidecar, and the metadata without what people entered in it; else empty."""
    if NAMESPACES["svc"].encode() not in content:
        return "", _NOTHING
    try:
        packet = Packet(content, None)
    except NotXmpError:
        return "", _NOTHING
    library = packet.library
    packet.take_away(only_entered=True)
    return library, read_xmp_sidecar(packet.content()) or _NOTHING


class _RootEndedError(Exception):
    """The root element has ended; some programs leave the end of a longer packet behind the new one."""

    def __init__(self, root: Element, position: int) -> None:
        super().__init__()
        self.root = root
        self.position = position
        """The byte at which its last tag begins."""


class _WholeTree(TreeBuilder):
    """A builder of a tree with its comments and the prefixes of its namespaces.

    Raises:
        ValueError: the packet has too many elements, or too deep ones.
        _CompleteError: the root element has ended.
    """

    def __init__(self, prefixes: dict[str, str]) -> None:
        super().__init__(insert_comments=True, insert_pis=True)
        self._declared = prefixes
        self._depth = self._seen = 0
        self.position: Callable[[], int] = int
        """Returns the byte at which the parser is."""

    def start_ns(self, prefix: str, uri: str) -> None:
        """Remember the first prefix of a namespace."""
        if prefix:
            self._declared.setdefault(uri, prefix)

    def start(self, tag: str, attrs: dict[str, str]) -> Element:  # type: ignore[override, unused-ignore]
        """Begin an element."""
        self._depth += 1
        self._seen += 1
        if self._depth > MAX_DEPTH or self._seen > MAX_SEEN:
            raise ValueError
        return super().start(tag, attrs)

    def end(self, tag: str) -> Element:
        """End an element."""
        self._depth -= 1
        element = super().end(tag)
        if not self._depth:
            raise _RootEndedError(element, self.position())
        return element


def _in_utf8(before: str) -> str:
    """Return what stands before the root element without an encoding other than UTF-8."""
    return _ENCODING.sub("", before.removeprefix("\ufeff"))


def _agrees(read: Metadata, values: Metadata, first: str) -> bool:
    """Return whether a packet that is read so gives the values of a row, by its first field."""
    if first == "keywords":  # labels are keywords, too, wherever they are written
        wanted = {word.casefold() for word in (*values.keywords, *values.labels)}
        given, labels = ({word.casefold() for word in words} for words in (read.keywords, read.labels))
        return given | labels == wanted | labels
    if first == "regions":
        return _rounded(read.regions) == _rounded(values.regions)
    if first == "taken_local" and read.utc_offset is None:  # it follows from the place
        values = replace(values, utc_offset=None)
    return all(getattr(read, name) == getattr(values, name) for name in _ROWS[first][0])


def _rounded(regions: Iterable[Region]) -> list[tuple[Any, ...]]:
    return sorted(
        (one.name, one.kind, *(round(side, _PLACES) for side in (one.x, one.y, one.w, one.h))) for one in regions
    )


def _is_at(values: Metadata, utc: datetime) -> bool:
    """Return whether a time in UTC is that of a wall time."""
    local, offset = values.taken_local, values.utc_offset
    return local is not None and offset is not None and abs(utc_of(local, offset) - utc) < SAME_MOMENT


def _digest(elements: Iterable[Element]) -> str:
    """Return a digest of elements, whatever blanks, prefixes and equal forms of XMP they are written with."""
    listed = list(map(_plain, elements))
    return sha256(repr(listed).encode()).hexdigest()[:_DIGEST] if listed else ""


def _plain(element: Element) -> tuple[Any, ...]:
    """Return the name of a property, its text, and its items or fields.

    The fields of a structure are attributes or elements, in any order, and may stand in a nested Description.
    """
    children = [child for child in element if not _is_comment(child)]
    fields: list[tuple[Any, ...]] = [
        (name, value, []) for name, value in element.attrib.items() if name not in _OF_FORM
    ]
    for child in children:
        plain = _plain(child)
        fields += plain[2] if child.tag == _DESCRIPTION else [plain]
    text = "" if children else element.text or ""
    return element.tag, text, fields if element.tag in _LISTS else sorted(fields)


def _escaped(text: str | None) -> str:
    """Return the text of an element for XML, whose readers would turn a bare carriage return into a line feed."""
    return escape(text or "", {"\r": "&#13;"})


def _is_comment(element: Element) -> bool:
    tag: object = element.tag  # that of a comment is a function
    return not isinstance(tag, str)


def _serialize(root: Element, prefixes: Mapping[str, str], declared: str, parts: list[str]) -> None:
    """Append the XML of an element, without what follows it."""
    if _is_comment(root):
        kind: object = root.tag
        parts.append(f"<?{root.text}?>" if kind is ProcessingInstruction else f"<!--{root.text}-->")
        return
    name = _prefixed(root.tag, prefixes)
    attributes = "".join(f" {_prefixed(key, prefixes)}={quoteattr(value)}" for key, value in root.attrib.items())
    parts.append(f"<{name}{declared}{attributes}")
    if not len(root) and not root.text:
        parts.append("/>")
        return
    parts.append(">" + _escaped(root.text))
    for child in root:
        _serialize(child, prefixes, "", parts)
        parts.append(_escaped(child.tail))
    parts.append(f"</{name}>")


def _prefixed(name: str, prefixes: Mapping[str, str]) -> str:
    uri, _, local = name[1:].partition("}") if name.startswith("{") else ("", "", name)
    return f"{prefixes[uri]}:{local}" if uri else local
