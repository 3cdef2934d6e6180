"""Videos that every browser plays, recognised by their boxes without a decoder."""

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.media.mp4 import Tracks, read_tracks
from tests.helpers.examples import examples
from tests.unit.media.video.videos import film


def tracks(data, before=b""):
    return read_tracks(BytesIO(before + data + b"after"), len(before), len(before) + len(data))


@pytest.mark.parametrize(
    ("name", "codec", "options", "plays", "video", "audio"),
    [
        ("a.mp4", "libx264", {"sounds": ["aac"]}, True, ("avc1",), ("mp4a",)),
        ("a.mp4", "libx264", {}, True, ("avc1",), ()),
        ("a.mp4", "libx264", {"sounds": ["aac", "aac"]}, True, ("avc1",), ("mp4a", "mp4a")),
        ("a.mp4", "libx264", {"sounds": ["ac3"]}, False, ("avc1",), ("ac-3",)),
        ("a.mp4", "libx264", {"pixels": "yuv422p"}, False, ("avc1",), ()),
        ("a.mp4", "libx264", {"pixels": "yuv420p10le"}, False, ("avc1",), ()),
        ("a.mp4", "libx265", {}, False, ("hev1",), ()),
        ("a.mov", "libx264", {"sounds": ["pcm_s16le"]}, False, ("avc1",), ("sowt",)),
        ("a.mov", "libx264", {"sounds": ["aac"]}, False, ("avc1",), ("mp4a",)),
        ("a.mp4", "libx264", {"seen": False, "sounds": ["aac"]}, False, (), ("mp4a",)),
        ("a.mkv", "libx264", {}, False, (), ()),
    ],
)
def test_mp4_with_plain_h264_and_known_sound_plays_everywhere(tmp_path, name, codec, options, plays, video, audio):
    data = film(tmp_path / name, codec, frames=3, **options).read_bytes()
    file_tracks = tracks(data)
    assert (file_tracks.play_everywhere, file_tracks.video, file_tracks.audio) == (plays, video, audio)
    assert tracks(data, b"a picture before it") == file_tracks


def test_a_file_that_is_no_mp4_has_no_tracks():
    assert tracks(b"") == tracks(b"\xff" * 500) == Tracks()


def test_boxes_within_boxes_without_end_are_not_followed():
    box = b""
    for _ in range(4000):
        box = (len(box) + 8).to_bytes(4, "big") + b"trak" + box
    moov = (len(box) * 3 + 8).to_bytes(4, "big") + b"moov" + box * 3
    assert tracks(moov) == Tracks()


def test_a_file_that_was_cut_anywhere_has_the_tracks_before_the_cut(tmp_path):
    data = film(tmp_path / "a.mp4", frames=3, sounds=["aac"]).read_bytes()
    lengths = range(data.index(b"moov"), len(data))
    found = [read_tracks(BytesIO(data[:length]), 0, length) for length in lengths]
    assert found[0] == Tracks("isom")
    assert found[-1] == read_tracks(BytesIO(data), 0, len(data))
    assert {one.h264_profiles for one in found} == {(), (100,)}


@examples(60)
@given(st.data())
def test_damaged_boxes_get_an_answer(tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.mp4"
    if not path.exists():
        film(path, frames=3, sounds=["aac"])
    damaged = bytearray(path.read_bytes())
    start = damaged.index(b"moov")
    for _ in range(data.draw(st.integers(1, 8))):
        damaged[data.draw(st.integers(start, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    assert isinstance(tracks(bytes(damaged[: data.draw(st.integers(start, len(damaged)))])), Tracks)
