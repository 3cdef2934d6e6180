"""The ICC profiles of pictures: their names, and those that the readers of Pillow leave out."""

from io import BytesIO
from typing import BinaryIO, Final

from PIL import Image

from photosvc.media.colour_spaces import numbered_profile
from photosvc.media.isobmff import boxes, main_properties
from photosvc.media.slices import read_at
from photosvc.media.text import clean

#: Key in the `info` of a picture: the profile of the file, where the pixels are in sRGB already.
NAMED_PROFILE: Final = "named_profile"
_MAX_NAME: Final = 64
_MAX_PROFILE: Final = 1 << 22
#: Size of the header of a BMP of version 5, which alone has a profile, and the mark of one in the file.
_VERSION_5: Final = 124
_EMBEDDED: Final = b"DEBM"
_HEADER_OF_FILE: Final = 14
#: Methods of a colour specification box of JPEG 2000 that contain a profile: restricted and any ICC.
_WITH_PROFILE: Final = (2, 3)


def profile_name(picture: Image.Image) -> str:
    """Return the description of a picture's profile, such as `Display P3`; empty when LittleCMS refuses it."""
    profile = picture.info.get("icc_profile") or picture.info.get(NAMED_PROFILE)
    if not isinstance(profile, bytes):
        return ""
    from PIL import ImageCms

    try:
        return clean(ImageCms.getProfileDescription(ImageCms.ImageCmsProfile(BytesIO(profile))), _MAX_NAME)
    except (OSError, ImageCms.PyCMSError):
        return ""


def profile_of_bmp(source: BinaryIO) -> bytes:
    """Return the profile of a BMP (BITMAPV5HEADER); empty when it has none."""
    head = read_at(source, _HEADER_OF_FILE, _VERSION_5)
    if len(head) < _VERSION_5 or int.from_bytes(head[:4], "little") != _VERSION_5 or head[56:60] != _EMBEDDED:
        return b""
    start, size = (int.from_bytes(head[at : at + 4], "little") for at in (112, 116))
    return read_at(source, _HEADER_OF_FILE + start, size) if size <= _MAX_PROFILE else b""


def profile_of_jp2(source: BinaryIO) -> bytes:
    """Return the profile of a JP2 (ISO/IEC 15444-1 annex I.5.3.3, 15444-2 annex M.11.7.3); empty when it has none."""
    size = source.seek(0, 2)
    for kind, begin, end in boxes(source, 0, size):
        if kind != b"jp2h":
            continue
        for inner, start, stop in boxes(source, begin, min(end, size)):
            head = read_at(source, start, 3) if inner == b"colr" else b""
            if head[:1] and head[0] in _WITH_PROFILE:
                return read_at(source, start + 3, min(min(stop, size) - start - 3, _MAX_PROFILE))
        break
    return b""


def profile_of_heif(source: BinaryIO) -> bytes:
    """Return a profile made of the numbers in an AVIF or HEIC without one (ISO/IEC 14496-12 section 12.1.5)."""
    colours = list(main_properties(source, b"colr"))
    if any(not body.startswith(b"nclx") for body in colours):
        return b""
    first = next((body for body in colours if len(body) >= 8), bytes(8))
    return numbered_profile(int.from_bytes(first[4:6], "big"), int.from_bytes(first[6:8], "big"))
