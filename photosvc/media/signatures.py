"""Magic bytes: the family a file's content belongs to.

Sources: the format specifications; ISO/IEC 14496-12 for the brands of `ftyp` boxes.
"""

from typing import Final

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
    (0, b"\x06\x0e\x2b\x34", "mxf"),
    (0, b"\0\0\x01\xba", "mpeg"),
    (0, b"\0\0\x01\xb3", "mpeg"),
)

_RIFF: Final = {b"WEBP": "webp", b"AVI ": "avi"}

_BRANDS: Final = {
    **dict.fromkeys((b"avif", b"avis"), "avif"),
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"), "heic"),
    b"crx ": "cr3",
}
# Any image brand may lead; the compatible brands then tell the codec.
_IMAGE_BRANDS: Final = frozenset((b"mif1", b"mif2", b"msf1", b"miaf"))
# A QuickTime file may lack `ftyp` and begin with one of these boxes.
_QUICKTIME_BOXES: Final = frozenset((b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"))
_TRANSPORT_PACKET: Final = 188


def family_of(head: bytes) -> str:
    """The family of a file by its first bytes, empty when unknown."""
    for offset, magic, family in _MAGIC:
        if head.startswith(magic, offset):
            return family
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12], "")
    if head[4:8] == b"ftyp":
        return _family_of_brands(head)
    if head[4:8] in _QUICKTIME_BOXES:
        return "mp4"
    if _is_bitmap(head):
        return "bmp"
    # Transport stream: a sync byte each 188 bytes; Blu-ray puts a four-byte time stamp before each packet.
    for start, step in ((0, _TRANSPORT_PACKET), (4, _TRANSPORT_PACKET + 4)):
        if len(head) > start + step and head[start] == head[start + step] == ord("G"):
            return "mpeg-ts"
    return ""


def _family_of_brands(head: bytes) -> str:
    end = min(int.from_bytes(head[:4], "big"), len(head))
    major, compatible = head[8:12], [head[i : i + 4] for i in range(16, end - 3, 4)]
    if major in _BRANDS:
        return _BRANDS[major]
    if major in _IMAGE_BRANDS:
        return next((_BRANDS[brand] for brand in compatible if brand in _BRANDS), "heic")
    return "mp4"


def _is_bitmap(head: bytes) -> bool:
    """`BM` alone begins many a text: the header size of the second header must be a known one too."""
    return head[:2] == b"BM" and int.from_bytes(head[14:18], "little") in (12, 40, 52, 56, 64, 108, 124)
