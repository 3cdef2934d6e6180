"""File formats: one table, and which row a file belongs to.

The content (magic bytes) names the family, the extension picks the member of that family: an `.nef` and a `.tif` both
begin as TIFF, a PNG named `.jpg` is a PNG. A file whose content belongs to no known family is not a picture, whatever
its name says.
"""

from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal

from photosvc.media.signatures import family_of

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
    """Content families, see `signatures`; empty for sidecars, which are told by name alone."""
    extra: str = ""
    """The optional extra that decodes it: `heic`, `raw`, `video`, or empty for the core."""

    @property
    def is_tiff(self) -> bool:
        """Whether the file itself is a TIFF structure, and so its own Exif."""
        return "tiff" in self.families


_TIFF_RAWS = (
    "3fr arw cs1 dcr dcs drf erf fff gpr iiq k25 kc2 kdc mdc mef mos nef nrw orf pef ptx pxn raw rw2 rwl rwz "
    "sr2 srf srw sti"
)

FORMATS: Final[tuple[Format, ...]] = (
    Format("jpg", ("jpg", "jpeg", "jpe", "jfif", "jif", "thm", "mpo"), "image", "image/jpeg", ("jpeg",)),
    Format("png", ("png", "apng"), "image", "image/png", ("png",)),
    Format("webp", ("webp",), "image", "image/webp", ("webp",)),
    Format("gif", ("gif",), "image", "image/gif", ("gif",)),
    Format("tiff", ("tif", "tiff"), "image", "image/tiff", ("tiff",)),
    Format("bmp", ("bmp", "dib"), "image", "image/bmp", ("bmp",)),
    Format("avif", ("avif", "avifs"), "image", "image/avif", ("avif",)),
    Format("heic", ("heic", "heif", "heics", "heifs", "hif"), "image", "image/heic", ("heic",), "heic"),
    Format("dng", ("dng",), "raw", "image/x-adobe-dng", ("tiff",), "raw"),
    Format("raw", ("cr2",), "raw", "image/x-canon-cr2", ("tiff",), "raw"),
    Format("raw", ("cr3",), "raw", "image/x-canon-cr3", ("cr3",), "raw"),
    Format("raw", ("crw",), "raw", "image/x-canon-crw", ("crw",), "raw"),
    Format("raw", ("raf",), "raw", "image/x-fuji-raf", ("raf",), "raw"),
    Format("raw", ("x3f",), "raw", "image/x-sigma-x3f", ("x3f",), "raw"),
    Format("raw", ("mrw",), "raw", "image/x-minolta-mrw", ("mrw",), "raw"),
    Format("raw", tuple(_TIFF_RAWS.split()), "raw", "image/x-raw", ("tiff", "tiff-raw"), "raw"),
    Format("mp4", ("mp4", "mp4v", "insv", "lrv"), "video", "video/mp4", ("mp4",), "video"),
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

#: Bytes of a file's beginning that `sniff` wants; fewer will do for a short file.
HEAD_SIZE: Final = 512

_BY_EXTENSION: Final = {extension: row for row in FORMATS for extension in row.extensions}
_FIRST_OF_FAMILY: Final = {family: row for row in reversed(FORMATS) for family in row.families}
# Only a known extension tells a raw of this family; without one its first row would be a guess.
_FIRST_OF_FAMILY.pop("tiff-raw")


def extension_of(file_name: str) -> str:
    """The lower-case extension without its dot, empty when there is none."""
    return PurePath(file_name).suffix[1:].lower()


def by_extension(file_name: str) -> Format | None:
    """The row the name alone promises."""
    return _BY_EXTENSION.get(extension_of(file_name))


def sniff(head: bytes, file_name: str) -> Format | None:
    """The row a file belongs to, None when its extension is unknown or its content is of no known family.

    Args:
        head: its first `HEAD_SIZE` bytes.
        file_name: only the extension counts.

    """
    promised = by_extension(file_name)
    if promised is None or promised.media_type == "sidecar":
        return promised
    family = family_of(head)
    return promised if family in promised.families else _FIRST_OF_FAMILY.get(family)


def is_sidecar(file_name: str) -> bool:
    """Whether the name is that of a file that accompanies a photo: XMP, XML, AAE, YAML, JSON, text."""
    row = by_extension(file_name)
    return row is not None and row.media_type == "sidecar"


def supported_extensions() -> frozenset[str]:
    """Every extension of the table, whether or not its extra is installed."""
    return frozenset(_BY_EXTENSION)
