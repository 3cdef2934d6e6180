"""The only module that opens and decodes picture files; it checks the memory that they take.

Every exception of a decoder becomes a `DecodeError` with its reason; an error of our own code passes through. Libvips
decodes pictures that Pillow cannot read, or only with too much memory: SVG, unusual TIFF, old AVIF. It decodes and
scales by strips. It gets the bytes of one file and no path, so that no reference in a file can make it open another.
"""

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib import import_module
from math import isfinite
from typing import Any, BinaryIO, Final

from PIL import Image, UnidentifiedImageError

from photosvc.core.files import TRANSIENT_ERRNOS
from photosvc.core.problems import Reason, system_symbol
from photosvc.core.process import available_memory
from photosvc.media.containers import open_shown_chunks
from photosvc.media.cost import BOMB_MEMORY, check_cost, check_ratio, leave_out_pixels, read_levels, vast_webp
from photosvc.media.errors import (
    DecodeError,
    MissingExtraError,
    PictureTooLargeError,
    has_extra,
    load_extra,
    register_heic,
    register_jxl,
)
from photosvc.media.exif import read_exif_file
from photosvc.media.formats import Format
from photosvc.media.icc import NAMED_PROFILE, profile_of_bmp, profile_of_heif, profile_of_jp2
from photosvc.media.isobmff import boxes, clean_aperture, is_whole
from photosvc.media.jxl import read_colours, without_linearity
from photosvc.media.psd import PsdImageFile
from photosvc.media.raw import open_raw
from photosvc.media.tiff import Directory, open_tiff
from photosvc.media.tiff_samples import SampledTiff, predictor_of

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
    "psd": ("", "PSD"),
    "jxl": ("", "JXL"),
}
#: Compressions of TIFF that libvips or its libtiff knows: of the standard, old ones of fax and scanners, and of SGI,
#: JPEG 2000, LERC, LZMA, Zstandard and WebP.
_VIPS_PACKINGS: Final = frozenset((
    *range(1, 9), 32766, 32771, 32773, 32809, 32946, 33003, 33005, 34676, 34677, 34712, 34887, 34925, 50000, 50001,
))  # fmt: skip
#: Readers of colour profiles that Pillow leaves out.
_PROFILES: Final = {
    "JPEG2000": profile_of_jp2, "BMP": profile_of_bmp, "AVIF": profile_of_heif, "HEIF": profile_of_heif,
}  # fmt: skip
#: First bytes of a JPEG 2000, which contain its coding parameters.
_JP2_HEAD: Final = 1 << 16
#: Modes of one channel with more than eight bits.
_WIDE_MODES: Final = frozenset(("I", "I;16", "I;16B", "I;16L", "I;16N", "F"))
#: Errors that mean a mistake in our code, not damage in the file. The readers of Pillow and pillow-heif are written in
#: Python and raise them for damaged headers too; there they count as damage, as in `Image.open`.
_MISTAKES: Final = (TypeError, AttributeError, NameError, ImportError, AssertionError)
_PYTHON_READERS: Final = ("PIL.", "pillow_heif.")
_DECODERS: Final = frozenset(("PIL", "av", "pillow_heif", "pylibjxl", "pyvips", "rawpy"))
#: Exif orientation (2 to 8) -> the transposition that turns its pixels upright.
UPRIGHT: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
#: Bytes of memory that libvips takes beside the file and the pixels: GLib aborts the process when an allocation fails.
_OVERHEAD: Final = 160_000_000
#: Bytes for each pixel of an AVIF, which is decoded whole, and for each column of other formats, decoded by strips.
_BYTES_EACH_AVIF: Final = 20
_BYTES_EACH_COLUMN: Final = 2_000
#: The largest number of each type of sample; in floating point it is 1, unless a value is larger.
_WHITE: Final = {"ushort": 2**16 - 1, "short": 2**15 - 1, "uint": 2**32 - 1, "int": 2**31 - 1}
#: Types of samples, besides bytes, that libvips converts to eight bits by itself.
_DIRECTLY: Final = frozenset((("ushort", "rgb16"), ("ushort", "grey16"), ("float", "scrgb"), ("double", "scrgb")))
#: Key in the `info` of a TIFF: its largest sample, whether samples are signed, and whether they are inverted.
_RANGE: Final = "range"
_LOADERS: Final = {"svg": "VipsForeignLoadSvg", "tiff": "VipsForeignLoadTiff", "avif": "VipsForeignLoadHeif"}


