"""Opens pictures, checks by their headers what they cost and decodes them; no other module decodes a picture file.

Every exception of a decoder becomes a `DecodeError` with its reason.
"""

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from math import isfinite
from typing import BinaryIO, Final

from PIL import Image, UnidentifiedImageError

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError, PictureTooLargeError, register_heic
from photosvc.media.formats import Format
from photosvc.media.pixels.cost import check_cost, leave_out_pixels, read_levels
from photosvc.media.pixels.raw import open_raw

#: Format -> modules of Pillow, and the name under which the module registers its reader.
_READERS: Final = {
    "jpg": ("JpegImagePlugin", "JPEG"),
    "png": ("PngImagePlugin", "PNG"),
    "webp": ("WebPImagePlugin", "WEBP"),
    "gif": ("GifImagePlugin", "GIF"),
    "tiff": ("TiffImagePlugin", "TIFF"),
    "bmp": ("BmpImagePlugin", "BMP"),
    "avif": ("AvifImagePlugin", "AVIF"),
    "heic": ("", "HEIF"),
    "jp2": ("Jpeg2KImagePlugin", "JPEG2000"),
    "psd": ("PsdImagePlugin", "PSD"),
}
#: Bytes at the beginning of a JPEG 2000 that contain its coding parameters.
_JP2_HEAD: Final = 1 << 16
_WIDE_MODES: Final = frozenset(("I", "I;16", "I;16B", "I;16L", "I;16N", "F"))
#: What brings pixels of an Exif orientation (2 to 8) upright.
UPRIGHT: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


@contextmanager
def guarded() -> Iterator[None]:
    """Turn every exception of a decoder into `DecodeError`, and suppress its warnings."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DecodeError:
        raise
    except MemoryError as error:
        raise PictureTooLargeError(Reason.OVER_AVAILABLE_MEMORY) from error
    except Exception as error:  # decoders raise exceptions of any type
        raise DecodeError(_reason(error)) from error


@contextmanager
def open_picture(
    source: BinaryIO, row: Format, *, header_only: bool = False, longest: int = 0
) -> Iterator[Image.Image]:
    """The picture with its header read, checked for the memory it takes, and no pixel decoded.

    Args:
        source: the file, open for reading; it is not closed.
        row: its format, as sniffed. A camera raw opens as its embedded preview, or else developed at half size.
        header_only: skip the check; the caller must call `check_cost` before it reads pixels.
        longest: pixels the longer side should have; an embedded preview of a raw that has fewer is not used.

    Raises:
        DecodeError: it cannot be opened or decoded; also for what happens within the `with` block.
        MissingExtraError: its decoder is not installed.
        PictureTooLargeError: it takes more memory than is available, or is a decompression bomb.

    """
    with guarded():
        if row.media_type == "raw":
            with open_raw(source, longest) as picture:
                yield picture
            return
        if row.extra == "heic":
            register_heic()
        with _read_header(source, row) as picture:
            if not header_only:
                check_cost(picture, size_of(source), longest)
            yield picture


def _read_header(source: BinaryIO, row: Format) -> Image.Image:
    """The picture as its reader opens it; `Image.open` would refuse large ones by a limit of the whole process."""
    if row.name not in _READERS:
        raise DecodeError(Reason.NO_PIXELS, row.media_type)
    module, name = _READERS[row.name]
    if module:
        import_module(f"PIL.{module}")
    source.seek(0)
    try:
        picture: Image.Image = Image.OPEN[name][0](source, "")
    except (SyntaxError, IndexError, TypeError, struct.error) as error:
        raise DecodeError(Reason.BAD_HEADER) from error
    if name == "JPEG2000":
        source.seek(0)
        picture.info["levels"] = read_levels(source.read(_JP2_HEAD))
    return picture


def scaled(picture: Image.Image, longest: int, orientation: int = 1) -> Image.Image:
    """The upright picture as RGB or RGBA, at most about `longest` pixels on its longer side, decoded once.

    JPEG is decoded at the nearest DCT scale, JPEG 2000 at the nearest resolution that the file contains, HEIC from its
    embedded thumbnail when that has the size.

    Args:
        picture: as opened, its pixels not loaded.
        longest: target in pixels; a smaller picture keeps its size.
        orientation: Exif orientation (1 to 8) to apply.

    Raises:
        DecodeError: the pixels cannot be decoded.

    """
    with guarded():
        ratio = min(1.0, longest / max(picture.size))
        target = (max(1, round(picture.width * ratio)), max(1, round(picture.height * ratio)))
        leave_out_pixels(picture, "RGB", target)
        small = picture
        if picture.mode not in ("RGB", "RGBA", "L"):
            # Pixels are dropped first, so that the conversion stays cheap.
            double = (min(target[0] * 2, picture.width), min(target[1] * 2, picture.height))
            small = displayable(picture.resize(double, Image.Resampling.NEAREST))
        if max(small.size) > longest:
            small = small.resize(target, Image.Resampling.HAMMING, reducing_gap=2.0)
        small.load()
        small = small if small.mode in ("RGB", "RGBA") else small.convert("RGB")
        turn = UPRIGHT.get(orientation)
        return small.transpose(turn) if turn is not None else small.copy() if small is picture else small


def displayable(picture: Image.Image) -> Image.Image:
    """The picture as L, RGB or RGBA, from a mode that cannot be resampled or shown; all its pixels are converted."""
    if picture.mode in _WIDE_MODES:
        scale = 255 / _brightest(picture)
        return picture.convert("F").point(lambda value: value * scale).convert("L")
    if picture.mode == "1":
        return picture.convert("L")
    alpha = "transparency" in picture.info or picture.mode in ("LA", "PA", "La", "RGBa")
    return picture.convert("RGBA" if alpha else "RGB")


def _brightest(picture: Image.Image) -> float:
    """The value shown as white: sixteen bits often hold values of twelve, floating point the range from 0 to 1."""
    top = picture.getextrema()[1]
    if not isinstance(top, int | float) or not isfinite(top):
        return 255.0
    return max(top, 1.0 if picture.mode == "F" and top <= 1 else 255.0)


def size_of(source: BinaryIO) -> int:
    """Bytes of the file; its position does not change."""
    here = source.tell()
    size = source.seek(0, 2)
    source.seek(here)
    return size


def _reason(error: Exception) -> Reason:
    """The reason behind a decoder's exception, by its type or, where decoders have only words, by these."""
    words = str(error).lower()
    if isinstance(error, UnidentifiedImageError):
        return Reason.BAD_HEADER
    if any(word in words for word in ("truncated", "unexpected end", "eof", "end of file", "too short")):
        return Reason.TRUNCATED
    if isinstance(error, OSError) and error.errno is not None:
        return Reason.READ_ERROR
    return Reason.UNDECODABLE
