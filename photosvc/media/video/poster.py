"""The frame that shows a video."""

from typing import Any, BinaryIO, Final

from PIL import Image, ImageStat

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError
from photosvc.media.pixels.decode import guarded
from photosvc.media.video.container import MAX_PACKETS, open_video, picture_of

#: Key frames looked at: most videos begin with one that shows something, some fade in from black.
_MAX_FRAMES: Final = 8
#: A frame whose brightness deviates less than this (of 255) shows nothing.
_FLAT: Final = 8.0


def read_poster(source: BinaryIO, longest: int) -> Image.Image:
    """The first key frame that is not of one colour, else the first one: upright, at most `longest` pixels long.

    Raises:
        DecodeError: no frame can be decoded.
        MissingExtraError: av is not installed.
        PictureTooLargeError: the frames are too large.

    """
    first: Image.Image | None = None
    with guarded(), open_video(source) as (container, stream):
        stream.codec_context.skip_frame = "NONKEY"
        for frame in _frames(container, stream):
            picture = picture_of(frame, longest)[0]
            if ImageStat.Stat(picture.convert("L")).stddev[0] >= _FLAT:
                return picture
            first = first or picture
    if first is None:
        raise DecodeError(Reason.NO_FRAME)
    return first


def _frames(container: Any, stream: Any) -> Any:  # noqa: ANN401 - av has no types
    """At most `_MAX_FRAMES` key frames; what fails to decode ends them."""
    found = 0
    try:
        for count, packet in enumerate(container.demux(stream)):
            for frame in packet.decode():
                found += 1
                yield frame
            if found >= _MAX_FRAMES or count >= MAX_PACKETS * _MAX_FRAMES:
                return
    except Exception:  # noqa: BLE001 - the frames before the damage may do
        return
