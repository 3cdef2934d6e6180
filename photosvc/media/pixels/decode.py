"""Opens pictures, checks their headers against the limits and decodes them; no other module decodes a picture file.

Every exception of a decoder becomes a `DecodeError` with its reason.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Final

from PIL import Image, UnidentifiedImageError

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError, PictureTooLargeError, register_heic
from photosvc.media.formats import Format
from photosvc.media.pixels.raw import open_raw

#: Most pixels of a picture.
MAX_PIXELS: Final = 150_000_000
#: Most pixels when the decoder holds all of them at once, as all do but that of sequential JPEG, which scales.
MAX_HELD_PIXELS: Final = 100_000_000
#: Bytes that any picture may unpack to; a larger one may unpack to `MAX_RATIO` times the size of its file.
FREE_MEMORY: Final = 48_000_000
MAX_RATIO: Final = 250

_PLUGINS: Final = {
    "jpg": ("JPEG", "MPO"),
    "png": ("PNG",),
    "webp": ("WEBP",),
    "gif": ("GIF",),
    "tiff": ("TIFF",),
    "bmp": ("BMP", "DIB"),
    "avif": ("AVIF",),
    "heic": ("HEIF",),
}
_BYTES_EACH: Final = {"1": 1, "L": 1, "P": 1, "LA": 4, "I;16": 2}
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
    except Image.DecompressionBombError as error:  # Pillow's own limit, higher than ours
        raise PictureTooLargeError(Reason.OVER_HEADER_LIMIT, MAX_PIXELS // 1_000_000) from error
    except MemoryError as error:
        raise PictureTooLargeError(Reason.OVER_AVAILABLE_MEMORY) from error
    except Exception as error:  # decoders raise exceptions of any type
        raise DecodeError(_reason(error)) from error


@contextmanager
def open_picture(
    source: BinaryIO, row: Format, *, header_only: bool = False, longest: int = 0
) -> Iterator[Image.Image]:
    """The picture with its header read and checked against the limits, and no pixel decoded.

    Args:
        source: the file, open for reading; it is not closed.
        row: its format, as sniffed. A camera raw opens as its embedded preview, or else developed at half size.
        header_only: skip the limits; the caller must call `check_size` before it reads pixels.
        longest: pixels the longer side should have; an embedded preview of a raw that has fewer is not used.

    Raises:
        DecodeError: it cannot be opened or decoded; also for what happens within the `with` block.
        MissingExtraError: its decoder is not installed.
        PictureTooLargeError: it has more pixels than the limits allow.

    """
    with guarded():
        if row.media_type == "raw":
            with open_raw(source, MAX_PIXELS, longest) as picture:
                yield picture
            return
        if row.name not in _PLUGINS:
            raise DecodeError(Reason.NO_PIXELS, row.media_type)
        if row.extra == "heic":
            register_heic()
        source.seek(0)
        with Image.open(source, formats=_PLUGINS[row.name]) as picture:
            if not header_only:
                check_size(picture, size_of(source))
            yield picture


def check_size(picture: Image.Image, file_size: int) -> None:
    """Refuse a picture that is too large, by its header.

    Raises:
        PictureTooLargeError: it is beyond the limits, or a decompression bomb.

    """
    width, height = picture.size
    pixels = width * height
    sequential = picture.format in ("JPEG", "MPO") and not picture.info.get("progressive")
    limit = MAX_PIXELS if sequential else MAX_HELD_PIXELS
    if pixels > limit:
        raise PictureTooLargeError(Reason.OVER_PIXEL_LIMIT, f"{pixels / 1e6:.0f}", limit // 1_000_000)
    memory = pixels * _BYTES_EACH.get(picture.mode, 4)
    if not sequential and memory > max(FREE_MEMORY, file_size * MAX_RATIO):
        raise PictureTooLargeError(Reason.OVER_RATIO, memory // max(file_size, 1))


def scaled(picture: Image.Image, longest: int, orientation: int = 1) -> Image.Image:
    """The upright picture as RGB or RGBA, at most about `longest` pixels on its longer side, decoded once.

    JPEG is decoded at the nearest DCT scale, HEIC from its embedded thumbnail when that has the size.

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
        picture.draft("RGB", target)
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
        high = picture.getextrema()[1]
        # Sixteen bits often hold values of twelve, so the brightest pixel sets the scale.
        top = high if isinstance(high, int | float) else 255.0
        return picture.convert("F").point(lambda value: value * (255 / max(top, 255.0))).convert("L")
    alpha = "transparency" in picture.info or picture.mode in ("LA", "PA", "La", "RGBa")
    return picture.convert("RGBA" if alpha else "RGB")


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
