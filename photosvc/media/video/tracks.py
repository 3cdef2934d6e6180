"""The codecs of MP4 and QuickTime files, read from their boxes: needs no decoder (ISO/IEC 14496-12 section 8.5.2)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from photosvc.media.isobmff import boxes

#: Boxes that are looked at in one file, however they are nested.
_MAX_BOXES: Final = 4000
_PATH: Final = (b"mdia", b"minf", b"stbl", b"stsd")
#: Bytes of a visual sample entry before the boxes in it.
_VISUAL: Final = 78
_HANDLERS: Final = {b"vmhd": "video", b"smhd": "audio"}
#: `profile_idc` of H.264 that browsers play: baseline, main, extended and high, all of 8 bits and 4:2:0.
_PROFILES: Final = frozenset((66, 77, 88, 100))
_H264: Final = frozenset(("avc1", "avc3"))
_SOUNDS: Final = frozenset(("mp4a", ".mp3", "Opus", "fLaC"))


@dataclass(frozen=True, slots=True)
class Tracks:
    """What an MP4 or QuickTime file holds."""

    brand: str = ""
    """`qt  ` for QuickTime; empty when the file does not say it."""
    video: tuple[str, ...] = ()
    """Four-character codes of the sample entries, such as `avc1`."""
    audio: tuple[str, ...] = ()
    h264_profiles: tuple[int, ...] = ()

    @property
    def play_everywhere(self) -> bool:
        """Whether every browser plays the file: MP4 with one track of H.264 in 8 bits, and known sound or none."""
        return (
            self.brand not in ("", "qt  ")
            and len(self.video) == 1
            and _H264.issuperset(self.video)
            and _PROFILES.issuperset(self.h264_profiles)
            and _SOUNDS.issuperset(self.audio)
        )


def read_tracks(source: BinaryIO, start: int, stop: int) -> Tracks:
    """The tracks of the file that lies between two offsets of `source`; empty when it is no such file."""
    counted = _Counted(source)
    brand = ""
    video: list[str] = []
    audio: list[str] = []
    profiles: list[int] = []
    for kind, begin, end in counted.boxes(start, stop):
        if kind == b"ftyp":
            brand = _text(counted.read(begin, 4))
        elif kind == b"moov":
            for inner, inner_begin, inner_end in counted.boxes(begin, min(end, stop)):
                if inner == b"trak":
                    media, codes, profile = _track(counted, inner_begin, min(inner_end, stop))
                    {"video": video, "audio": audio}.get(media, []).extend(codes)
                    profiles += profile
            break
    return Tracks(brand, tuple(video), tuple(audio), tuple(profiles))


class _Counted:
    """A file whose boxes are read, at most `_MAX_BOXES` of them."""

    def __init__(self, source: BinaryIO) -> None:
        self._source = source
        self._left = _MAX_BOXES

    def boxes(self, start: int, stop: int) -> Iterator[tuple[bytes, int, int]]:
        for box in boxes(self._source, start, stop):
            self._left -= 1
            if self._left < 0:
                return
            yield box

    def read(self, start: int, length: int) -> bytes:
        self._source.seek(start)
        return self._source.read(length)


def _track(source: _Counted, start: int, stop: int) -> tuple[str, list[str], list[int]]:
    """Kind, codes and H.264 profiles of a track; the kind is empty for one that is neither seen nor heard."""
    media = ""
    for name in _PATH:
        found = None
        for kind, begin, end in source.boxes(start, stop):
            media = _HANDLERS.get(kind, media)
            if kind == name:
                found = begin, min(end, stop)
        if found is None:
            return media, [], []
        start, stop = found
    codes: list[str] = []
    profiles: list[int] = []
    for kind, begin, end in source.boxes(start + 8, stop):
        codes.append(_text(kind))
        if media == "video" and codes[-1] in _H264:
            inner = source.boxes(begin + _VISUAL, min(end, stop))
            for name, at, last in inner:
                if name == b"avcC" and last - at > 1:
                    profiles += source.read(at + 1, 1)  # one number; none where the file was cut
    return media, codes, profiles


def _text(code: bytes) -> str:
    return code.decode("latin-1")
