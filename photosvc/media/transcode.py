"""Videos converted to the format that every browser plays: H.264 and AAC in MP4, its index at the front.

Copied packets of H.264 lose their supplemental enhancement information (ITU-T H.264 annex D), SEI, in which cameras
write positions, their names and their settings.
"""

import errno
from collections.abc import Callable, Iterator
from fractions import Fraction
from heapq import heappop, heappush
from itertools import pairwise
from typing import Any, BinaryIO, Final

from photosvc.core.problems import Reason
from photosvc.media.decode import guarded
from photosvc.media.errors import DecodeError, StorageError, load_extra
from photosvc.media.video import open_video, shown_size

#: The filter of FFmpeg that leaves out SEI units.
_WITHOUT_SEI: Final = "filter_units=remove_types=6"
#: Pixels of the longer side, at most; larger videos are scaled down.
LONGEST: Final = 1920
#: Frames a second, at most; faster videos lose frames.
_MAX_RATE: Final = 60
_AUDIO_RATE: Final = 48_000
#: Units a second of the time stamps written: divisible by all usual frame rates.
_CLOCK: Final = 90_000
#: Share of the video between two reports of progress.
_STEP: Final = 0.01
_TURNS: Final = {90: "cclock", 270: "clock"}
_BT709: Final = 1
#: Colour ranges as FFmpeg counts them: 16 to 235, and 0 to 255.
_LIMITED_RANGE, _FULL_RANGE = 1, 2
Progress = Callable[[float], None]
#: A function that yields the packets to write for a packet of a stream; an empty packet ends the stream.
Converter = Callable[[Any], Iterator[Any]]


class VideoTooLargeError(DecodeError):
    """The converted video is larger than allowed."""


def convert_video(source: BinaryIO, target: str, max_bytes: int, progress: Progress) -> None:
    """Write the first video track and the first readable sound track as MP4 with H.264 and AAC.

    Tracks of H.264 or AAC are copied. If copying fails, for example because packets have no time stamps, they are
    encoded. Neither the file nor its packets have metadata of the source.

    Args:
        source: the video, open for reading.
        target: a file name; an existing file is overwritten.
        max_bytes: bytes of the result, at most.
        progress: called with the finished share, 0 to 1, at most a hundred times.

    Raises:
        DecodeError: it holds no video, or cannot be decoded.
        MissingExtraError: av is not installed.
        StorageError: the disk of the target is full.
        VideoTooLargeError: the result would be too large.
    """
    rotation, copies = _look(source)
    for copying in (True, False) if copies else (False,):
        try:
            _convert(source, target, max_bytes, progress, rotation, copying=copying)
        except VideoTooLargeError:
            raise
        except DecodeError as error:
            if isinstance(error.__cause__, OSError) and error.__cause__.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageError from None
            if not copying:
                raise
        else:
            return


def _look(source: BinaryIO) -> tuple[int, bool]:
    """Return the degrees, counter-clockwise, that turn frames upright, and whether packets may be copied."""
    with guarded(), open_video(source) as (container, stream):
        context = stream.codec_context
        plain = context.codec.canonical_name == "h264" and context.pix_fmt in ("yuv420p", "yuvj420p")
        for frame in container.decode(stream):
            return round(getattr(frame, "rotation", 0) / 90) * 90 % 360, plain and not _is_untimed(container)
    raise DecodeError(Reason.NO_FRAME)


def _is_untimed(container: Any) -> bool:  # noqa: ANN401 - av has no types
    """Return whether packets only have an order: AVI has no display time for frames stored ahead of others."""
    return str(container.format.name) == "avi"


