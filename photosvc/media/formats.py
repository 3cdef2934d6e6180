"""The table of file formats, by which the format of a file is recognised.

The content (magic bytes) decides the family, and the extension decides the member of that family: an `.nef` and
a `.tif` both begin as TIFF, and a PNG named `.jpg` is a PNG. A file whose content belongs to no known family is not
a picture, whatever its extension. Magic bytes come from the format specifications, brands of `ftyp` boxes from
ISO/IEC 14496-12.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

MediaType = Literal["image", "raw", "video", "animated", "sidecar"]


@dataclass(frozen=True, slots=True)
class Format:
    """One row of the table."""

    name: str
    """The wire's `FileType`."""
    extensions: tuple[str, ...]
    """Lower case, without the dot."""
    media_type: MediaType
    mime: str
    families: tuple[str, ...] = ()
    """Content families of its files; empty for sidecars, which only the extension identifies."""
    extra: str = ""
    """The optional extra that decodes it, a key of `media.errors.MODULES`; empty for the core."""
    note: str = ""
    """A remark for the documentation: limits of the format, and for camera raws the extent of tests."""

    @property
    def is_tiff(self) -> bool:
        """Return whether the file itself is a TIFF structure, whose directories are the Exif."""
        return "tiff" in self.families


_TIFF_RAWS = (
    "3fr arw cs1 dcr dcs drf erf fff iiq k25 kc2 kdc mdc mef mos nef nrw orf pef ptx pxn raw rw2 rwl rwz "
    "sr2 srf srw sti"
)

_TIFF_NOTE: Final = (
    "floating point RGB, CIELAB of 16 bits, LogLuv, some big-endian BigTIFF, those larger than the memory: extra vips"
)
_PSD_NOTE: Final = "its merged picture, of 1 to 16 bits; not in mode Multichannel, nor saved without it"
_AVIF_NOTE: Final = "with alpha as old encoders wrote it: extra vips"
_JP2_NOTE: Final = "decoded at the resolution that is needed"
_HEIC_NOTE: Final = "a sequence without a still is a video"
_BY_LIBRAW: Final = "opened by LibRaw alone, untested"
_PREVIEW_TESTED: Final = "metadata and preview tested with generated files; development by LibRaw untested"
_VC5: Final = "LibRaw does not decode its pixels (VC-5): metadata, and a preview where the file contains one"
_UNTESTED: Final = "by LibRaw; untested, because there is no free sample"