@contextmanager
def guarded() -> Iterator[None]:
    """Turn every exception of a decoder into `DecodeError`, and suppress its warnings.

    An error of our own code passes through: as a `DecodeError`, it would mark every file of a format as damaged.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except DecodeError:
        raise
    except MemoryError as error:
        raise PictureTooLargeError(Reason.OVER_AVAILABLE_MEMORY) from error
    except Exception as error:  # decoders raise exceptions of many types
        if type(error).__module__ == "builtins" and isinstance(error, OSError) and error.errno in TRANSIENT_ERRNOS:
            raise DecodeError(Reason.UNREADABLE, system_symbol(error)) from error  # the disk, not the file
        if not _is_damage(error):
            raise
        raise DecodeError(_reason(error)) from error


def _is_damage(error: Exception) -> bool:
    """Return whether the content of the file, rather than a mistake in our code, made a decoder raise the error."""
    if isinstance(error, OSError) or type(error).__module__.partition(".")[0] in _DECODERS:
        return True
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    # The frames of av, which is compiled, have no name of a module.
    module = (frame and frame.tb_frame.f_globals.get("__name__")) or ""
    if isinstance(error, _MISTAKES):
        return module.startswith(_PYTHON_READERS)
    return not module.startswith("photosvc.")


@contextmanager
def open_picture(
    source: BinaryIO, row: Format, *, header_only: bool = False, longest: int = 0
) -> Iterator[Image.Image]:
    """Open a picture: read its header and check the memory it takes, without decoding a pixel.

    Args:
        source: the file, open for reading; it is not closed.
        row: its format, as sniffed. A camera raw opens as its embedded preview or else is developed at half size.
        header_only: skip the check; the caller must call `affordable` before it reads pixels.
        longest: pixels the longer side should have; an embedded preview of a raw that has fewer is not used.

    Raises:
        DecodeError: it cannot be opened or decoded; also for errors of decoders within the `with` block.
        MissingExtraError: its decoder is not installed.
        PictureTooLargeError: it takes more memory than is available, or is a decompression bomb.
    """
    with guarded():
        if row.media_type == "raw":
            with open_raw(source, longest) as picture:
                yield picture
            return
        with _opened(source, row, longest) as picture:
            yield picture if header_only else affordable(picture, source, row, longest)


def affordable(picture: Image.Image, source: BinaryIO, row: Format, longest: int) -> Image.Image:
    """Return the picture, or one that libvips decoded by strips when its pixels take more memory than is available.

    Raises:
        PictureTooLargeError: it takes more memory than is available, or is a decompression bomb.
    """
    try:
        check_cost(picture, size_of(source), longest)
    except PictureTooLargeError:
        if row.name == "tiff" and has_extra("vips"):
            with suppress(DecodeError):
                return open_scaled(source, row.name, longest)
        raise
    return picture


def _opened(source: BinaryIO, row: Format, longest: int) -> Image.Image:
    if row.extra == "vips":
        return open_scaled(source, row.name, longest)
    try:
        picture = read_header(source, row)
        return _cropped(picture, source) if row.name == "avif" else picture
    except MissingExtraError:
        raise
    except DecodeError:
        if not _is_unusual(source, row):
            raise
    refusal = None
    if row.name == "tiff":
        try:
            return SampledTiff(source, "")
        except DecodeError as error:
            refusal = error if error.problem.reason is Reason.UNREAD_PIXELS else None
    if refusal is not None and not _may_be_read_by_vips(source):
        raise refusal
    try:
        return open_scaled(source, row.name, longest)
    except DecodeError as error:
        if refusal is None or error.problem.reason is not Reason.UNDECODABLE:
            raise
        raise refusal from error


def _may_be_read_by_vips(source: BinaryIO) -> bool:
    """Return whether libvips reads samples of this size and packing.

    It shows a packing that it does not know as black, ignores a predictor that it does not know, and takes a plane of
    transparency for grey.
    """
    opened = open_tiff(source)
    tags = Directory() if opened is None else opened[1]
    bits, packing, samples, planes = (tags.integer(tag) or 1 for tag in (258, 259, 277, 284))
    if packing not in _VIPS_PACKINGS:
        return False
    return (bits in (8, 16, 32, 64) or (bits in (1, 2, 4) and predictor_of(tags) == 1)) and not (samples == planes == 2)


def _cropped(picture: Image.Image, source: BinaryIO) -> Image.Image:
    """Return the part of an AVIF that is to be shown, which Pillow does not cut out."""
    box = clean_aperture(source, picture.size)
    if box is None or getattr(picture, "is_animated", False):
        return picture
    check_cost(picture, size_of(source))
    return picture.crop(box)


def _is_unusual(source: BinaryIO, row: Format) -> bool:
    """Return whether Pillow cannot open the picture because of its layout rather than because of damage."""
    if row.name == "avif":
        return is_whole(source, size_of(source))
    source.seek(0)
    return row.name == "tiff" and (source.read(4) in (b"II+\0", b"MM\0+") or any(read_exif_file(source).size))


def read_header(source: BinaryIO, row: Format) -> Image.Image:
    """Open a picture by the reader of its format.

    `Image.open` would refuse large pictures by a limit of the whole process, and import readers of five formats first.
    """
    if row.name not in _READERS:
        raise DecodeError(Reason.NO_PIXELS, row.media_type)
    module, name = _READERS[row.name]
    if row.name == "heic":
        register_heic()
    elif row.name == "jxl":
        register_jxl()
    elif module:
        import_module(f"PIL.{module}")
    if name == "WEBP" and (vast := vast_webp(source)) is not None:
        return vast
    if name == "PNG":
        source = open_shown_chunks(source)
    source.seek(0)
    try:
        open_file = PsdImageFile if name == "PSD" else Image.OPEN[name][0]
        picture: Image.Image = open_file(source, "")
    except (SyntaxError, IndexError, TypeError, struct.error) as error:
        if not _is_damage(error):
            raise
        raise DecodeError(Reason.BAD_HEADER) from error
    if name == "JPEG2000":
        source.seek(0)
        picture.info["levels"] = read_levels(source.read(_JP2_HEAD))
    if name == "TIFF":
        _correct_tiff(picture)
    if name in _PROFILES and (profile := _PROFILES[name](source)):
        picture.info["icc_profile"] = profile
    return _with_colours(picture, source) if name == "JXL" else picture


def _correct_tiff(picture: Any) -> None:  # noqa: ANN401 - Pillow loads its reader of TIFF when it is needed
    """Add the facts of a TIFF that Pillow ignores: the range of its samples, and 16 bits of uncompressed planes.

    Raises:
        DecodeError: Pillow would show other pixels.
    """
    tags = picture.tag_v2
    in_planes, bits, is_signed = tags.get(284) == 2, tags.get(258, (1,))[0], tags.get(339, (1,))[0] == 2
    if picture.mode in _WIDE_MODES and picture.mode != "F":
        picture.info[_RANGE] = (1 << bits - is_signed) - 1, is_signed, tags.get(262) == 0  # of white as zero
    if (in_planes and tags.get(277, 1) == 2) or (predictor_of(tags) == 2 and bits not in (8, 16, 32, 64)):
        raise DecodeError(Reason.BAD_HEADER)
    is_raw = any(tile.codec_name == "raw" for tile in picture.tile)
    if is_raw and picture.mode == "P" and tags.get(266) == 2:  # bits from the lowest to the highest
        raise DecodeError(Reason.BAD_HEADER)
    if not in_planes or not is_raw:
        return
    if bits == 16 and picture.mode in ("RGB", "RGBA") and all(tile.args[0] in picture.mode for tile in picture.tile):
        order = "B" if tags.prefix == b"MM" else "L"
        picture.tile = [tile._replace(args=(f"{tile.args[0]};16{order}", *tile.args[1:])) for tile in picture.tile]
    elif bits > 8 or tags.get(262) == 0 or picture.mode == "YCbCr":
        raise DecodeError(Reason.BAD_HEADER)


def _with_colours(picture: Image.Image, source: BinaryIO) -> Image.Image:
    """Return a JPEG XL with the profile that its header states; decode it if the header is not enough."""
    colours = read_colours(source)
    if colours.profile:
        picture.info["icc_profile"] = colours.profile
    # Compressed metadata are only unpacked together with the pixels.
    if colours.is_linear or any(kind == b"brob" for kind, _, _ in boxes(source, 0, size_of(source))):
        check_cost(picture, size_of(source))
        source.seek(0)
        picture.load()
    return without_linearity(picture) if colours.is_linear else picture


def scaled(picture: Image.Image, longest: int, orientation: int = 1) -> Image.Image:
    """Decode a picture once and return it upright, as RGB or RGBA, with its longer side at most about `longest` pixels.

    JPEG is decoded at the nearest DCT scale, JPEG 2000 at the nearest resolution that the file contains, HEIC from its
    embedded thumbnail when that has the size.

    Args:
        picture: an opened picture, its pixels not loaded.
        longest: pixels of the longer side; a smaller picture keeps its size.
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
    """Convert all pixels of a mode that cannot be resampled or shown to L, RGB or RGBA."""
    if picture.mode in _WIDE_MODES:
        white, is_signed, is_inverted = picture.info.get(_RANGE, (65_535, True, False))
        if picture.mode == "F":  # whose range is 0 to 1, unless a value is larger
            top = picture.getextrema()[1]
            white = max(top, 1.0) if isinstance(top, int | float) and isfinite(top) else 1.0
        unsigned = picture.mode == "I" and not is_signed  # which Pillow reads as signed
        size = picture.size
        values = Image.frombytes("F", size, picture.tobytes(), "raw", "F;32N") if unsigned else picture.convert("F")
        scale, offset = (-255 / white, 255) if is_inverted else (255 / white, 0)
        return values.point(lambda value: value * scale + offset).convert("L")
    if picture.mode == "1":
        return picture.convert("L")
    alpha = "transparency" in picture.info or picture.mode in ("LA", "PA", "La", "RGBa")
    return picture.convert("RGBA" if alpha else "RGB")


