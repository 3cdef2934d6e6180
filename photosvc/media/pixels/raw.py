"""Camera raws, opened by LibRaw as their embedded preview or else developed at half size.

A raw that LibRaw does not know is shown by its preview all the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any, BinaryIO, Final

from PIL import Image

from photosvc.core.memory import available_memory
from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError, PictureTooLargeError, load_extra
from photosvc.media.exif.reader import read_exif_file
from photosvc.media.pixels.raw_preview import find_preview

#: A preview with a longer side below this is too small to show; the raw is developed instead.
MIN_PREVIEW: Final = 480
#: Bytes of memory that a pixel of the sensor takes while the raw is developed at half size.
_BYTES_EACH: Final = 12


@contextmanager
def open_raw(source: BinaryIO, longest: int = 0) -> Iterator[Image.Image]:
    """A picture of the raw; the pixels of a JPEG preview are not decoded yet.

    Its `info` contains `whole_size`, the size of the whole upright picture, `upright` if it is so already, and the
    `exif` of the preview if it has any.

    Args:
        source: the file, open for reading.
        longest: pixels the longer side should have, as far as a development at half size has them.

    Raises:
        MissingExtraError: rawpy is not installed, and there is no preview.
        DecodeError: LibRaw cannot read it, and there is no preview.
        PictureTooLargeError: it must be developed, which takes more memory than is available.

    """
    try:
        picture = _by_libraw(source, longest)
    except DecodeError:
        shown = find_preview(source)
        if shown is None:
            raise
        picture = shown
        exif = read_exif_file(source)
        if min(exif.size) >= min(picture.size):
            picture.info["whole_size"] = exif.size[::-1] if exif.orientation >= 5 else exif.size
    with picture:
        yield picture


def _by_libraw(source: BinaryIO, longest: int) -> Image.Image:
    rawpy = load_extra("raw")
    source.seek(0)
    with _readable(rawpy), rawpy.imread(source) as raw:
        sizes = raw.sizes
        width, height = (sizes.height, sizes.width) if sizes.flip in (5, 6) else (sizes.width, sizes.height)
        if not width * height:
            raise DecodeError(Reason.UNDECODABLE_RAW)
        picture = _preview(rawpy, raw, min(longest, max(width, height) // 2)) or _development(raw)
        picture.info["whole_size"] = (width, height)
        return picture


@contextmanager
def _readable(rawpy: Any) -> Iterator[None]:  # noqa: ANN401
    try:
        yield
    except rawpy.LibRawError as error:
        raise DecodeError(Reason.UNDECODABLE_RAW) from error


def _preview(rawpy: Any, raw: Any, longest: int) -> Image.Image | None:  # noqa: ANN401
    try:
        thumb = raw.extract_thumb()
    except rawpy.LibRawError:
        return None
    if thumb.format != rawpy.ThumbFormat.JPEG:
        return None
    picture = Image.open(BytesIO(thumb.data), formats=("JPEG", "MPO"))
    return picture if max(picture.size) >= max(MIN_PREVIEW, longest) else None


def _development(raw: Any) -> Image.Image:  # noqa: ANN401
    """The raw at half size: one pixel for each 2x2 block of the sensor, several times faster than at full size."""
    memory = _BYTES_EACH * raw.sizes.raw_width * raw.sizes.raw_height
    if memory > available_memory():
        raise PictureTooLargeError(Reason.OVER_MEMORY, memory // 1_000_000)
    pixels = raw.postprocess(half_size=True, use_camera_wb=True, output_bps=8)
    if pixels.ndim != 3:
        raise DecodeError(Reason.RAW_WITHOUT_COLORS)
    picture = Image.fromarray(pixels)
    picture.info["upright"] = True
    return picture