FORMATS: Final[tuple[Format, ...]] = (
    Format("jpg", ("jpg", "jpeg", "jpe", "jfif", "jif", "thm", "mpo", "insp"), "image", "image/jpeg", ("jpeg",)),
    Format("png", ("png", "apng"), "image", "image/png", ("png",)),
    Format("webp", ("webp",), "image", "image/webp", ("webp",)),
    Format("gif", ("gif",), "image", "image/gif", ("gif",)),
    Format("tiff", ("tif", "tiff"), "image", "image/tiff", ("tiff",), note=_TIFF_NOTE),
    Format("bmp", ("bmp", "dib"), "image", "image/bmp", ("bmp",)),
    Format("avif", ("avif", "avifs"), "image", "image/avif", ("avif",), note=_AVIF_NOTE),
    Format("heic", ("heic", "heif", "heics", "heifs", "hif"), "image", "image/heic", ("heic",), "heic", _HEIC_NOTE),
    Format("jp2", ("jp2", "j2k", "jpf", "jpx", "j2c", "jpc"), "image", "image/jp2", ("jp2",), note=_JP2_NOTE),
    Format("jxl", ("jxl",), "image", "image/jxl", ("jxl",), "jxl"),
    Format("svg", ("svg",), "image", "image/svg+xml", ("svg",), "vips", "drawn; nothing outside the file is loaded"),
    Format("psd", ("psd", "psb"), "image", "image/vnd.adobe.photoshop", ("psd",), note=_PSD_NOTE),
    Format("dng", ("dng",), "raw", "image/x-adobe-dng", ("tiff",), "raw", "development and preview tested"),
    Format("raw", ("gpr",), "raw", "image/x-raw", ("tiff",), "raw", _VC5),
    Format("raw", ("cr2",), "raw", "image/x-canon-cr2", ("tiff",), "raw", _PREVIEW_TESTED),
    Format("raw", ("cr3",), "raw", "image/x-canon-cr3", ("cr3",), "raw", _UNTESTED),
    Format("raw", ("crw",), "raw", "image/x-canon-crw", ("crw",), "raw", _BY_LIBRAW),
    Format("raw", ("raf",), "raw", "image/x-fuji-raf", ("raf",), "raw", _PREVIEW_TESTED),
    Format("raw", ("x3f",), "raw", "image/x-sigma-x3f", ("x3f",), "raw", _BY_LIBRAW),
    Format("raw", ("mrw",), "raw", "image/x-minolta-mrw", ("mrw",), "raw", _BY_LIBRAW),
    Format("raw", tuple(_TIFF_RAWS.split()), "raw", "image/x-raw", ("tiff", "tiff-raw"), "raw", _PREVIEW_TESTED),
    Format("mp4", ("mp4", "mp4v", "insv", "lrv", "lrf", "mp"), "video", "video/mp4", ("mp4",), "video"),
    Format("mov", ("mov", "qt"), "video", "video/quicktime", ("mp4",), "video"),
    Format("m4v", ("m4v",), "video", "video/x-m4v", ("mp4",), "video"),
    Format("3gp", ("3gp", "3gpp"), "video", "video/3gpp", ("mp4",), "video"),
    Format("3g2", ("3g2",), "video", "video/3gpp2", ("mp4",), "video"),
    Format("avi", ("avi", "divx"), "video", "video/x-msvideo", ("avi",), "video"),
    Format("mkv", ("mkv",), "video", "video/x-matroska", ("matroska",), "video"),
    Format("webm", ("webm",), "video", "video/webm", ("matroska",), "video"),
    Format("mts", ("mts", "m2ts", "m2t", "ts"), "video", "video/mp2t", ("mpeg-ts",), "video"),
    Format("mpg", ("mpg", "mpeg", "vob", "mod", "m2v"), "video", "video/mpeg", ("mpeg", "mpeg-ts"), "video"),
    Format("wmv", ("wmv", "asf"), "video", "video/x-ms-wmv", ("asf",), "video"),
    Format("flv", ("flv", "f4v"), "video", "video/x-flv", ("flv", "mp4"), "video"),
    Format("ogv", ("ogv",), "video", "video/ogg", ("ogg",), "video"),
    Format("dv", ("dv", "dif"), "video", "video/x-dv", ("dv",), "video"),
    Format("mxf", ("mxf",), "video", "application/mxf", ("mxf",), "video"),
    Format("xmp", ("xmp",), "sidecar", "application/rdf+xml"),
    Format("xml", ("xml",), "sidecar", "application/xml"),
    Format("aae", ("aae",), "sidecar", "application/xml"),
    Format("json", ("json",), "sidecar", "application/json"),
    Format("yml", ("yml", "yaml"), "sidecar", "application/yaml"),
    Format("txt", ("txt",), "sidecar", "text/plain"),
    Format("nfo", ("nfo",), "sidecar", "text/plain"),
    Format("md", ("md", "markdown"), "sidecar", "text/markdown"),
)

#: Extensions that are not indexed although they hold pictures or videos -> the reason.
UNSUPPORTED: Final = {
    "ai eps pdf ps": "documents, whose interpreters are too powerful for files that are not trusted",
    "exr hdr": "rendered light, not photographs",
    "braw crm r3d": "no free decoder",
}

#: Bytes from the beginning of a file that `sniff` needs; a shorter file is passed whole. Programs write comments, and
#: Illustrator a list of entities, before the first element of an SVG.
HEAD_SIZE: Final = 1 << 15