def size_of(source: BinaryIO) -> int:
    """Return the bytes of the file without changing its position."""
    here = source.tell()
    size = source.seek(0, 2)
    source.seek(here)
    return size


def _reason(error: Exception) -> Reason:
    """Return the reason behind a decoder's exception, by its type or else by the words of its message."""
    words = str(error).lower()
    if isinstance(error, UnidentifiedImageError):
        return Reason.BAD_HEADER
    if any(word in words for word in ("truncated", "unexpected end", "eof", "end of file", "too short")):
        return Reason.TRUNCATED
    if isinstance(error, OSError) and error.errno is not None:
        return Reason.READ_ERROR
    return Reason.UNDECODABLE


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
            # Of a few bytes, whose header promises gigabytes, strips that are missing cost time, not memory.
            pixels, bits = header.width * header.height, header.bands * header.get("bits-per-sample")
            if pixels * bits // 8 > BOMB_MEMORY:
                check_ratio(pixels, bits, len(data))
            header = _in_lab(header, source)
        side = longest or min(max(header.width, header.height), Image.MAX_IMAGE_PIXELS or 1)
        small = _scaled(vips, header, data, side)
        if small.bands > 4:  # a TIFF with more samples than colours and alpha, such as masks and spot colours
            small = small.extract_band(0, n=3)
        mode = ("L", "LA", "RGB", "RGBA")[small.bands - 1]
        picture = Image.frombytes(mode, (small.width, small.height), small.write_to_memory())
    except vips.Error as error:
        raise DecodeError(Reason.UNDECODABLE) from error
    turned = name == "tiff" and _field(header, "orientation") in range(5, 9)
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
    if opened is None or opened[1].integer(0x0106) != 9 or header.bands != 3:
        return header
    each = 256 if header.format == "ushort" else 1
    return header.linear([100 / 255 / each, 1 / each, 1 / each], [0, -128, -128]).copy(interpretation="lab")


