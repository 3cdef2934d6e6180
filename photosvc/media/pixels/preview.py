"""The picture to show of a file, from which its thumbnails are made."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from PIL import Image

from photosvc.media.containers.reader import read_embedded
from photosvc.media.formats import Format
from photosvc.media.pixels.decode import open_picture
from photosvc.media.pixels.picture import completed, orientation_to_apply
from photosvc.media.video.poster import read_poster


@contextmanager
def open_shown(source: BinaryIO, row: Format, longest: int) -> Iterator[tuple[Image.Image, int]]:
    """A picture that shows the file, and the Exif orientation (1 to 8) still to be applied to it.

    A picture file opens with no pixel decoded yet; a camera raw opens as its embedded preview when that is large
    enough, else developed; a video as its first key frame that is not of one colour.

    Args:
        source: the file, open for reading.
        row: its format, as sniffed.
        longest: pixels that the longer side should have, as far as the file has them.

    Raises:
        DecodeError: it cannot be shown, for the reason in `problem`.
        MissingExtraError: its decoder is not installed.
        PictureTooLargeError: it has more pixels than the limits.

    """
    if row.media_type == "video":
        yield read_poster(source, longest), 1
        return
    embedded = read_embedded(source, row)
    with open_picture(source, row, longest=longest) as picture:
        yield picture, orientation_to_apply(picture, row, completed(embedded, picture, row).exif)
