"""Small videos and motion photos for the tests, drawn here."""

import struct
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from PIL import Image

from tests.helpers.pictures import encoded, heic, quarters, xmp

SECOND = 24
#: Options of the H.265 encoder: in one thread, a short film is the same at each time and on each machine. With frames
#: that refer to later ones, the encoder reads decoding times it never set when a film is shorter than their distance.
X265 = "log-level=none:frame-threads=1:pools=none:bframes=0"


def film(
    path: Path,
    codec: str = "libx264",
    *,
    pixels: str = "yuv420p",
    size: tuple[int, int] = (64, 48),
    frames: int = SECOND,
    sounds: Sequence[str] = (),
    rate: int = 48_000,
    milliseconds: Callable[[int], int] | None = None,
    draw: Callable[[int], Image.Image] | None = None,
    seen: bool = True,
    aspect: Fraction = Fraction(1),
    **options: str,
) -> Path:
    """Four quarters, 24 frames a second, and a silent track for each codec in `sounds`; the container by the extension.

    Args:
        path: of the file.
        codec: of the picture.
        pixels: their format.
        size: width and height.
        frames: how many.
        sounds: codecs of sound.
        rate: samples of sound a second.
        milliseconds: gives the time of each frame.
        draw: gives each frame, in place of the quarters.
        seen: false for a file without a picture.
        aspect: the width of a pixel by its height.
        options: of the encoder.

    """
    import av

    with av.open(str(path), "w") as container:
        if seen:
            stream = container.add_stream(codec, rate=24, options={"x265-params": X265, **options})
            stream.width, stream.height, stream.pix_fmt = *size, pixels
            stream.codec_context.sample_aspect_ratio = aspect
            if milliseconds:
                stream.codec_context.time_base = Fraction(1, 1000)
        tracks = [container.add_stream(sound, rate=rate, layout="stereo") for sound in sounds]
        for number in range(frames if seen else 0):
            frame = av.VideoFrame.from_image(draw(number) if draw else quarters(*size))
            if milliseconds:
                frame.pts, frame.time_base = milliseconds(number), Fraction(1, 1000)
            container.mux(stream.encode(frame))
        if seen:
            container.mux(stream.encode())
        for track in tracks:
            _silence(av, container, track, rate)
    return path


def _silence(av: Any, container: Any, track: Any, rate: int) -> None:
    samples = track.codec_context.frame_size or 1024
    for number in range(rate // samples):
        frame = av.AudioFrame(format=track.codec_context.format.name, layout="stereo", samples=samples)
        frame.rate, frame.pts = rate, number * samples
        for plane in frame.planes:
            plane.update(bytes(plane.buffer_size))
        container.mux(track.encode(frame))
    container.mux(track.encode())


def told(path: Path, secret: str) -> Path:
    """The film in H.264 with a text in all places where cameras write: tags, tracks, and user data of each frame.

    The user data are those of AVCHD cameras, in a unit with a point at which players may begin.
    """
    import av

    content = bytes.fromhex("17ee8c60f84d11d98cd60800200c9a66") + b"MDPM\0\0\1" + secret.encode()
    escaped = content.replace(b"\0\0\1", b"\0\0\3\1")
    unit = b"\x06\x05" + bytes([len(content)]) + escaped + b"\x06\x01\xc4\x80"
    plain = path.rename(path.with_name(f"plain-{path.name}"))
    options = {"movflags": "use_metadata_tags"} if path.suffix in {".mp4", ".mov"} else {}
    with av.open(str(plain)) as source, av.open(str(path), "w", options=options) as target:
        tags = dict.fromkeys(("location", "com.apple.quicktime.location.ISO6709", "make", "title", "comment"), secret)
        target.metadata.update(tags)
        copies = {stream.index: target.add_stream_from_template(stream) for stream in source.streams}
        for stream in copies.values():
            stream.metadata.update({"handler_name": secret, "title": secret})
        behind_length = not source.streams.video[0].codec_context.extradata.startswith(b"\0")
        for packet in source.demux():
            if packet.size:
                data = bytes(packet)
                if packet.stream.type == "video":
                    data = (struct.pack(">I", len(unit)) if behind_length else b"\0\0\0\1") + unit + data
                copy = av.Packet(data)
                copy.pts, copy.dts, copy.duration = packet.pts, packet.dts, packet.duration
                copy.time_base, copy.is_keyframe = packet.time_base, packet.is_keyframe
                copy.stream = copies[packet.stream.index]
                target.mux(copy)
    plain.unlink()
    return path


def turned(path: Path) -> Path:
    """The MP4 or MOV with a display matrix that turns it by 90 degrees clockwise, as phones write it."""
    data = bytearray(path.read_bytes())
    at = data.index(b"tkhd") + 4 + 40
    data[at : at + 36] = struct.pack(">9i", 0, 65536, 0, -65536, 0, 0, 0, 0, 1 << 30)
    path.write_bytes(data)
    return path


def google_photo(video: bytes, padding: int = 0) -> bytes:
    """A motion photo of Google's format 1, with a gain map between the picture and the video."""
    gain_map = b"\xff\xd8gain map\xff\xd9"
    items = "".join(
        f'<rdf:li rdf:parseType="Resource"><Container:Item Item:Mime="{mime}" Item:Semantic="{semantic}" '
        f'Item:Length="{length}" Item:Padding="{pad}"/></rdf:li>'
        for mime, semantic, length, pad in (
            ("image/jpeg", "Primary", 0, 0),
            ("image/jpeg", "GainMap", len(gain_map), 0),
            ("video/mp4", "MotionPhoto", len(video), padding),
        )
    )
    properties = f"<Container:Directory><rdf:Seq>{items}</rdf:Seq></Container:Directory>"
    return _with_xmp(properties, 'Camera:MotionPhoto="1"') + gain_map + video + b"\0" * padding


def micro_video(video: bytes) -> bytes:
    """A motion photo of Google's older format."""
    return _with_xmp("", f'Camera:MicroVideo="1" Camera:MicroVideoOffset="{len(video)}"') + video


def _with_xmp(properties: str, attributes: str) -> bytes:
    namespaces = (
        'xmlns:Camera="http://ns.google.com/photos/1.0/camera/" '
        'xmlns:Container="http://ns.google.com/photos/1.0/container/" '
        'xmlns:Item="http://ns.google.com/photos/1.0/container/item/" '
    )
    return encoded(quarters(), "JPEG", quality=90, xmp=xmp(properties, namespaces + attributes))


def samsung_trailer(video: bytes, kind: int = 0x0A30) -> bytes:
    """The bytes that Samsung appends to a picture: a video and the directory that points at it."""
    block = struct.pack("<HHI", 0, kind, 16) + b"MotionPhoto_Data" + video
    directory = b"SEFH" + struct.pack("<II", 107, 1) + struct.pack("<HHII", 0, kind, len(block), len(block))
    return block + directory + struct.pack("<I", len(directory)) + b"SEFT"


def samsung_photo(video: bytes) -> bytes:
    """A JPEG with a Samsung trailer."""
    return encoded(quarters(), "JPEG", quality=90) + samsung_trailer(video)


def heic_photo(video: bytes, box: bytes = b"mpvd") -> bytes:
    """A HEIC with the video in a box of its own."""
    return heic() + struct.pack(">I", 8 + len(video)) + box + video
