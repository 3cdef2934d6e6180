"""The packet of an XMP sidecar: properties are put into it, and taken away again (ISO 16684-1 section 7).

A packet of other programs keeps their properties and the prefixes of their namespaces. `svc:Written` names the
properties that were put in, each with a digest of its value, so that a change by another program is noticed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final
from xml.etree.ElementTree import Element, ParseError, ProcessingInstruction, SubElement, TreeBuilder, indent
from xml.sax.saxutils import escape, quoteattr

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import XMLParser

from photosvc.media.metadata import Metadata
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.media.xmp_fields import FIELDS, XmpForm
from photosvc.media.xmp_tree import MAX_DEPTH, MAX_PACKET, MAX_SEEN, NAMESPACES, attribute, items, tag
from photosvc.media.xmp_writer import list_property

_RDF, _DESCRIPTION, _ABOUT = tag("rdf:RDF"), tag("rdf:Description"), tag("rdf:about")
_REGIONS, _LIST = "mwg-rs:Regions", "mwg-rs:RegionList"
#: Types of regions of the Metadata Working Group that mark no person.
_THINGS: Final = frozenset(("pet", "focus", "barcode"))
_WRITTEN: Final = "svc:Written"
#: Further properties with people, which must not contradict those that are written.
_PEOPLE: Final = (
    "mwg-rs:Regions", "MP:RegionInfo", "Iptc4xmpExt:PersonInImage", "Iptc4xmpExt:PersonInImageWDetails",
    "Iptc4xmpExt:ImageRegion",
)  # fmt: skip
_ROWS: Final[Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]]] = {
    **{row.fields[0]: (row.fields, row.properties) for row in FIELDS},
    "regions": (("regions",), _PEOPLE),
}
# What may stand before and after the root element: blanks, comments, and instructions such as `xpacket`.
_AROUND: Final = re.compile(r"\ufeff?(?:\s|<\?.*?\?>|<!--.*?-->)*", re.DOTALL)
#: The declaration of an encoding, which is UTF-8 from now on.
_ENCODING: Final = re.compile(r"""(?i)\s+encoding=(?!.utf-8.)(?:"[^"]*"|'[^']*')""")
_UTF_16: Final = (b"\xff\xfe", b"\xfe\xff")
#: Hexadecimal characters of a digest.
_DIGEST: Final = 16
_NOTHING: Final = Metadata()
_USUAL: Final = {uri: prefix for prefix, uri in NAMESPACES.items()}


class NotXmpError(ValueError):
    """The content is no XMP packet, or one that is too large or not well-formed."""


class Packet:
    """A packet that properties are put into.

    Raises:
        NotXmpError: the content is not one.
    """

    def __init__(self, content: bytes = b"") -> None:
        self._before = self._after = ""
        self._prefixes: dict[str, str] = {}
        self._is_new = not content
        if content:
            self._root = self._parse(content)
        else:
            self._root = Element(tag("x:xmpmeta"))
            SubElement(SubElement(self._root, _RDF), _DESCRIPTION, {_ABOUT: ""})
        rdf = next(self._root.iter(_RDF), None)
        if rdf is None:
            raise NotXmpError
        self._descriptions = rdf.findall(_DESCRIPTION) or [SubElement(rdf, _DESCRIPTION, {_ABOUT: ""})]
        noted = (text.rpartition(" ") for text in self._texts(_WRITTEN))
        self._written = {name: digest for name, _, digest in noted if name}

    def changed_by_others(self) -> list[str]:
        """Return the properties that were put in and that another program has changed or removed since."""
        return [name for name, digest in self._written.items() if self._digest(name) != digest]

    def put(self, values: Metadata, properties: Mapping[str, Sequence[Element]]) -> bool:
        """Put properties in, in place of those that were put in before; return whether anything changed.

        Properties of others stay, but for those that contradict.

        Args:
            values: the values that the packet shall give.
            properties: those of `xmp_writer.properties_to_write` for these values.
        """
        before = self._state()
        wanted = {self._name(element): element for group in properties.values() for element in group}
        for name in set(self._written) - set(wanted):
            self._remove_own(name)
        written = {name: digest for name, digest in self._written.items() if name in wanted}
        for name, element in wanted.items():
            self._keep_things(name, element)
            if self._digest(name) != _digest([element]):
                self._remove(name)
                self._descriptions[0].append(element)
                written[name] = _digest([element])
        self._remove_contradictions(values, properties)
        self._note(written)
        return self._state() != before

    def take_away(self) -> None:
        """Remove the properties that were put in and that nobody changed."""
        changed = set(self.changed_by_others())
        for name in set(self._written) - changed:
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

    def _remove_contradictions(self, values: Metadata, properties: Mapping[str, Sequence[Element]]) -> None:
        """Remove properties of others because of which the packet would not give the values that were put in."""
        if self._is_new:
            return
        read = read_xmp_sidecar(self.content()) or _NOTHING
        for first, group in properties.items():
            fields, names = _ROWS[first]
            if any(getattr(read, name) != getattr(values, name) for name in fields):
                for name in set(names) - {self._name(element) for element in group}:
                    self._remove(name)

    def _note(self, written: Mapping[str, str]) -> None:
        self._remove(_WRITTEN)
        if written:
            noted = [f"{name} {digest}" for name, digest in sorted(written.items())]
            self._descriptions[0].append(list_property(_WRITTEN, XmpForm.BAG, noted))
        self._written = dict(written)

    def _state(self) -> str:
        return _digest(self._descriptions)


def _regions_of(regions: Iterable[Element]) -> Element:
    """Return the property that lists these regions."""
    element = Element(tag(_REGIONS), {tag("rdf:parseType"): "Resource"})
    SubElement(SubElement(element, tag(_LIST)), tag("rdf:Bag")).extend(regions)
    return element


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


def _digest(elements: Iterable[Element]) -> str:
    """Return a digest of elements, whatever blanks and prefixes they are written with."""
    listed = list(map(_plain, elements))
    return sha256(repr(listed).encode()).hexdigest()[:_DIGEST] if listed else ""


def _plain(element: Element) -> tuple[Any, ...]:
    text = element.text or ""
    children = [_plain(child) for child in element if not _is_comment(child)]
    return element.tag, sorted(element.attrib.items()), "" if children else text, children


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
