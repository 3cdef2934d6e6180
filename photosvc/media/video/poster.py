"""The frame that shows a video."""

from typing import Any, BinaryIO, Final

from PIL import Image, ImageStat

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError
from photosvc.media.pixels.decode import guarded
from photosvc.media.video.container import MAX_PACKETS, open_video, picture_of

#: Key frames looked at: most videos begin with one that shows something, some fade in from black.
_MAX_KEY_FRAMES: Final = 8
#: Frames decoded when no key frame shows anything, as in short videos with a single one: ten seconds at 30 a second.
_MAX_FRAMES: Final = 300
#: Of these, every so many are looked at.
_EVERY: Final = 15
#: A frame whose brightness deviates less than this (of 255) shows nothing.
_FLAT: Final = 8.0
#: From this deviation on a frame is good enough to look no further: not one in the middle of a fade.
_CLEAR: Final = 24.0


def read_poster(source: BinaryIO, longest: int) -> Image.Image:
    """The first frame that shows something, else the first one: upright, at most `longest` pixels long.

    Key frames come first, because they are quick to decode; then the frames of the first seconds.

    Raises:
        DecodeError: no frame can be decoded.
        MissingExtraError: av is not installed.
        PictureTooLargeError: the frames are too large.

    """
    best: tuple[float, Image.Image] | None = None
    with guarded():
        for only_keys in (True, False):
            with open_video(source) as (container, stream):
                for frame in _frames(container, stream, only_keys=only_keys):
                    picture = picture_of(frame, longest)[0]
                    deviation = ImageStat.Stat(picture.convert("L")).stddev[0]
                    if deviation >= _CLEAR:
                        return picture
                    if best is None or deviation > max(best[0], _FLAT):
                        best = deviation, picture
    if best is None:
        raise DecodeError(Reason.NO_FRAME)
    return best[1]


def _frames(container: Any, stream: Any, *, only_keys: bool) -> Any:  # noqa: ANN401 - av has no types
    """The frames to look at; what fails to decode ends them."""
    stream.codec_context.skip_frame = "NONKEY" if only_keys else "DEFAULT"
    found = 0
    try:
        for count, packet in enumerate(container.demux(stream)):
            for frame in packet.decode():
                if only_keys or found % _EVERY == 0:
                    yield frame
                found += 1
            if found >= (_MAX_KEY_FRAMES if only_keys else _MAX_FRAMES) or count >= MAX_PACKETS * _MAX_KEY_FRAMES:
                return
    except Exception:  # noqa: BLE001 - the frames before the damage may do
        return
