"""Pictures decoded by libvips because Pillow cannot read them or takes too much memory: SVG, unusual TIFF, old AVIF.

libvips decodes and scales by strips. It gets the bytes of one file and no path, so that no reference in a file can
make it open another one.
"""

from functools import cache
from typing import Any, BinaryIO, Final

from PIL import Image

from photosvc.core.machine import available_memory
from photosvc.core.problems import Reason
from photosvc.media.colour_spaces import NAMED_PROFILE
from photosvc.media.cost import BOMB_MEMORY, check_ratio
from photosvc.media.errors import DecodeError, PictureTooLargeError, load_extra
from photosvc.media.tiff import open_tiff

#: Bytes of memory that libvips takes beside the file and the pixels: GLib aborts the process when an allocation fails.
_OVERHEAD: Final = 160_000_000
#: Bytes for each pixel of an AVIF, which is decoded whole, and for each column of other formats, decoded by strips.
_BYTES_EACH_AVIF: Final = 20
_BYTES_EACH_COLUMN: Final = 2_000
_MODES: Final = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
_LOADERS: Final = {"svg": "VipsForeignLoadSvg", "tiff": "VipsForeignLoadTiff", "avif": "VipsForeignLoadHeif"}
_TURNED: Final = range(5, 9)
#: Colours by measure, which the names of libvips tell.
_MEASURED: Final = frozenset(("lab", "labs", "labq", "xyz"))
_PHOTOMETRIC, _ICC_LAB = 0x0106, 9


def open_scaled(source: BinaryIO, name: str, longest: int) -> Image.Image:
    """Decode a picture and return it upright, at most `longest` pixels on its longer side.

    Its `info` contains `whole_size`, the size of the whole upright picture, and `upright`.

    Args:
        name: its format: `svg`, `tiff` or `avif`.
        longest: pixels; 0 for the size in the file.

    Raises:
        MissingExtraError: pyvips is not installed.
        DecodeError: libvips cannot read it.
        PictureTooLargeError: it takes more memory than is available, or it is a decompression bomb.
    """
    vips = _library()
    source.seek(0)
    data = source.read()
    try:
        header = vips.Image.new_from_buffer(data, "", access="sequential")
        memory = _OVERHEAD + (
            _BYTES_EACH_AVIF * header.width * header.height
            if name == "avif"
            else _BYTES_EACH_COLUMN * min(header.width, 100_000)
        )
        if memory > available_memory():
            raise PictureTooLargeError(Reason.OVER_MEMORY, memory // 1_000_000)
        if name == "tiff":
            _check_ratio(header, len(data))
            header = _in_lab(header, source)
        side = longest or min(max(header.width, header.height), Image.MAX_IMAGE_PIXELS or 1)
        small = _scaled(vips, header, data, side)
        picture = Image.frombytes(_MODES[small.bands], (small.width, small.height), small.write_to_memory())
    except vips.Error as error:
        raise DecodeError(Reason.UNDECODABLE) from error
    turned = name == "tiff" and _field(header, "orientation") in _TURNED
    picture.info["whole_size"] = (header.height, header.width) if turned else (header.width, header.height)
    picture.info["upright"] = True
    profile = _field(header, "icc-profile-data")
    if isinstance(profile, bytes):
        applicable = header.interpretation in ("srgb", "rgb16")
        picture.info["icc_profile" if applicable else NAMED_PROFILE] = profile
    return picture


def _in_lab(header: Any, source: BinaryIO) -> Any:  # noqa: ANN401 - untyped
    """Return the TIFF in Lab if it is ICC L*a*b*, whose colour axes are not signed (TIFF Technical Note 4)."""
    opened = open_tiff(source)
    if opened is None or opened[1].integer(_PHOTOMETRIC) != _ICC_LAB or header.bands != 3:
        return header
    each = 256 if header.format == "ushort" else 1
    return header.linear([100 / 255 / each, 1 / each, 1 / each], [0, -128, -128]).copy(interpretation="lab")


def _check_ratio(header: Any, file_size: int) -> None:  # noqa: ANN401 - untyped
    """Refuse a TIFF of a few bytes whose header promises gigabytes: strips that are missing cost time, not memory."""
    pixels, bits = header.width * header.height, header.bands * header.get("bits-per-sample")
    if pixels * bits // 8 > BOMB_MEMORY:
        check_ratio(pixels, bits, file_size)


@cache
def _library() -> Any:  # noqa: ANN401 - untyped
    """Import the library and limit it to one thread, no cache and the readers that are needed."""
    vips = load_extra("vips")
    vips.concurrency_set(1)
    vips.cache_set_max(0)
    vips.operation_block_set("VipsForeignLoad", True)
    for loader in _LOADERS.values():
        vips.operation_block_set(loader, False)
    return vips


def _scaled(vips: Any, header: Any, data: bytes, side: int) -> Any:  # noqa: ANN401
    """Return the picture at most `side` pixels long, in sRGB with eight bits."""
    if header.interpretation in _MEASURED:
        return header.thumbnail_image(side, height=side, size="down").colourspace("srgb").cast("uchar")
    if header.format == "uchar" or header.interpretation in ("rgb16", "scrgb"):
        small = vips.Image.thumbnail_buffer(data, side, height=side, size="down")
        return small.colourspace("srgb").cast("uchar")
    # Grey with more bits: the brightest pixel is white, as twelve bits in sixteen are common.
    small = header.resize(min(1.0, side / max(header.width, header.height)), kernel="linear").copy_memory()
    least = 1.0 if header.format in ("float", "double") else 255.0
    return small.linear(255 / max(small.max(), least), 0).cast("uchar").colourspace("srgb").autorot()


def _field(image: Any, name: str) -> object:  # noqa: ANN401
    return image.get(name) if image.get_typeof(name) else None
