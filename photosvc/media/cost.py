"""The memory that decoding a picture takes, estimated by its header, and decoding at a smaller scale.

The limit is the memory of the worker. Decompression bombs are refused even below it: large PNG or GIF files with
a compression ratio that only blank pictures reach.
"""

import sys
from math import ceil
from typing import TYPE_CHECKING, BinaryIO, Final, TypeGuard, cast

from PIL import Image, ImageFile

from photosvc.core.problems import Reason
from photosvc.core.process import available_memory
from photosvc.media.errors import PictureTooLargeError

if TYPE_CHECKING:
    from PIL.Jpeg2KImagePlugin import Jpeg2KImageFile
    from PIL.JpegImagePlugin import JpegImageFile


#: A side of a picture decoded at a smaller scale has at least this many times the pixels of the result.
OVERSAMPLING: Final = 1.5
#: Bytes of address space a pixel takes while it is decoded, measured with 24 megapixels; other formats take one copy.
_BYTES_EACH: Final = {"WEBP": 17, "AVIF": 12, "HEIF": 8, "JPEG2000": 20, "JXL": 11}
_BYTES_OF_MODE: Final = {"1": 1, "L": 1, "P": 1, "I;16": 2, "I;16B": 2, "I;16L": 2}
#: Bytes of the copies that converting a mode to a displayable one takes.
_CONVERTED: Final = {"1": 1, "P": 4, "LA": 4, "I;16": 9, "I;16B": 9, "I;16L": 9, "I": 5, "F": 5}
#: Bits of a pixel in the file, by mode; a PNG or GIF may have fewer, never more for its mode.
_BITS_OF_MODE: Final = {"1": 1, "L": 8, "P": 8, "LA": 16, "I;16": 16, "RGB": 24, "RGBA": 32}
#: Pictures that take less memory than this many bytes are decoded however small their file is.
BOMB_MEMORY: Final = 100_000_000
#: DEFLATE packs at most 1,032 bytes into one (RFC 1951), LZW of GIF 2,730; only blank pictures have such a ratio.
BOMB_RATIO: Final = 900
#: Memory left for the scaled copy, the thumbnail and its encoder after the decode. Small pictures need less.
_MARGIN: Final = 32 << 20
_LEAST_MARGIN: Final = 1 << 20
_MAX_REDUCTION: Final = 5
_COD: Final = b"\xff\x52"


