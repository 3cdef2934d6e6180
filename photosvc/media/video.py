"""The contents of video files: their metadata, facts of the container, and one frame to show.

The metadata are read from the structure of the file, and completed by tags that a decoder reads. AVCHD camcorders write
time and position of the recording into each picture of their H.264 stream, in a message of user data (ISO/IEC 14496-10
annex D.1.6) named `MDPM`; ExifTool documents its entries.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, Final

from PIL import Image, ImageStat

from photosvc.core.problems import Problem, Reason
from photosvc.media.decode import guarded
from photosvc.media.errors import DecodeError, PictureTooLargeError, load_extra
from photosvc.media.formats import is_sequence
from photosvc.media.metadata import Metadata, merge, merge_file, valid_position
from photosvc.media.mp4 import read_boxes, read_tags
from photosvc.media.slices import read_at
from photosvc.media.text import LATITUDE, LONGITUDE, decimal_degrees, decoded, is_plausible
from photosvc.media.xmp import read_xmp

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
#: Most key frames to examine: most videos begin with one that shows something, some fade in from black.
_MAX_KEY_FRAMES: Final = 8
#: Frames to decode when no key frame shows anything, as in short videos with a single one: ten seconds at 30 a second.
_MAX_FRAMES: Final = 300
#: The first of every 15 frames is examined.
_EVERY: Final = 15
#: A frame shows nothing if the standard deviation of its brightness (0 to 255) is below this.
_FLAT: Final = 8.0
#: A frame with at least this standard deviation ends the search: it is not in the middle of a fade.
_CLEAR: Final = 24.0
_READ: Final = 1 << 21
_MAX_STREAMS: Final = 32
_MESSAGE: Final = bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM"
#: Bytes of the message that are read, and bytes of one entry: its number and four bytes.
_LENGTH, _ENTRY = 512, 5
_DATE, _TIME, _MAKE = 0x18, 0x19, 0xE0
#: Numbers of the entries: hemisphere, then degrees, minutes and seconds.
_LAT_REF, _LAT, _LNG_REF, _LNG = 0xB1, (0xB2, 0xB3, 0xB4), 0xB5, (0xB6, 0xB7, 0xB8)
_MAKES: Final = {0x0103: "Panasonic", 0x0108: "Sony", 0x1011: "Canon", 0x1104: "JVC"}
_BOXES: Final = frozenset((b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"))
# Object identifiers of ASF (Advanced Systems Format specification, section 10).
_ASF: Final = bytes.fromhex("3026b2758e66cf11a6d900aa0062ce6c")
_FILE_PROPERTIES: Final = bytes.fromhex("a1dcab8c47a9cf118ee400c00c205365")
_MAX_OBJECTS: Final = 200
_ASF_EPOCH: Final = datetime(1601, 1, 1, tzinfo=UTC)


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
    """The reason why it cannot be played to its end."""


def read_video(source: BinaryIO) -> Video:
    """Read the facts of a video and its first key frame.

    Raises:
        DecodeError: it contains no video, or cannot be read.
        MissingExtraError: av is not installed.
    """
    with guarded(), open_video(source) as (container, stream):
        frame, rotation = _first_frame(container, stream)
        width, height = shown_size(stream, rotation)
        # Values that are not UTF-8 are read as Latin-1.
        raw_tags = {**stream.metadata, **container.metadata}
        tags = {name: decoded(value.encode(errors="surrogateescape")) for name, value in raw_tags.items()}
        metadata, is_cut = read_video_metadata(source, tags)
        rate = float(stream.average_rate or 0)
        return Video(
            width=width,
            height=height,
            duration_ns=duration_of(container, stream),
            fps=round(rate, 3) if 0 < rate <= 10_000 else 0.0,
            frames=max(stream.frames, 0),
            codec=_codec(stream.codec_context),
            metadata=metadata,
            frame=frame,
            problem=Problem.of(Reason.TRUNCATED_VIDEO) if is_cut else None,
        )


@contextmanager
def open_video(source: BinaryIO) -> Iterator[tuple[Any, Any]]:
    """Open the av container and its first video stream.

    Raises:
        DecodeError: no video can be found in it.
        MissingExtraError: av is not installed.
    """
    av = load_extra("video")
    source.seek(0)
    # Tags that are not UTF-8: av 19 always passes their bytes as surrogates, older versions refuse the file by default.
    tolerant = {"metadata_errors": "surrogateescape"} if int(av.__version__.partition(".")[0]) < 19 else {}
    # With a file object instead of a name, FFmpeg's protocols (http, concat, …) cannot be used.
    with av.open(source, "r", options=_PROBE, **tolerant) as container:
        if not container.streams.video:
            raise DecodeError(Reason.NO_VIDEO)
        stream = container.streams.video[0]
        if stream.codec_context is None:  # FFmpeg has no decoder of this codec
            raise DecodeError(Reason.UNDECODABLE)
        if not 0 < stream.codec_context.width * stream.codec_context.height <= MAX_PIXELS:
            raise PictureTooLargeError(Reason.VIDEO_SIZE, MAX_PIXELS // 1_000_000)
        yield container, stream


def _first_frame(container: Any, stream: Any) -> tuple[Image.Image | None, int]:  # noqa: ANN401
    """Return the first key frame upright, and the degrees by which it was turned counter-clockwise."""
    stream.codec_context.skip_frame = "NONKEY"
    with suppress(DecodeError), guarded():  # a video is indexed even without a frame to show
        for count, packet in enumerate(container.demux(stream)):
            for frame in packet.decode():
                return picture_of_frame(frame, aspect_of(stream), _FRAME_SIZE)
            if count >= MAX_PACKETS:
                break
    with suppress(DecodeError), guarded():  # when the packets end in an error, the decoder may still hold the frame
        for frame in stream.codec_context.decode(None):
            return picture_of_frame(frame, aspect_of(stream), _FRAME_SIZE)
    return None, 0


def aspect_of(stream: Any) -> float:  # noqa: ANN401
    """Return width divided by height of a pixel: anamorphic video is shown wider or narrower than it is stored."""
    aspect = float(stream.sample_aspect_ratio or 1)
    return aspect if 0.1 < aspect < 10 else 1.0


def shown_size(stream: Any, rotation: int) -> tuple[int, int]:  # noqa: ANN401
    """Return width and height of the upright video in square pixels; frames keep their height."""
    context = stream.codec_context
    width, height = max(1, round(context.width * aspect_of(stream))), context.height
    return (height, width) if rotation % 180 == 90 else (width, height)


def picture_of_frame(frame: Any, aspect: float, longest: int) -> tuple[Image.Image, int]:  # noqa: ANN401
    """Return the frame upright, at most `longest` pixels long, and the degrees it was turned counter-clockwise.

    Args:
        aspect: see `aspect_of`.
    """
    rotation = round(getattr(frame, "rotation", 0) / 90) * 90 % 360
    width = frame.width * aspect
    ratio = min(1.0, longest / max(width, frame.height))
    size = {"width": max(1, round(width * ratio)), "height": max(1, round(frame.height * ratio))}
    picture: Image.Image = frame.reformat(format="rgb24", **size).to_image()
    return (picture.rotate(rotation, expand=True) if rotation else picture), rotation


def duration_of(container: Any, stream: Any) -> int:  # noqa: ANN401
    """Return the duration in nanoseconds of an open video; 0 when unknown.

    A truncated file has the duration in its header, as in MP4; for an AVI, FFmpeg would estimate the rest of the file.
    """
    nanoseconds = (container.duration or 0) * 1000
    if container.format.name == "avi" and stream.frames > 0 and stream.average_rate:
        nanoseconds = max(nanoseconds, int(stream.frames / stream.average_rate * 10**9))
    if nanoseconds <= 0 and stream.duration and stream.time_base:
        nanoseconds = int(stream.duration * stream.time_base * 10**9)
    return nanoseconds if 0 < nanoseconds <= MAX_DURATION else 0


def _codec(context: Any) -> str:  # noqa: ANN401
    """Return the four-letter code of MP4 for modern codecs, else the name in FFmpeg."""
    code = str(context.codec_tag or "").lower()
    name = context.codec.canonical_name  # the name of its decoder may differ: AV1 is decoded by libdav1d
    return code if code in _TAGS else _CODECS.get(name, name)


def read_poster(source: BinaryIO, longest: int) -> Image.Image:
    """Return the first frame that shows something, or else the first: upright, at most `longest` pixels long.

    Key frames come first, because they are quick to decode; then the frames of the first seconds.

    Raises:
        DecodeError: no frame can be decoded.
        MissingExtraError: av is not installed.
        PictureTooLargeError: the frames are too large.
    """
    best: tuple[float, Image.Image] | None = None
    with guarded():
        for only_keys in (True, False):
            # When decoding ends in an error, a frame before the damage may be good enough.
            with open_video(source) as (container, stream), suppress(DecodeError), guarded():
                for frame in _frames(container, stream, only_keys=only_keys):
                    picture = picture_of_frame(frame, aspect_of(stream), longest)[0]
                    deviation = ImageStat.Stat(picture.convert("L")).stddev[0]
                    if deviation >= _CLEAR:
                        return picture
                    if best is None or deviation > max(best[0], _FLAT):
                        best = deviation, picture
    if best is None:
        raise DecodeError(Reason.NO_FRAME)
    return best[1]


def _frames(container: Any, stream: Any, *, only_keys: bool) -> Any:  # noqa: ANN401 - av has no types
    """Yield the frames to examine."""
    stream.codec_context.skip_frame = "NONKEY" if only_keys else "DEFAULT"
    decoded_frames = 0
    for count, packet in enumerate(container.demux(stream)):
        for frame in packet.decode():
            if only_keys or decoded_frames % _EVERY == 0:
                yield frame
            decoded_frames += 1
        if decoded_frames >= (_MAX_KEY_FRAMES if only_keys else _MAX_FRAMES) or count >= MAX_PACKETS * _MAX_KEY_FRAMES:
            return


def read_avchd(source: BinaryIO) -> Metadata:
    """Return wall time, offset, position and maker from the beginning of a transport stream; empty when not found."""
    source.seek(0)
    for stream in _streams(source.read(_READ)):
        at = stream.find(_MESSAGE)
        if at >= 0:
            # Three bytes of an H.264 stream that would look like a start code carry a 3 between them.
            body = re.sub(b"\0\0\3", b"\0\0", bytes(stream[at + len(_MESSAGE) : at + _LENGTH]))
            entries = {
                body[i]: body[i + 1 : i + _ENTRY] for i in range(1, 1 + _ENTRY * body[0], _ENTRY) if i < len(body)
            }
            return _metadata(entries)
    return Metadata()


def _streams(data: bytes) -> list[bytearray]:
    """Return the contents of each stream; Blu-ray puts a time stamp of four bytes before each packet."""
    start, step = (0, 188) if data[:1] == b"G" else (4, 192)
    streams: dict[int, bytearray] = {}
    for at in range(start, len(data) - 187, step):
        if data[at] != ord("G"):
            break
        stream = (data[at + 1] & 0x1F) << 8 | data[at + 2]
        control = data[at + 3] >> 4 & 3
        begin = at + (5 + data[at + 4] if control == 3 else 4)
        if control & 1 and (stream in streams or len(streams) < _MAX_STREAMS):
            streams.setdefault(stream, bytearray()).extend(data[begin : at + 188])
    return list(streams.values())


def _metadata(entries: Mapping[int, bytes]) -> Metadata:
    local, offset = _moment(entries)
    lat, lng = valid_position(_degrees(entries, _LAT, _LAT_REF, LATITUDE), _degrees(entries, _LNG, _LNG_REF, LONGITUDE))
    return Metadata(
        taken_local=local,
        utc_offset=offset,
        lat=lat,
        lng=lng,
        camera_make=_MAKES.get(int.from_bytes(entries.get(_MAKE, b"")[:2], "big"), ""),
    )


def _moment(entries: Mapping[int, bytes]) -> tuple[datetime | None, int | None]:
    """Return naive wall time and its offset in minutes; None where unknown."""
    date, time = entries.get(_DATE, b""), entries.get(_TIME, b"")
    if len(date) < 4 or len(time) < 4:
        return None, None
    try:  # each byte holds two decimal digits
        century, year, month, day, hour, minute, second = (int(f"{byte:x}") for byte in date[1:] + time)
        local = datetime(century * 100 + year, month, day, hour, minute, second)  # noqa: DTZ001 - wall time
    except ValueError:
        return None, None
    return (local, _offset(date[0])) if is_plausible(local) else (None, None)


def _degrees(entries: Mapping[int, bytes], tags: Sequence[int], ref: int, axis: str) -> float | None:
    """Return decimal degrees from fractions of 16-bit numbers; None when one is missing."""
    parts = []
    for tag in tags:
        part = entries.get(tag, b"")
        above, below = int.from_bytes(part[:2], "big"), int.from_bytes(part[2:], "big")
        if len(part) < 4 or not below:
            return None
        parts.append(above / below)
    return decimal_degrees(parts, entries.get(ref, b"")[:1].decode("latin-1"), axis)


def _offset(zone: int) -> int | None:
    """Return minutes east of UTC from the bits of sign, hours and half an hour; None for 0, which also means unset."""
    minutes = (zone >> 1 & 15) * 60 + (zone & 1) * 30
    if zone & 0x80 or not minutes:
        return None
    return -minutes if zone & 0x20 else minutes


def read_video_metadata(source: BinaryIO, tags: Mapping[str, str] | None = None) -> tuple[Metadata, bool]:
    """Return the metadata of a video, and whether the file is cut off before the end of its media data.

    Args:
        tags: tags that a decoder found; they complete the metadata.
    """
    source.seek(0)
    head = source.read(200)
    tagged = read_tags(tags or {})
    if head[4:8] in _BOXES:
        boxed = read_boxes(source)
        metadata = merge([read_tags(boxed.tags), tagged])
        if is_sequence(head):  # its header has the time of the encoder, often of a conversion
            metadata = replace(metadata, taken_utc=None)
        return merge_file(metadata, Metadata(), read_xmp(boxed.xmp).metadata), boxed.is_cut
    if head.startswith(_ASF):
        return merge([tagged, Metadata(taken_utc=_asf_creation(source))]), False
    if ord("G") in (head[:1] + head[4:5]):
        return merge([read_avchd(source), tagged]), False
    return tagged, False


def _asf_creation(source: BinaryIO) -> datetime | None:
    """Return the creation date of the ASF file properties, which count 100 nanoseconds since 1601."""
    position = 30  # the header object begins with its own identifier, size and number of objects
    for _ in range(_MAX_OBJECTS):
        head = read_at(source, position, 56)
        size = int.from_bytes(head[16:24], "little")
        if len(head) < 56 or not 24 <= size < 1 << 40:
            return None
        if head.startswith(_FILE_PROPERTIES):
            steps = int.from_bytes(head[48:56], "little")
            if not 0 < steps < 1 << 62:
                return None
            try:
                moment = _ASF_EPOCH + timedelta(microseconds=steps // 10)
            except OverflowError:
                return None
            return moment if is_plausible(moment) and moment.year > 1980 else None
        position += size
    return None
