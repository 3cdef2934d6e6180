"""Videos converted to what every browser plays: H.264 and AAC in MP4, its index at the front."""

import os
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any, BinaryIO, Final

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError, load_extra
from photosvc.media.pixels.decode import guarded
from photosvc.media.video.container import open_video

#: Pixels of the longer side; larger videos are scaled down.
LONGEST: Final = 1920
#: Frames a second; faster ones are thinned out.
_MAX_RATE: Final = 60
_AUDIO_RATE: Final = 48_000
_PLAIN_PIXELS: Final = frozenset(("yuv420p", "yuvj420p"))
_TURNS: Final = {90: "cclock", 270: "clock"}
#: How often the progress is reported, as a share of the whole.
_STEP: Final = 0.01

Progress = Callable[[float], None]


class VideoTooLargeError(DecodeError):
    """The converted video is larger than allowed."""


def convert_video(source: BinaryIO, target: str, max_bytes: int, progress: Progress) -> None:
    """Write the video as MP4 with H.264 and AAC; streams that are so already are copied.

    Args:
        source: the video, open for reading.
        target: a file name; an existing file is overwritten.
        max_bytes: of the result.
        progress: called with the share done, 0 to 1, at most a hundred times.

    Raises:
        DecodeError: it holds no video, or cannot be decoded.
        MissingExtraError: av is not installed.
        VideoTooLargeError: the result would be too large.

    """
    av = load_extra("video")
    rotation = _rotation(source)
    with (
        guarded(),
        open_video(source) as (container, video),
        av.open(target, "w", format="mp4", options={"movflags": "+faststart"}) as output,
    ):
        audio = container.streams.audio[0] if container.streams.audio else None
        lanes = {video.index: _video_lane(av, video, rotation, output)}
        if audio is not None:
            lanes[audio.index] = _audio_lane(av, audio, output)
        duration = (container.duration or 0) / av.time_base
        reported = 0.0
        for packet in container.demux([stream for stream in (video, audio) if stream is not None]):
            for done in lanes[packet.stream.index](packet):
                output.mux(done)
            share = min(1.0, float(packet.pts * packet.time_base) / duration) if packet.pts and duration else 0.0
            if share >= reported + _STEP:
                reported = share
                progress(share)
                if os.stat(target).st_size > max_bytes:  # noqa: PTH116 - a text as av takes it
                    raise VideoTooLargeError(Reason.CONVERTED_TOO_LARGE, max_bytes // 1_000_000)


Lane = Callable[[Any], Any]


def _rotation(source: BinaryIO) -> int:
    """Degrees, counter-clockwise, by which frames must be turned to stand upright; only a frame tells."""
    with guarded(), open_video(source) as (container, stream):
        for frame in container.decode(stream):
            return round(getattr(frame, "rotation", 0) / 90) * 90 % 360
    raise DecodeError(Reason.NO_FRAME)


def _copy_lane(stream: Any, output: Any) -> Lane:  # noqa: ANN401 - av has no types
    """Packets as they are."""
    copied = output.add_stream_from_template(stream)

    def lane(packet: Any) -> Any:  # noqa: ANN401
        if packet.dts is None:  # the empty packet at the end
            return
        packet.stream = copied
        yield packet

    return lane


def _video_lane(av: Any, stream: Any, rotation: int, output: Any) -> Lane:  # noqa: ANN401
    context = stream.codec_context
    if context.name == "h264" and context.pix_fmt in _PLAIN_PIXELS:
        return _copy_lane(stream, output)
    rate = min(stream.average_rate or Fraction(30), Fraction(_MAX_RATE))
    encoder = output.add_stream("libx264", rate=rate, options={"preset": "veryfast", "crf": "23"})
    width, height = (context.height, context.width) if rotation in _TURNS else (context.width, context.height)
    ratio = min(1.0, LONGEST / max(width, height))
    encoder.width, encoder.height = (max(2, round(side * ratio / 2) * 2) for side in (width, height))
    encoder.pix_fmt = "yuv420p"
    encoder.codec_context.thread_count = 1
    graph = _graph(av, stream, rotation, (encoder.width, encoder.height), rate)

    def lane(packet: Any) -> Any:  # noqa: ANN401
        for frame in packet.decode():
            graph.push(frame)
            yield from _pulled(av, graph, encoder)
        if packet.dts is None:
            graph.push(None)
            yield from _pulled(av, graph, encoder)
            yield from encoder.encode(None)

    return lane


def _graph(av: Any, stream: Any, rotation: int, size: tuple[int, int], rate: Fraction) -> Any:  # noqa: ANN401
    """Frames turned upright, scaled to `size`, at `rate` a second."""
    graph = av.filter.Graph()
    steps = [graph.add_buffer(template=stream)]
    if rotation in _TURNS:
        steps.append(graph.add("transpose", _TURNS[rotation]))
    elif rotation:
        steps += [graph.add("hflip"), graph.add("vflip")]
    steps += [
        graph.add("scale", f"{size[0]}:{size[1]}"),
        graph.add("format", "yuv420p"),
        graph.add("fps", str(rate)),
        graph.add("buffersink"),
    ]
    for left, right in pairwise(steps):
        left.link_to(right)
    graph.configure()
    return graph


def _pulled(av: Any, graph: Any, encoder: Any) -> Any:  # noqa: ANN401
    while True:
        try:
            frame = graph.pull()
        except (av.error.BlockingIOError, av.error.EOFError):
            return
        frame.pict_type = 0
        yield from encoder.encode(frame)


def _audio_lane(av: Any, stream: Any, output: Any) -> Lane:  # noqa: ANN401
    if stream.codec_context.name in ("aac", "mp3"):
        return _copy_lane(stream, output)
    encoder = output.add_stream("aac", rate=_AUDIO_RATE, layout="stereo")
    resampler = av.AudioResampler(format="fltp", layout="stereo", rate=_AUDIO_RATE)

    def lane(packet: Any) -> Any:  # noqa: ANN401
        frames = packet.decode()
        for frame in frames if packet.dts is not None else [*frames, None]:
            for resampled in resampler.resample(frame):
                yield from encoder.encode(resampled)
        if packet.dts is None:
            yield from encoder.encode(None)

    return lane