def check_cost(picture: Image.Image, file_size: int, longest: int = 0) -> None:
    """Refuse a picture by its header when this process does not have the memory to decode it.

    Args:
        picture: an opened picture, its pixels not loaded.
        file_size: bytes.
        longest: pixels of its longer side once decoded; 0 for all pixels.

    Raises:
        PictureTooLargeError: it takes more memory than is available, or it is a decompression bomb.
    """
    memory = decode_memory(picture, file_size, longest)
    if not _is_available(memory):
        raise PictureTooLargeError(Reason.OVER_MEMORY, max(1, memory // 1_000_000))
    if picture.format in ("PNG", "GIF") and memory > BOMB_MEMORY:
        check_ratio(picture.width * picture.height, _packed_bits(picture), file_size)


def check_ratio(pixels: int, bits: int, file_size: int) -> None:
    """Refuse a picture with a compression ratio that only a blank one reaches.

    Args:
        pixels: width times height.
        bits: bits of a pixel in the file, before compression.
        file_size: bytes.

    Raises:
        PictureTooLargeError: it is a decompression bomb.
    """
    ratio = pixels * bits // 8 // max(file_size, 1)
    if ratio > BOMB_RATIO:
        raise PictureTooLargeError(Reason.BOMB, pixels // 1_000_000, ratio)


def _is_available(memory: int) -> bool:
    return memory + min(_MARGIN, _LEAST_MARGIN + 4 * memory) <= available_memory()


def vast_webp(source: BinaryIO) -> Image.Image | None:
    """Return a picture without pixels, of the size of a WebP that needs too much memory to open; None for others.

    Pillow's reader allocates part of that memory when it opens the file (sizes: RFC 9649 sections 2.5 to 2.7).
    """
    source.seek(0)
    head = source.read(30).ljust(30, b"\0")
    if head[12:16] == b"VP8X":
        width, height = (int.from_bytes(head[at : at + 3], "little") + 1 for at in (24, 27))
    elif head[12:16] == b"VP8L":
        bits = int.from_bytes(head[21:25], "little")
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    else:
        width, height = (int.from_bytes(head[at : at + 2], "little") & 0x3FFF for at in (26, 28))
    if _is_available(_BYTES_EACH["WEBP"] * width * height):
        return None
    vast = Image.Image()
    vast.format, vast._size, vast._mode = "WEBP", (width, height), "RGB"  # noqa: SLF001 - as readers of Pillow do
    return vast


def decode_memory(picture: Image.Image, file_size: int, longest: int = 0) -> int:
    """Return the most bytes that decoding takes, together with the conversion to a displayable mode."""
    pixels = picture.width * picture.height
    longest = ceil(longest * OVERSAMPLING)
    if _is_jpeg(picture):
        # Its decoder divides each side by a DCT scale.
        scale = next((scale for scale in (8, 4, 2) if 0 < longest * scale <= max(picture.size)), 1)
        return 4 * pixels // scale**2 + (_coefficients(picture) if picture.info.get("progressive") else 0)
    if _is_jpeg_2000(picture):
        pixels //= 4 ** _reduction(picture, longest)
    if any(longest <= side for side in picture.info.get("thumbnails", ()) if longest):
        return BOMB_MEMORY  # the decoder of HEIC takes an embedded thumbnail
    each = (
        picture.info.get("bytes_each") or _BYTES_EACH.get(picture.format or "") or _BYTES_OF_MODE.get(picture.mode, 4)
    )
    return pixels * (each + _CONVERTED.get(picture.mode, 0)) + (file_size if picture.format == "TIFF" else 0)


def leave_out_pixels(picture: Image.Image, mode: str, size: tuple[int, int]) -> None:
    """Make the decoder scale the picture down, but not below a size.

    JPEG and JPEG 2000 are decoded at a smaller scale; HEIC is replaced by an embedded thumbnail.

    Args:
        picture: an opened picture, its pixels not loaded.
        mode: mode of the result; only JPEG follows it.
        size: least width and height, with the aspect ratio of the picture.

    Raises:
        PictureTooLargeError: it must be decoded whole, which takes more memory than is available.
    """
    if _is_jpeg_2000(picture):
        _load_reduced(picture, _reduction(picture, max(size)))
    else:
        picture.draft(mode, size)


def _load_reduced(picture: "Jpeg2KImageFile", reduction: int) -> None:
    """Load a JPEG 2000; in full where OpenJPEG fails at the reduction, as with tiles at odd offsets."""
    whole = picture._size, picture.tile, picture.fp  # noqa: SLF001 - the size is that of the whole picture until it is loaded
    picture.reduce = reduction
    try:
        picture.load()
    except OSError:
        if not reduction:
            raise
        picture.reduce = 0
        picture._size, picture.tile, picture.fp, picture._im = *whole, None  # noqa: SLF001
        check_cost(picture, 0)
        picture.load()


def _coefficients(picture: "JpegImageFile") -> int:
    """Return the bytes of the coefficients of a progressive JPEG, which the decoder holds all at once."""
    factors = [(across, down) for _, across, down, *_ in picture.layer]
    most = max(across for across, _ in factors) * max(down for _, down in factors)
    return 2 * picture.width * picture.height * sum(across * down for across, down in factors) // max(most, 1)


def _reduction(picture: "Jpeg2KImageFile", longest: int) -> int:
    """Return how many times the decoder of JPEG 2000 halves the sides: at most once a wavelet decomposition."""
    wanted = next((n for n in range(_MAX_REDUCTION, 0, -1) if 0 < longest << n <= max(picture.size)), 0)
    return min(wanted, cast("int", picture.info.get("levels", 0)))


def read_levels(head: bytes) -> int:
    """Return the decompositions of a JPEG 2000 by its first bytes (ISO/IEC 15444-1 section A.6.1); 0 when unknown."""
    at = head.find(_COD)
    return head[at + 9] if 0 <= at < len(head) - 9 else 0


def _packed_bits(picture: Image.Image) -> int:
    """Return the bits of a pixel in a PNG or GIF."""
    if isinstance(picture, ImageFile.ImageFile) and picture.tile:
        depth = str(picture.tile[0][3]).partition(";")[2]  # the mode in a PNG, such as `P;4`
        if depth.isdigit():
            return int(depth)
    return _BITS_OF_MODE.get(picture.mode, 8)


def _is_jpeg(picture: Image.Image) -> "TypeGuard[JpegImageFile]":
    return _is_from(picture, "JpegImagePlugin", "JpegImageFile")


def _is_jpeg_2000(picture: Image.Image) -> "TypeGuard[Jpeg2KImageFile]":
    return _is_from(picture, "Jpeg2KImagePlugin", "Jpeg2KImageFile")


def _is_from(picture: Image.Image, plugin: str, name: str) -> bool:
    """Return whether this reader of Pillow opened the picture, without importing the reader."""
    module = sys.modules.get(f"PIL.{plugin}")
    return module is not None and isinstance(picture, getattr(module, name))
