"""TIFF pictures whose samples have other sizes than those that Pillow reads, such as 6, 10, 12, 14 and 24 bits.

Pillow unpacks strips and tiles: it is given the rows as bytes of a grey picture. Here the samples in these bytes are
reduced to eight bits (TIFF 6.0 sections 3 to 6 and 16). Bits are packed from the highest to the lowest in either byte
order; samples of whole bytes follow the byte order of the file.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from math import ceil, lcm
from typing import Any, Final

from PIL import Image, ImageFile, ImagePalette

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError
from photosvc.media.slices import read_at
from photosvc.media.tiff import Directory, open_tiff

_WIDTH, _HEIGHT, _BITS, _PACKING, _COLOURS, _FILL_ORDER = 256, 257, 258, 259, 262, 266
_STRIPS, _SAMPLES, _STRIP_ROWS, _STRIP_SIZES, _PLANES, _PREDICTOR = 273, 277, 278, 279, 284, 317
_PALETTE, _TILE_WIDTH, _TILE_HEIGHT, _TILES, _TILE_SIZES, _EXTRA, _KIND = 320, 322, 323, 324, 325, 338, 339
_PROFILE: Final = 34675
#: None, LZW, Deflate under two numbers, PackBits: these pack bytes, whatever the bytes mean.
_PACKINGS: Final = frozenset((1, 5, 8, 32773, 32946))
#: LZW, Deflate, LZMA and Zstandard: only in these a sample may be stored as the difference to the one before.
_PREDICTED: Final = frozenset((5, 8, 32946, 34925, 50000))
#: Photometric interpretation -> mode of Pillow.
_MODES: Final = {0: "L", 1: "L", 2: "RGB", 3: "P", 5: "CMYK"}
_WITH_ALPHA: Final = {"L": "LA", "RGB": "RGBA"}
_MAX_SIDE: Final = 300_000
#: Bytes of rows that are unpacked together, if a strip or row of tiles has no more.
_PORTION: Final = 1 << 24
#: Bytes of a tile that is not larger than its picture needs.
_LARGE: Final = 1 << 26
_INVERTED: Final = bytes(range(255, -1, -1))


class SampledTiff(ImageFile.ImageFile):
    """The first picture of a TIFF, of up to 32 bits a sample; it is not turned upright.

    Opening it raises a `DecodeError` of `Reason.UNREAD_PIXELS` if its layout is not read here.
    """

    format = "TIFF"
    format_description = "TIFF of other sizes of samples"

    def _open(self) -> None:
        source: Any = self.fp
        opened = open_tiff(source)
        if opened is None:
            raise DecodeError(Reason.BAD_HEADER)
        self._reader, self._tags = opened
        self._length = source.seek(0, 2)
        tags = self._tags
        self._bits, self._samples = tags.integer(_BITS) or 1, tags.integer(_SAMPLES) or 1
        self._size = tags.integer(_WIDTH), tags.integer(_HEIGHT)
        self._colours, self._in_planes = tags.integer(_COLOURS), tags.integer(_PLANES) == 2
        if not (min(self.size) > 0 and max(self.size) <= _MAX_SIDE and self._samples > 0):
            raise DecodeError(Reason.BAD_HEADER)
        mode = _MODES.get(self._colours, "")
        if not mode or not self._is_read(mode):
            raise DecodeError(Reason.UNREAD_PIXELS, _layout(tags))
        has_alpha = self._samples > Image.getmodebands(mode) and tags.integer(_EXTRA) in (1, 2)
        self._mode = _WITH_ALPHA.get(mode, mode) if has_alpha else mode
        if mode == "P":
            self.palette = _palette(tags, self._bits)
        if profile := tags.data(_PROFILE):
            self.info["icc_profile"] = profile
        self.info["as_stored"] = True
        # Measured with 24 megapixels, with all rows in one packed strip and with many strips.
        tall = (
            0 if self._is_one_plain_strip() else tags.integer(_TILE_HEIGHT) or tags.integer(_STRIP_ROWS) or self.height
        )
        at_once = min(1.0, tall / self.height) * (2 + 3 * ceil(self._bits / 8))
        self.info["bytes_each"] = ceil(self._samples * (5 + at_once))
        self.tile = [ImageFile._Tile("samples", (0, 0, *self.size), 0, None)]  # noqa: SLF001 - as readers do

    def _is_read(self, mode: str) -> bool:
        tags = self._tags
        return (
            self._bits <= (8 if mode == "P" else 32)
            and (mode != "CMYK" or self._bits not in (8, 16))  # libvips knows the colours of inks
            and set(tags.numbers(_BITS)) <= {self._bits}
            and set(tags.numbers(_KIND)) <= {1}
            and self._samples >= Image.getmodebands(mode)
            and (tags.integer(_PACKING) or 1) in _PACKINGS
            # Of bytes, Pillow adds up the differences.
            and (predictor_of(tags) == 1 or (self._bits == 8 and (self._in_planes or self._samples == 1)))
        )

    def _is_one_plain_strip(self) -> bool:
        tags = self._tags
        is_packed = (tags.integer(_PACKING) or 1) != 1
        return not is_packed and _TILES not in tags.values and (tags.integer(_STRIP_ROWS) or self.height) >= self.height

    def load(self) -> Any:  # noqa: ANN401 - as `Image.load`
        """Decode the picture."""
        if self.tile:
            bands = [Image.frombytes("L", self.size, bytes(band)) for band in self._bands()]
            if self._mode == "P":
                self._im = Image.frombytes("P", self.size, bands[0].tobytes()).im
            elif self._mode in ("LA", "RGBA") and self._tags.integer(_EXTRA) == 1:  # multiplied by the alpha
                self._im = Image.merge(f"{self._mode[:-1]}a", bands).convert(self._mode).im
            else:
                self._im = (Image.merge(self._mode, bands) if len(bands) > 1 else bands[0]).im
            self.tile = []
        return Image.Image.load(self)

    def _bands(self) -> list[bytearray]:
        """Return the samples of each band that is shown, in eight bits."""
        bands = [bytearray() for _ in self.getbands()]
        if self._in_planes:
            for plane, band in enumerate(bands):
                for height, rows in self._rows(plane, self.width):
                    band.extend(self._reduced(rows, self.width, height))
            return bands
        across = self.width * self._samples
        for height, rows in self._rows(0, across):
            reduced = self._reduced(rows, across, height)
            for number, band in enumerate(bands):
                band.extend(reduced[number :: self._samples])
        return bands

    def _rows(self, plane: int, across: int) -> Iterator[tuple[int, bytes]]:
        """Yield some rows of a plane after another: their number, and their bytes, unpacked.

        Args:
            across: samples of a row.
        """
        from PIL.TiffImagePlugin import TiffImageFile  # loaded for the first TIFF alone

        tags, (width, height) = self._tags, self.size
        row, of_pixel = ceil(across * self._bits / 8), across // width * self._bits
        starts, sizes, columns = _STRIPS, _STRIP_SIZES, 1
        tall = min(tags.integer(_STRIP_ROWS) or height, height)
        layout = {_STRIP_ROWS: tall}
        if _TILES in tags.values:
            wide, tall = tags.integer(_TILE_WIDTH), tags.integer(_TILE_HEIGHT)
            is_vast = wide * tall * of_pixel // 8 > max(_LARGE, 2 * row * height)
            if min(wide, tall) <= 0 or wide * of_pixel % 8 or is_vast:
                raise DecodeError(Reason.BAD_HEADER)
            starts, sizes, columns = _TILES, _TILE_SIZES, ceil(width / wide)
            layout = {_TILE_WIDTH: wide * of_pixel // 8, _TILE_HEIGHT: tall}
        whole = columns * ceil(height / tall)
        numbers = [
            [int(number or 0) for number in tags.numbers(tag)[plane * whole : (plane + 1) * whole]]
            for tag in (starts, sizes)
        ]
        if any(len(some) != whole for some in numbers):
            raise DecodeError(Reason.BAD_HEADER)
        pieces = list(zip(*numbers, strict=True))
        if self._is_one_plain_strip():
            tall = layout[_STRIP_ROWS] = min(height, max(1, _PORTION // row))
            place = pieces[0][0]
            pieces = [(place + at * row, min(tall, height - at) * row) for at in range(0, height, tall)]
        if sum(size for _, size in pieces) > self._length:  # some lie outside the file, or all in one place
            raise DecodeError(Reason.TRUNCATED)
        step = max(1, _PORTION // (row * tall))
        kept = {tag: tags.integer(tag) or 1 for tag in (_PACKING, _FILL_ORDER, _PREDICTOR)}
        for first in range(0, ceil(height / tall), step):
            rows = min(height - first * tall, step * tall)
            values = {**kept, **layout, _WIDTH: row, _HEIGHT: rows, _BITS: 8, _COLOURS: 1, _SAMPLES: 1}
            small = self._small_tiff(values, starts, sizes, pieces[first * columns : (first + step) * columns])
            with TiffImageFile(BytesIO(small)) as grey:
                yield rows, grey.tobytes()

    def _small_tiff(self, values: dict[int, int], starts: int, sizes: int, pieces: Sequence[tuple[int, int]]) -> bytes:
        """Return a TIFF of some strips or tiles of the file, with these values in its directory."""
        source: Any = self.fp
        order, data, places = self._reader.order, bytearray(8), list[int]()
        for place, size in pieces:
            places.append(len(data))
            piece = read_at(source, self._reader.base + place, size)
            if len(piece) < size:
                raise DecodeError(Reason.TRUNCATED)
            data += piece
        data += bytes(len(data) % 2)
        lists = {tag: [number] for tag, number in values.items()}
        lists |= {starts: places, sizes: [size for _, size in pieces]}
        more, entries, tail = len(data) + 2 + 12 * len(lists) + 4, b"", b""
        for tag, numbers in sorted(lists.items()):
            raw = struct.pack(f"{order}{len(numbers)}I", *numbers)
            if len(raw) > 4:
                raw, tail = struct.pack(f"{order}I", more + len(tail)), tail + raw
            entries += struct.pack(f"{order}HHI", tag, 4, len(numbers)) + raw
        data[:8] = (b"II" if order == "<" else b"MM") + struct.pack(f"{order}HI", 42, len(data))
        return bytes(data) + struct.pack(f"{order}H", len(lists)) + entries + bytes(4) + tail

    def _reduced(self, rows: bytes, across: int, height: int) -> bytes:
        """Return the samples of rows of `across` samples in eight bits: those of a palette as they are."""
        bits = self._bits
        if bits % 8 == 0:
            size = bits // 8
            reduced = rows[0 if self._reader.order == ">" else size - 1 :: size]
        else:
            reduced = _unpacked(rows, bits, across, height, scaled=self._colours != 3)
        return reduced.translate(_INVERTED) if self._colours == 0 else reduced


def predictor_of(tags: Mapping[int, Any] | Directory) -> int:
    """Return the predictor that counts: 1 for none, 2 for differences, 3 for those of floating point."""
    numbers = tags.integer if isinstance(tags, Directory) else lambda tag: tags.get(tag, 1)
    return (numbers(_PREDICTOR) or 1) if numbers(_PACKING) in _PREDICTED else 1


def _layout(tags: Directory) -> str:
    """Return the facts of a TIFF by which a reader may refuse it, for people."""
    names = (
        (_BITS, "bits"), (_KIND, "sample format"), (_COLOURS, "photometric"), (_PACKING, "compression"),
        (_PREDICTOR, "predictor"),
    )  # fmt: skip
    return ", ".join(f"{name} {tags.integer(tag)}" for tag, name in names if tag in tags.values)


def _palette(tags: Directory, bits: int) -> ImagePalette.ImagePalette:
    colours = tags.numbers(_PALETTE)
    size = 1 << bits
    if len(colours) != 3 * size:
        raise DecodeError(Reason.BAD_HEADER)
    shown = bytes(int(value or 0) >> 8 & 255 for value in colours)
    return ImagePalette.raw(
        "RGB;L", b"".join(shown[at : at + size].ljust(256, b"\0") for at in range(0, 3 * size, size))
    )


def _unpacked(rows: bytes, bits: int, across: int, height: int, *, scaled: bool) -> bytes:
    """Return samples of a number of bits that is no multiple of eight as bytes: their highest bits, or all of them.

    Samples at the same place of a group of whole bytes are taken together, which is fast without a loop over pixels.

    Args:
        scaled: spread samples of fewer than eight bits over 0 to 255.
    """
    group, row = lcm(bits, 8) // 8, ceil(across * bits / 8)
    each = group * 8 // bits
    groups = ceil(row / group)
    data = Image.frombytes("L", (row, height), rows).crop((0, 0, groups * group, height)).tobytes()
    unpacked = bytearray(groups * each * height)
    kept = min(bits, 8)
    top = (1 << kept) - 1
    factor = 255 / top if scaled else 1
    values = bytes(round((byte >> (8 - kept)) * factor) for byte in range(256))
    for number in range(each):
        place, shift = divmod(number * bits, 8)
        high = data[place::group].translate(bytes(byte << shift & 255 for byte in range(256)))
        if shift + kept > 8:
            low = data[place + 1 :: group].translate(bytes(byte >> (8 - shift) for byte in range(256)))
            high = (int.from_bytes(high) | int.from_bytes(low)).to_bytes(len(high))
        unpacked[number::each] = high.translate(values)
    whole = Image.frombytes("L", (groups * each, height), bytes(unpacked))
    return whole.crop((0, 0, across, height)).tobytes()