_BY_EXTENSION: Final = {extension: row for row in FORMATS for extension in row.extensions}
_FIRST_OF_FAMILY: Final = {family: row for row in reversed(FORMATS) for family in row.families}
# Only a known extension identifies a raw of this family; the first row would be a guess.
_FIRST_OF_FAMILY.pop("tiff-raw")

# (offset, bytes, family); the first match wins.
_MAGIC: Final = (
    (0, b"\xff\xd8\xff", "jpeg"),
    (0, b"\x89PNG\r\n\x1a\n", "png"),
    (0, b"GIF87a", "gif"),
    (0, b"GIF89a", "gif"),
    (0, b"II*\0", "tiff"),
    (0, b"MM\0*", "tiff"),
    (0, b"II+\0", "tiff"),
    (0, b"MM\0+", "tiff"),
    (4, b"jP  \r\n\x87\n", "jp2"),
    (0, b"\xff\x4f\xff\x51", "jp2"),
    (4, b"JXL \r\n\x87\n", "jxl"),
    (0, b"\xff\x0a", "jxl"),
    (0, b"8BPS\0\x01", "psd"),
    (0, b"8BPS\0\x02", "psd"),
    (0, b"IIRO", "tiff-raw"),
    (0, b"IIRS", "tiff-raw"),
    (0, b"MMOR", "tiff-raw"),
    (0, b"IIU\0", "tiff-raw"),
    (0, b"FUJIFILMCCD-RAW", "raf"),
    (0, b"FOVb", "x3f"),
    (0, b"\0MRM", "mrw"),
    (6, b"HEAPCCDR", "crw"),
    (0, b"\x1aE\xdf\xa3", "matroska"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (0, b"FLV\x01", "flv"),
    (0, b"OggS", "ogg"),
    (0, b"\x1f\x07\x00\x3f", "dv"),
    (0, b"\x1f\x07\x00\xbf", "dv"),
    (0, b"\x06\x0e\x2b\x34", "mxf"),
    (0, b"\0\0\x01\xba", "mpeg"),
    (0, b"\0\0\x01\xb3", "mpeg"),
)

_BRANDS: Final = {
    **dict.fromkeys((b"avif", b"avis"), "avif"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"), "heic"),
    b"crx ": "cr3",
}
_FIRST_ELEMENT: Final = re.compile(
    rb"""(?:
        [^<]*+
        (?: <\?.*?\?>                                      # the XML declaration, and instructions for programs
          | <!--.*?-->
          | <!DOCTYPE [^[>]*+ (?: \[ [^]]*+ \] [^>]*+ )?+ >  # with declarations of its own in brackets
        )
    )*+
    [^<]*+ < (?:[\w.-]++:)? ([\w.-]++)""",
    re.DOTALL | re.VERBOSE,
)
# These major brands leave the codec open; the compatible brands name it.
_IMAGE_BRANDS: Final = frozenset((b"mif1", b"mif2", b"msf1", b"miaf"))
# Brands of image sequences. A `meta` box follows if there is a still (ISO/IEC 23008-12 section 7), else the file
# continues like a video.
_SEQUENCE_BRANDS: Final = frozenset((b"msf1", b"hevc", b"hevx", b"hevm", b"hevs"))
# A QuickTime file may lack `ftyp` and begin with one of these boxes.
_QUICKTIME_BOXES: Final = frozenset((b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"))
_TRANSPORT_PACKET: Final = 188
#: Packets in a row that must begin as those of a transport stream: a few places of another file may do so by chance.
_PACKETS: Final = 5
#: Control characters that no text contains. Every format but SVG has some of them near its beginning.
_BINARY: Final = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


def split_name(name: str) -> tuple[str, str, str]:
    """Return the folder, base name and extension (lower case, no dot) of a relative path."""
    folder, _, file = name.rpartition("/")
    base, dot, extension = file.rpartition(".")
    return (folder, base, extension.lower()) if dot and base else (folder, file, "")


def by_extension(file_name: str) -> Format | None:
    """Return the row of the extension, whatever the content; None when the extension is unknown."""
    return _BY_EXTENSION.get(split_name(file_name)[2])


def may_have_pixels(file_name: str) -> bool:
    """Return whether the content must decide: the extension belongs to pictures or videos, or is missing."""
    row = by_extension(file_name)
    return row.media_type != "sidecar" if row else not split_name(file_name)[2]


def sniff(head: bytes, file_name: str) -> Format | None:
    """Return the row of a file, or None when its extension is unknown or its content is of no known family.

    Args:
        head: its first `HEAD_SIZE` bytes.
        file_name: only the extension counts; without one, the content alone.
    """
    named = by_extension(file_name)
    if not may_have_pixels(file_name):
        return named
    family = _family_of(head)
    return named if named and family in named.families else _FIRST_OF_FAMILY.get(family)


def is_sequence(head: bytes) -> bool:
    """Return whether a file with these first bytes is a HEIC or AVIF sequence: pictures in the form of a video."""
    return head[4:8] == b"ftyp" and (head[8:12] in _SEQUENCE_BRANDS or head[8:12] == b"avis")


def is_sidecar(file_name: str) -> bool:
    """Return whether the extension belongs to files that accompany a photo: XMP, XML, AAE, YAML, JSON, text."""
    row = by_extension(file_name)
    return row is not None and row.media_type == "sidecar"


def _family_of(head: bytes) -> str:
    """Return the family of a file by its first bytes; empty when unknown."""
    if not _BINARY.search(head):  # words of a text may be signatures: `The free …` begins as a QuickTime file
        is_svg = head[:64].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<") and _root_of(head) == b"svg"
        return "svg" if is_svg else ""
    for offset, magic, family in _MAGIC:
        if head.startswith(magic, offset):
            return family
    if head[:4] == b"RIFF":
        return {b"WEBP": "webp", b"AVI ": "avi"}.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _family_of_brands(head)
    if head[4:8] in _QUICKTIME_BOXES:
        return "mp4"
    # Other files may begin with `BM` too: the second header of a BMP must have a known size.
    if head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in (12, 40, 52, 56, 64, 108, 124):
        return "bmp"
    # Transport stream: a packet every 188 bytes; Blu-ray puts a four-byte time stamp before each.
    for start, step in ((0, _TRANSPORT_PACKET), (4, _TRANSPORT_PACKET + 4)):
        if all(_begins_packet(head[at : at + 4]) for at in range(start, start + step * _PACKETS, step)):
            return "mpeg-ts"
    return ""


def _begins_packet(head: bytes) -> bool:
    """Return whether these are the first four bytes of a packet of a transport stream (ISO/IEC 13818-1 table 2-2).

    It begins with the letter G, is not scrambled in the reserved way, and has an adaptation field or content.
    """
    return len(head) == 4 and head[0] == ord("G") and head[3] >> 6 != 1 and head[3] & 0x30 != 0


def _root_of(head: bytes) -> bytes:
    """Return the name of the first element of an XML document, without its prefix; empty when it is not in the head."""
    match = _FIRST_ELEMENT.match(head)
    return match[1] if match else b""


def _family_of_brands(head: bytes) -> str:
    end = min(int.from_bytes(head[:4], "big"), len(head))
    major, compatible = head[8:12], [head[i : i + 4] for i in range(16, end - 3, 4)]
    if major in _SEQUENCE_BRANDS and head[end + 4 : end + 8] in _QUICKTIME_BOXES:
        return "mp4"
    if major in _BRANDS:
        return _BRANDS[major]
    if major in _IMAGE_BRANDS:
        return next((_BRANDS[brand] for brand in compatible if brand in _BRANDS), "heic")
    return "mp4"
