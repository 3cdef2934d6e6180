import sys
from datetime import UTC, datetime
from fractions import Fraction
from functools import partial
from io import BytesIO
from pathlib import Path

import av
import pytest
from hypothesis import given
from hypothesis import strategies as st

from photosvc.index.extract import extract
from photosvc.media.errors import DecodeError, MissingExtraError
from photosvc.media.metadata import Metadata
from photosvc.media.motion_photo import embedded_duration
from photosvc.media.mp4 import read_tags
from photosvc.media.transcode import convert_video
from photosvc.media.video import read_poster, read_video
from tests.helpers.examples import examples
from tests.helpers.pictures import video
from tests.unit.media.video.videos import film, google_photo, turned


@pytest.mark.parametrize(
    ("name", "codec", "read"),
    [
        ("a.mp4", "libx264", "avc1"), ("a.mov", "libx264", "avc1"), ("a.avi", "mjpeg", "mjpeg"),
        ("a.mkv", "mpeg4", "mpeg4"), ("a.webm", "libsvtav1", "av01"), ("a.webm", "libvpx-vp9", "vp09"),
    ],
)  # fmt: skip
def test_size_length_codec_and_a_frame_of_a_video_are_read(tmp_path, name, codec, read):
    with video(tmp_path / name, codec=codec).open("rb") as source:
        found = read_video(source)
    assert (found.width, found.height, found.codec, found.fps) == (64, 48, read, 24.0)
    assert found.duration_ns == pytest.approx(500_000_000, rel=0.01)
    assert found.frame is not None
    assert found.frame.size == (64, 48)
    red, green, blue = found.frame.getpixel((10, 10))
    assert red > 150 > max(green, blue)


