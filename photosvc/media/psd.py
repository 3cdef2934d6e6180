"""Photoshop files (PSD and PSB): their metadata, and the merged picture that they contain beside their layers.

The reader follows the Photoshop file format specification. Pillow knows merged pictures of 8 bits alone, and reads
pictures with further channels at wrong offsets; psd-tools parses every layer of a file that is not trusted.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from PIL import Image, ImageFile, ImagePalette

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError
from photosvc.media.iptc import IPTC_RESOURCE, resource
from photosvc.media.metadata import Packets

_MAX_RESOURCES: Final = 1 << 24
_EXIF, _XMP, _PROFILE, _ALPHA_NAMES, _VERSION, _CLEAR_INDEX = 0x0422, 0x0424, 0x040F, 0x041D, 0x0421, 0x0417
_RAW, _PACKED = 0, 1
#: Colour mode -> mode of Pillow, by which the number of channels of colour follows.
_MODES: Final = {0: "1", 1: "L", 2: "P", 3: "RGB", 4: "CMYK", 8: "L", 9: "LAB"}
_WITH_ALPHA: Final = {"L": "LA", "RGB": "RGBA"}
_MAX_SIDE: Final = 300_000
#: Bytes of memory that a pixel takes at most while it is decoded, by the bits of a value; measured with 24 megapixels.
_BYTES_EACH: Final = {1: 3, 8: 9, 16: 13}
#: Bytes of a palette: 256 values of red, then of green, then of blue.
_PALETTE: Final = 768


def read_psd(source: BinaryIO) -> Packets:
    """Return the Exif, XMP and IPTC resources."""
    block = _read_head(source).resources
    exif, xmp, iptc = (resource(block, number) for number in (_EXIF, _XMP, IPTC_RESOURCE))
    return Packets(exif=exif, xmp=xmp, iptc=iptc)


@dataclass(frozen=True, slots=True)
class _Head:
    """The parts of a file before its layers."""

    version: int
    channels: int
    height: int
    width: int
    depth: int
    colours: int
    palette: bytes
    resources: bytes


def _read_head(source: BinaryIO) -> _Head:
    """Read the header, and leave the file at the layers; numbers are 0 where the file is cut."""
    source.seek(4)
    fields = source.read(22).ljust(22, b"\0")
    version, channels, height, width, depth, colours = struct.unpack(">H6xHIIHH", fields)
    size = _number(source, 4)
    palette = source.read(min(size, _PALETTE))
    source.seek(size - len(palette), 1)
    size = _number(source, 4)
    block = source.read(min(size, _MAX_RESOURCES))
    source.seek(size - len(block), 1)
    return _Head(version, channels, height, width, depth, colours, palette, block)


def _number(source: BinaryIO, size: int) -> int:
    return int.from_bytes(source.read(size), "big")


class PsdImageFile(ImageFile.ImageFile):
    """The merged picture of a Photoshop file; its pixels are reduced to eight bits when they are loaded."""

    format = "PSD"
    format_description = "Adobe Photoshop"

    def _open(self) -> None:
        source: Any = self.fp
        head = self._head = _read_head(source)
        wide = 8 if head.version == 2 else 4
        mode = _MODES.get(head.colours, "")
        depths = {"1": (1,), "P": (8,)}.get(mode, (8, 16))
        if not mode or head.depth not in depths:
            kind = "multichannel" if head.colours == 7 else f"mode {head.colours}, {head.depth} bits"
            raise DecodeError(Reason.UNREAD_PIXELS, kind)
        if resource(head.resources, _VERSION)[4:5] == b"\0":
            raise DecodeError(Reason.UNREAD_PIXELS, "saved without its merged picture")
        size = _number(source, wide)
        layers = source.tell()
        count = int.from_bytes(source.read(wide + 2)[wide:], "big", signed=True) if size > wide else 0
        names = resource(head.resources, _ALPHA_NAMES)
        bands = Image.getmodebands(mode)
        # Further channels are transparency, or selections that a person saved: the identifier 0 is transparency.
        alpha = head.channels > bands and (names[:4] == bytes(4) if len(names) >= 4 else count < 0)
        self._mode = _WITH_ALPHA.get(mode, mode) if alpha else mode
        self._size = head.width, head.height
        if not 0 < max(self.size) <= _MAX_SIDE or head.channels < bands:
            raise DecodeError(Reason.BAD_HEADER)
        if mode == "P":
            self.palette = ImagePalette.raw("RGB;L", head.palette.ljust(_PALETTE, b"\0"))
            if len(clear := resource(head.resources, _CLEAR_INDEX)) == 2:
                self.info["transparency"] = int.from_bytes(clear, "big")
        if profile := resource(head.resources, _PROFILE):
            self.info["icc_profile"] = profile
        self.info["bytes_each"] = _BYTES_EACH[head.depth]
        self._pixels = layers + size
        if self._pixels >= source.seek(0, 2):
            raise DecodeError(Reason.TRUNCATED)
        self.tile = [ImageFile._Tile("psd", (0, 0, *self.size), self._pixels, None)]  # noqa: SLF001 - as readers do

    def load(self) -> Any:  # noqa: ANN401 - as `Image.load`
        """Decode the merged picture."""
        if self.tile:
            bands = [self._shown(plane) for plane in self._planes()]
            self._im = (Image.merge(self.mode, bands) if len(bands) > 1 else bands[0]).im
            self.tile = []
        return Image.Image.load(self)

    def _planes(self) -> Iterator[bytes]:
        """Yield the rows of each channel that is shown, as they are in the file once unpacked."""
        source: Any = self.fp
        source.seek(self._pixels)
        head, count = self._head, len(self.getbands())
        row = (head.width * head.depth + 7) // 8
        plane = row * head.height
        packing = _number(source, 2)
        if packing == _RAW:
            for _ in range(count):
                yield _whole(source.read(plane), plane)
        elif packing == _PACKED:
            wide = 4 if head.version == 2 else 2
            step = wide * head.height
            lengths = _whole(source.read(step * head.channels), step * head.channels)
            for at in range(0, step * count, step):
                size = sum(struct.unpack(f">{head.height}{'I' if wide == 4 else 'H'}", lengths[at : at + step]))
                # Pillow unpacks rows of bytes, of however many bits a value has.
                yield Image.frombytes("L", (row, head.height), source.read(size), "packbits", "L").tobytes()
        else:
            raise DecodeError(Reason.UNREAD_PIXELS, f"packing {packing}")

    def _shown(self, plane: bytes) -> Image.Image:
        """Return a channel in eight bits; ink, and black in a picture of one bit, is stored inverted."""
        depth = self._head.depth
        if self.mode == "1":
            return Image.frombytes("1", self.size, plane, "raw", "1;I")
        mode = "P" if self.mode == "P" else "L"
        return Image.frombytes(mode, self.size, plane[:: depth // 8], "raw", "L;I" if self.mode == "CMYK" else mode)


def _whole(data: bytes, size: int) -> bytes:
    if len(data) < size:
        raise DecodeError(Reason.TRUNCATED)
    return data
