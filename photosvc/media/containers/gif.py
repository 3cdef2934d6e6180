"""The XMP of GIF: an application extension that ends in a magic trailer (XMP part 3 section 1.1.2)."""

from typing import BinaryIO, Final

from photosvc.media.containers.packets import MAX_BLOCK, Packets

_MARK: Final = b"\x21\xff\x0bXMP DataXMP"
#: The trailer begins so, and counts down to 0: a reader that takes any byte of the packet for a length ends there.
_TRAILER: Final = b"\x01\xff\xfe\xfd"
_STEP: Final = 1 << 20
#: Bytes that are searched: frames are not walked, their blocks are too many.
_MAX_SEARCHED: Final = 1 << 28


def read_gif(source: BinaryIO) -> Packets:
    """The XMP packet, before, between or after the frames."""
    start = 0
    while start < _MAX_SEARCHED:
        source.seek(start)
        data = source.read(_STEP + len(_MARK))
        at = data.find(_MARK)
        if at >= 0:
            source.seek(start + at + len(_MARK))
            return Packets(xmp=source.read(MAX_BLOCK).partition(_TRAILER)[0])
        if len(data) <= _STEP:
            break
        start += _STEP
    return Packets()