@pytest.mark.parametrize(
    ("aspect", "turns", "size"),
    [
        (Fraction(3, 2), False, (96, 48)),
        (Fraction(3, 2), True, (48, 96)),
        (Fraction(8, 9), False, (57, 48)),
        (Fraction(1, 50), False, (64, 48)),
    ],
)
@pytest.mark.parametrize("codec", ["libx264", "mpeg4"])
def test_an_anamorphic_video_has_the_size_in_which_it_is_shown_everywhere(tmp_path, codec, aspect, turns, size):
    path = film(tmp_path / "a.mov", codec, frames=5, aspect=aspect)
    path = turned(path) if turns else path
    even = tuple(side // 2 * 2 for side in size)
    with path.open("rb") as source, (tmp_path / "b.mp4").open("w+b") as target:
        video = read_video(source)
        convert_video(source, target.name, 1 << 30, lambda _: None)
        assert (video.width, video.height) == video.frame.size == read_poster(source, 720).size == size
        played = read_video(target)
    assert (played.width, played.height) in (size, even)


def test_a_place_is_read_in_every_form_of_its_standard():
    for written, *place in (
        ("+43.4674-011.8851+312.5/", 43.4674, -11.8851, 312), ("+43.4674-011.8851/", 43.4674, -11.8851, 0),
        ("+43.4674-011.8851+312.5CRSWGS_84/", 43.4674, -11.8851, 312), ("-43-011/", -43.0, -11.0, 0),
        ("+27.5916+086.5640+8850CRSWGS_84/", 27.5916, 86.564, 8850), ("+7.5-12.25+010/", 7.5, -12.25, 10),
        ("+47.5383-2.8919+000.000/", 47.5383, -2.8919, 0), ("+4328.5-1153.25/", 43.475, -11.8875, 0),
        ("+4328.04+01153.10/", 43.467333, 11.885, 0), ("+432802.4+0115306.0-12/", 43.467333, 11.885, -12),
        ("+432830-0115315/", 43.475, -11.8875, 0), ("-432830.0+115315.0-5.2/", -43.475, 11.8875, -5),
        ("+43.46740000000000000+011.88510000000000000/", 43.4674, 11.8851, 0),
    ):  # fmt: skip
        metadata = read_tags({"location": written})
        assert [metadata.lat, metadata.lng, metadata.altitude] == place, written
    none = (
        "+91.0+011.0/",
        "+91-002/",
        "+47-181/",
        "+1234567-002/",
        "43.4 11.8",
        "",
        "+00.0000+000.0000/",
        "nan",
        "+43",
    )
    for written in (*none, "x" * 10_000):
        assert read_tags({"location": written}).lat is None, written[:20]


def test_an_mp4_has_utc_and_an_avi_wall_time():
    metadata = read_tags({"creation_time": "2021-09-27T13:12:52.000000Z"})
    assert metadata.taken_utc == datetime(2021, 9, 27, 13, 12, 52, tzinfo=UTC)
    metadata = read_tags({"creation_time": "2021-03-26 21:19:07"})
    assert (metadata.taken_local, metadata.taken_utc) == (datetime.fromisoformat("2021-03-26T21:19:07"), None)
    for never_set in ("1904-01-01T00:00:00.000000Z", "1970-01-01T00:00:00Z", "0000-00-00T00:00:00Z"):
        assert read_tags({"creation_time": never_set}) == Metadata(), never_set


def test_a_cut_video_and_a_missing_extra_are_reasons(tmp_path, monkeypatch):
    path = video(tmp_path / "a.avi", codec="mjpeg")
    with pytest.raises(DecodeError):
        read_video(BytesIO(path.read_bytes()[:200]))
    monkeypatch.setitem(sys.modules, "av", None)
    with path.open("rb") as source, pytest.raises(MissingExtraError, match=r"photosvc\[video\]"):
        read_video(source)


def test_a_tag_that_is_not_utf_8_is_read_as_latin_1(tmp_path):
    path = video(tmp_path / "a.avi", codec="mjpeg", tags={"title": "H_fen"})
    path.write_bytes(path.read_bytes().replace(b"H_fen", "Häfen".encode("latin-1")))
    with path.open("rb") as source:
        assert read_video(source).metadata.title == "Häfen"


def test_a_mistake_of_ours_is_no_damage_of_the_video_and_no_missing_frame(tmp_path, monkeypatch):
    readers = {
        "index": read_video,
        "poster": lambda source: read_poster(source, 100),
        "extraction": lambda source: extract(Path(source.name)),
        "conversion": lambda source: convert_video(source, f"{source.name}.mp4", 1 << 20, print),
        "motion photo": lambda source: embedded_duration(BytesIO(photo := google_photo(source.read())), len(photo)),
    }
    path = video(tmp_path / "a.mp4", codec="libx264")
    with monkeypatch.context() as patch:
        patch.setattr(av, "open", partial(av.open, no_such_argument=1))
        for name, read in readers.items():
            with path.open("rb") as source, pytest.raises(TypeError, match="no_such_argument"):
                read(source)
                pytest.fail(name)

    def mistaken(frame, aspect, longest):
        raise AttributeError

    monkeypatch.setattr("photosvc.media.video.picture_of_frame", mistaken)
    for name in ("index", "poster"):
        with path.open("rb") as source, pytest.raises(AttributeError):
            readers[name](source)


@examples(200)
@given(st.dictionaries(st.sampled_from(["creation_time", "location", "title", "date", "make"]), st.text(max_size=50)))
def test_any_tags_get_an_answer(tags):
    assert isinstance(read_tags(tags), Metadata)


def test_a_fragment_of_an_avi_has_the_duration_of_its_header(tmp_path):
    data, path = film(tmp_path / "a.avi", "mpeg4", frames=120).read_bytes(), tmp_path / "b.avi"
    start = data.index(b"movi")
    for share in (1.0, 0.6, 0.1):
        path.write_bytes(data[: start + round((len(data) - start) * share)])
        assert extract(path).duration_ns == 5 * 10**9, share