@cache
def _library() -> Any:  # noqa: ANN401 - untyped
    """Import libvips and limit it to one thread, no cache and the readers of `_LOADERS`."""
    vips = load_extra("vips")
    vips.concurrency_set(1)
    vips.cache_set_max(0)
    vips.operation_block_set("VipsForeignLoad", True)
    for loader in _LOADERS.values():
        vips.operation_block_set(loader, False)
    return vips


def _scaled(vips: Any, header: Any, data: bytes, side: int) -> Any:  # noqa: ANN401
    """Return the picture at most `side` pixels long, in sRGB with eight bits."""
    if header.interpretation in ("lab", "labs", "labq", "xyz"):  # colours by measure
        return header.thumbnail_image(side, height=side, size="down").colourspace("srgb").cast("uchar")
    if header.format == "uchar" or (header.format, header.interpretation) in _DIRECTLY:
        small = vips.Image.thumbnail_buffer(data, side, height=side, size="down")
        return small.colourspace("srgb").cast("uchar")
    small = header.resize(min(1.0, side / max(header.width, header.height)), kernel="linear").copy_memory()
    white = _WHITE.get(header.format) or max(small.max(), 1.0)
    return small.linear(255 / white, 0).cast("uchar").colourspace("srgb").autorot()


def _field(image: Any, name: str) -> object:  # noqa: ANN401
    return image.get(name) if image.get_typeof(name) else None
