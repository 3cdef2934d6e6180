"""Video files: the facts in the container, and one frame to show."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, BinaryIO, Final

from PIL import Image

from photosvc.core.problems import Problem, Reason
from photosvc.media.errors import DecodeError, PictureTooLargeError, load_extra
from photosvc.media.metadata import Metadata
from photosvc.media.pixels.decode import guarded
from photosvc.media.video.described import read_video_metadata

#: Most pixels of a frame; 8K video has 33 million.
MAX_PIXELS: Final = 50_000_000
#: Most packets that are read to find a frame.
MAX_PACKETS: Final = 300
#: Nanoseconds in 30 days; a longer duration is taken as an error in the header.
MAX_DURATION: Final = 30 * 24 * 3600 * 10**9
_FRAME_SIZE: Final = 720

_TAGS: Final = frozenset(("avc1", "avc3", "hvc1", "hev1", "dvh1", "dvhe", "vvc1"))
_CODECS: Final = {"h264": "avc1", "hevc": "hvc1", "vvc": "vvc1", "av1": "av01", "vp9": "vp09"}
# Bytes and microseconds of a video that FFmpeg reads to find its streams.
_PROBE: Final = {"probesize": "5000000", "analyzeduration": "5000000"}


@dataclass(frozen=True, slots=True)
class Video:
    """The contents of a video file."""

    width: int
    """Pixels of the upright picture."""
    height: int
    duration_ns: int = 0
    fps: float = 0.0
    frames: int = 0
    codec: str = ""
    metadata: Metadata = Metadata()
    frame: Image.Image | None = None
    """The first key frame, upright, at most 720 pixels long; None when none can be decoded."""
    problem: Problem | None = None
    """Why it cannot be played to its end."""


def read_video(source: BinaryIO) -> Video:
    """The facts of a video and its first key frame.

    Raises:
        DecodeError: it contains no video, or cannot be read.
        MissingExtraError: av is not installed.

    """
    with guarded(), open_video(source) as (container, stream):
        context = stream.codec_context
        frame, rotation = _first_frame(container, stream)
        turned = rotation % 180 == 90
        metadata, is_cut = read_video_metadata(source, {**stream.metadata, **container.metadata})
        return Video(
            width=context.height if turned else context.width,
            height=context.width if turned else context.height,
            duration_ns=duration_of(container, stream),
            fps=_rate(stream),
            frames=max(stream.frames, 0),
            codec=_codec(context),
            metadata=metadata,
            frame=frame,
            problem=Problem.of(Reason.TRUNCATED_VIDEO) if is_cut else None,
        )


@contextmanager
def open_video(source: BinaryIO) -> Iterator[tuple[Any, Any]]:
    """The av container and its first video stream.

    Raises:
        DecodeError: no video can be found in it.
        MissingExtraError: av is not installed.

    """
    av = load_extra("video")
    source.seek(0)
    # With a file object instead of a name, FFmpeg's protocols (http, concat, …) cannot be used.
    with av.open(source, "r", options=_PROBE, metadata_errors="replace") as container:
        if not container.streams.video:
            raise DecodeError(Reason.NO_VIDEO)
        stream = container.streams.video[0]
        if not 0 < stream.codec_context.width * stream.codec_context.height <= MAX_PIXELS:
            raise PictureTooLargeError(Reason.VIDEO_SIZE, MAX_PIXELS // 1_000_000)
        yield container, stream


def _first_frame(container: Any, stream: Any) -> tuple[Image.Image | None, int]:  # noqa: ANN401
    """The upright frame, and the degrees by which it was turned counter-clockwise."""
    stream.codec_context.skip_frame = "NONKEY"
    with suppress(Exception):  # a video is indexed even without a frame to show
        for count, packet in enumerate(container.demux(stream)):
            for frame in packet.decode():
                return picture_of(frame, _FRAME_SIZE)
            if count >= MAX_PACKETS:
                break
    with suppress(Exception):  # where the packets end in an error, the decoder may still hold the frame
        for frame in stream.codec_context.decode(None):
            return picture_of(frame, _FRAME_SIZE)
    return None, 0


def picture_of(frame: Any, longest: int) -> tuple[Image.Image, int]:  # noqa: ANN401
    """The frame upright, at most `longest` pixels long, and the degrees it was turned counter-clockwise for that."""
    rotation = round(getattr(frame, "rotation", 0) / 90) * 90 % 360
    ratio = min(1.0, longest / max(frame.width, frame.height))
    size = {"width": max(1, round(frame.width * ratio)), "height": max(1, round(frame.height * ratio))}
    picture: Image.Image = frame.reformat(format="rgb24", **size).to_image()
    return (picture.rotate(rotation, expand=True) if rotation else picture), rotation


def duration_of(container: Any, stream: Any) -> int:  # noqa: ANN401
    """Nanoseconds of an open video; 0 when unknown."""
    nanoseconds = (container.duration or 0) * 1000
    if nanoseconds <= 0 and stream.duration and stream.time_base:
        nanoseconds = int(stream.duration * stream.time_base * 10**9)
    return nanoseconds if 0 < nanoseconds <= MAX_DURATION else 0


def _rate(stream: Any) -> float:  # noqa: ANN401
    rate = float(stream.average_rate or 0)
    return round(rate, 3) if 0 < rate <= 10_000 else 0.0


def _codec(context: Any) -> str:  # noqa: ANN401
    """The four-letter code of MP4 for modern codecs, else the name in FFmpeg."""
    code = str(context.codec_tag or "").lower()
    name = context.codec.canonical_name  # the decoder may have another: that of AV1 is libdav1d
    return code if code in _TAGS else _CODECS.get(name, name)