def _convert(
    source: BinaryIO, target: str, max_bytes: int, progress: Progress, rotation: int, *, copying: bool
) -> None:
    av = load_extra("video")
    with (
        guarded(),
        open_video(source) as (container, video),
        av.open(target, "w", format="mp4", options={"movflags": "+faststart"}) as output,
    ):
        converters = {
            video.index: _video_copier(av, video, output) if copying else _video_encoder(av, video, rotation, output)
        }
        streams = [video]
        for audio in container.streams.audio:
            if audio.codec_context is not None:
                converters[audio.index] = _audio_converter(av, audio, output)
                streams.append(audio)
                break
        duration = (container.duration or 0) / av.time_base
        reported, written, frames = 0.0, 0, 0
        for packet in container.demux(streams):
            share = min(1.0, float(packet.pts * packet.time_base) / duration) if packet.pts and duration > 0 else 0.0
            for converted in converters[packet.stream.index](packet):
                frames += converted.stream.type == "video"
                written += converted.size
                if written > max_bytes:
                    raise VideoTooLargeError(Reason.CONVERTED_TOO_LARGE, max_bytes // 1_000_000)
                output.mux(converted)
            if share >= reported + _STEP:
                reported = share
                progress(share)
        if not frames:
            raise DecodeError(Reason.NO_FRAME)


def _video_copier(av: Any, stream: Any, output: Any) -> Converter:  # noqa: ANN401
    """Return a converter that copies packets of H.264 without SEI, and the display matrix that turns the frames."""
    copied = output.add_stream_from_template(stream)
    without_sei = av.BitStreamFilterContext(_WITHOUT_SEI, stream, copied)

    def copy(packet: Any) -> Iterator[Any]:  # noqa: ANN401
        for filtered in without_sei.filter(packet) if packet.size else ():
            filtered.stream = copied
            yield filtered

    return copy


def _aac_copier(stream: Any, output: Any) -> Converter:  # noqa: ANN401
    """Return a converter that copies AAC without a filter: one would keep the framing of a transport stream."""
    copied = output.add_stream_from_template(stream)

    def copy(packet: Any) -> Iterator[Any]:  # noqa: ANN401
        if packet.size:
            packet.stream = copied
            yield packet

    return copy


def _video_encoder(av: Any, stream: Any, rotation: int, output: Any) -> Converter:  # noqa: ANN401
    """Return a converter that encodes upright frames of square pixels and keeps a variable frame rate."""
    context = stream.codec_context
    rate = min(max(Fraction(stream.average_rate or 30), Fraction(1)), Fraction(_MAX_RATE))
    encoder = output.add_stream(
        "libx264", rate=rate.limit_denominator(1001), options={"preset": "veryfast", "crf": "23"}
    )
    encoder.width, encoder.height = size = _size(stream, rotation)
    encoder.pix_fmt = "yuv420p"
    encoder.time_base = encoder.codec_context.time_base = Fraction(1, _CLOCK)
    encoder.codec_context.thread_count = 1
    encoder.codec_context.color_range = _LIMITED_RANGE
    hdr = context.color_trc in (16, 18)  # PQ and HLG (ITU-T H.273)
    for name in ("color_primaries", "color_trc", "colorspace"):
        setattr(encoder.codec_context, name, _BT709 if hdr else getattr(context, name))
    upright = _upright(av, rotation, size, hdr=hdr)
    least = _CLOCK * 9 // (_MAX_RATE * 10)  # units between frames; a tenth less for rounded time stamps
    untimed = _is_untimed(stream.container)
    order: list[int] = []  # of packets whose frames are not decoded yet
    last: int | None = None

    def encode(packet: Any) -> Iterator[Any]:  # noqa: ANN401
        nonlocal last
        if untimed and packet.dts is not None:
            heappush(order, packet.dts)
        for frame in _decoded(av, packet):
            stamp = frame.pts if not untimed else heappop(order) if order else None
            if stamp is not None:
                moment = round(stamp * stream.time_base * _CLOCK)
            else:
                moment = 0 if last is None else last + round(_CLOCK / rate)
            if last is None or moment >= last + least:
                last = moment
                turned = upright(frame)
                turned.pts, turned.time_base, turned.pict_type = moment, Fraction(1, _CLOCK), 0
                yield from encoder.encode(turned)
        if not packet.size:
            yield from encoder.encode(None)

    return encode


def _size(stream: Any, rotation: int) -> tuple[int, int]:  # noqa: ANN401
    """Return width and height of the upright result in square pixels; both are even, as H.264 requires."""
    width, height = shown_size(stream, rotation)
    ratio = min(1.0, LONGEST / max(width, height))
    return max(2, round(width * ratio / 2) * 2), max(2, round(height * ratio / 2) * 2)


def _upright(av: Any, rotation: int, size: tuple[int, int], *, hdr: bool) -> Callable[[Any], Any]:  # noqa: ANN401
    """Return a function that rotates and scales frames, even when size or pixel format changes mid-stream."""
    scale = f"{size[0]}:{size[1]}:out_range=tv"
    if hdr:
        scale += ":out_primaries=bt709:out_transfer=bt709:out_color_matrix=bt709"
    turns: list[tuple[str, str]] = []
    if rotation in _TURNS:
        turns = [("transpose", _TURNS[rotation])]
    elif rotation:
        turns = [("hflip", ""), ("vflip", "")]
    graph: Any = None
    shape: dict[str, Any] = {}

    def upright(frame: Any) -> Any:  # noqa: ANN401
        nonlocal graph, shape
        seen = {"width": frame.width, "height": frame.height, "format": frame.format.name}
        if shape != seen:
            shape = seen
            graph = av.filter.Graph()
            filters = [graph.add_buffer(**shape, time_base=Fraction(1, _CLOCK))]
            full = frame.color_range == _FULL_RANGE or frame.format.name.startswith("yuvj")
            plain = (("scale", f"{scale}:in_range={'pc' if full else 'tv'}"), ("setsar", "1"), ("format", "yuv420p"))
            filters += [graph.add(name, value or None) for name, value in (*turns, *plain)]
            for left, right in pairwise([*filters, graph.add("buffersink")]):
                left.link_to(right)
            graph.configure()
        graph.push(frame)
        return graph.pull()

    return upright


def _audio_converter(av: Any, stream: Any, output: Any) -> Converter:  # noqa: ANN401
    """Return a converter that copies AAC and encodes other sound as AAC in stereo."""
    if stream.codec_context.codec.canonical_name == "aac":
        return _aac_copier(stream, output)
    encoder = output.add_stream("aac", rate=_AUDIO_RATE, layout="stereo")
    resampler = av.AudioResampler(format="fltp", layout="stereo", rate=_AUDIO_RATE)
    position = 0  # samples written or left out

    def encode(packet: Any) -> Iterator[Any]:  # noqa: ANN401
        nonlocal position
        frames = _decoded(av, packet)
        for frame in frames if packet.size else [*frames, None]:
            # Time stamps may be coarser than samples: they are only followed over gaps of a tenth of a second.
            if frame is not None and frame.pts is not None:
                begin = round(frame.pts * frame.time_base * _AUDIO_RATE)
                position = begin if begin - position > _AUDIO_RATE // 10 else position
            for resampled in resampler.resample(frame):
                resampled.pts, resampled.time_base = position, Fraction(1, _AUDIO_RATE)
                position += resampled.samples
                yield from encoder.encode(resampled)
        if not packet.size:
            yield from encoder.encode(None)

    return encode


def _decoded(av: Any, packet: Any) -> list[Any]:  # noqa: ANN401
    """Return the frames of a packet; none of a damaged packet, which players skip too."""
    try:
        return list(packet.decode())
    except av.error.InvalidDataError:
        return []
