"""The picture to show of a file, from which its thumbnails are made."""

from typing import BinaryIO

from PIL import Image

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError
from photosvc.media.exif.reader import Exif, read_exif
from photosvc.media.formats import Format
from photosvc.media.pixels.decode import open_picture, scaled
from photosvc.media.pixels.picture import orientation_to_apply, own_exif
from photosvc.media.video.container import read_video


def read_preview(source: BinaryIO, row: Format, longest: int) -> Image.Image:
    """The upright picture (of a video, its first key frame), RGB or RGBA, at most `longest` pixels long.

    Args:
        source: the file, open for reading.
        row: its format, as sniffed.
        longest: pixels of the longer side; a smaller picture keeps its size.

    Raises:
        DecodeError: it cannot be shown, for the reason in `problem`.

    """
    if row.media_type == "video":
        frame = read_video(source).frame
        if frame is None:
            raise DecodeError(Reason.NO_FRAME)
        return scaled(frame, longest)
    exif = own_exif(source, row)
    with open_picture(source, row) as picture:
        if exif == Exif() and isinstance(picture.info.get("exif"), bytes):
            exif = read_exif(picture.info["exif"])
        return scaled(picture, longest, orientation_to_apply(picture, row, exif))
