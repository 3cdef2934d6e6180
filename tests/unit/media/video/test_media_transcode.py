"""Videos converted to H.264 and AAC in MP4, read back."""

from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import av
import pytest
from PIL import Image

from photosvc.core.problems import Reason
from photosvc.media.errors import DecodeError, StorageError
from photosvc.media.mp4 import read_tracks
from photosvc.media.transcode import VideoTooLargeError, convert_video
from photosvc.media.video import read_poster
from tests.helpers.library import CAMERA_ORIGINALS
from tests.helpers.pictures import CORNERS, quarters
from tests.unit.media.video.videos import SECOND, film, told, turned


@dataclass
class Shown:
    """A converted video as a player shows it."""

    size: tuple[int, int]
    times: list[float]
    corners: list[tuple[int, int, int]]
    """Upper left, upper right, lower left and lower right of the first frame."""
    sound: list[tuple[str, int]]
    seconds: float


def converted(path, target=None, max_bytes=1 << 30, progress=lambda share: None):
    target = target or path.with_name("converted.mp4")
    with path.open("rb") as source:
        convert_video(source, str(target), max_bytes, progress)
    return target


def shown(path):
    with path.open("rb") as file:
        assert read_tracks(file, 0, path.stat().st_size).play_everywhere
    head = path.read_bytes()
    assert head.index(b"moov") < head.index(b"mdat")
    with av.open(str(path)) as container:
        frames = list(container.decode(video=0))
        picture = frames[0].to_image().rotate(frames[0].rotation, expand=True)
        width, height = picture.size
        points = [(x, y) for y in (height // 4, height * 3 // 4) for x in (width // 4, width * 3 // 4)]
        return Shown(
            picture.size,
            [round(float(frame.time), 3) for frame in frames],
            [picture.getpixel(point) for point in points],
            [(track.codec_context.name, track.rate) for track in container.streams.audio],
            round(container.duration / 1e6, 1),
        )


def alike(found, wanted):
    return all(
        abs(a - b) <= 12 for one, other in zip(found, wanted, strict=True) for a, b in zip(one, other, strict=True)
    )


@pytest.mark.parametrize(
    ("name", "codec", "options"),
    [
        ("a.mov", "libx264", {"sounds": ["aac"]}), ("a.mov", "libx264", {"sounds": ["pcm_s16le"]}),
        ("a.mts", "libx264", {"sounds": ["ac3"]}), ("a.mts", "libx264", {"sounds": ["aac"]}),
        ("a.mp4", "libx265", {"sounds": ["aac"]}),
        ("a.mp4", "libx265", {"pixels": "yuv420p10le", "sounds": ["aac"]}),
        ("a.avi", "mjpeg", {"pixels": "yuvj420p", "sounds": ["pcm_u8"], "rate": 11_024}),
        ("a.avi", "libx264", {"sounds": ["mp3"]}), ("a.mkv", "ffv1", {"pixels": "yuv444p", "sounds": ["libopus"]}),
        ("a.webm", "libvpx-vp9", {"sounds": ["libopus"]}),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(map(str, value.values())),
)  # fmt: skip
def test_every_usual_codec_and_container_becomes_a_video_that_browsers_play(tmp_path, name, codec, options):
    video = shown(converted(film(tmp_path / name, codec, **options)))
    assert (video.size, len(video.times)) == ((64, 48), SECOND)
    assert 1.0 <= video.seconds <= 1.1
    assert alike(video.corners, CORNERS)
    assert [name for name, _ in video.sound] == ["aac"]
    assert [rate for _, rate in video.sound] == [48_000]
    assert video.times == sorted(video.times)
    steps = {round(b - a, 2) for a, b in zip(video.times, video.times[1:], strict=False)}
    assert steps <= {0.04, 0.05, 0.08}


def units(packet):
    """The units of a packet of H.264, each behind its length."""
    while packet:
        end = 4 + int.from_bytes(packet[:4], "big")
        yield packet[4:end]
        packet = packet[end:]


def test_plain_h264_is_copied_bit_by_bit_without_supplemental_information(tmp_path):
    path = film(tmp_path / "a.mov", sounds=["aac"])
    packets = {}
    for one in (path, converted(path)):
        with av.open(str(one)) as container:
            packets[one.name] = [list(units(bytes(packet))) for packet in container.demux(video=0) if packet.size]
    assert b"x264" in packets["a.mov"][0][0]  # the settings of the encoder
    kept = [[unit for unit in packet if unit[0] & 31 != 6] for packet in packets["a.mov"]]
    assert kept == packets["converted.mp4"]


@pytest.mark.parametrize("name", ["a.mp4", "a.mov", "a.mkv", "a.mts"])
def test_no_metadata_of_the_source_is_in_the_bytes_of_the_result(tmp_path, name):
    path = told(film(tmp_path / name, frames=12), "Maplecam 45.7640")
    assert path.read_bytes().count(b"Maplecam 45.7640") >= 12
    video = converted(path)
    assert b"Maplecam" not in video.read_bytes()
    first, *others = shown(video).times
    assert [round(time - first, 2) for time in others] == [round(number / 24, 2) for number in range(1, 12)]


@pytest.mark.parametrize(("name", "codec"), [("a.mov", "libx264"), ("a.mov", "mpeg4"), ("a.mp4", "libx265")])
def test_a_video_that_lies_on_its_side_stands_upright_whether_copied_or_encoded(tmp_path, name, codec):
    video = shown(converted(turned(film(tmp_path / name, codec))))
    assert video.size == (48, 64)
    assert alike(video.corners, [CORNERS[2], CORNERS[0], CORNERS[3], CORNERS[1]])


def test_a_variable_frame_rate_is_kept(tmp_path):
    path = film(tmp_path / "a.mkv", "mpeg4", frames=5, milliseconds=lambda number: number * number * 100)
    assert shown(converted(path)).times == [0.0, 0.1, 0.4, 0.9, 1.6]


def test_more_than_sixty_frames_a_second_are_thinned_out(tmp_path):
    path = film(tmp_path / "a.mkv", "mpeg4", frames=48, milliseconds=lambda number: number * 8)
    assert shown(converted(path)).times == [round(number * 0.016, 3) for number in range(24)]


def test_odd_sides_become_even_and_large_ones_smaller(tmp_path):
    odd = film(tmp_path / "odd.mkv", "ffv1", pixels="yuv444p", size=(65, 49))
    large = film(tmp_path / "large.mkv", "mjpeg", pixels="yuvj420p", size=(2560, 1440), frames=1)
    assert shown(converted(odd)).size == (64, 48)
    assert shown(converted(large)).size == (1920, 1080)


def test_of_several_sound_tracks_the_first_is_taken_and_none_is_none(tmp_path):
    assert shown(converted(film(tmp_path / "a.mov", sounds=["pcm_s16le", "aac"]))).sound == [("aac", 48_000)]
    assert shown(converted(film(tmp_path / "b.mov"))).sound == []


def test_a_cut_video_is_converted_as_far_as_it_goes(tmp_path):
    path = film(tmp_path / "a.mkv", "mpeg4", draw=lambda number: quarters().rotate(number * 7))
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    assert 8 <= len(shown(converted(path)).times) <= 20


def test_a_file_without_a_video_has_a_reason(tmp_path):
    mute = film(tmp_path / "a.mp4", seen=False, sounds=["aac"]).read_bytes()
    cut = film(tmp_path / "a.mov").read_bytes()[:800]
    for data, reason in (
        (mute, Reason.NO_VIDEO),
        (b"", Reason.READ_ERROR),
        (b"\0\0\0\x18ftypqt  " + bytes(500), Reason.UNDECODABLE),
        (cut, Reason.UNDECODABLE),
    ):
        (tmp_path / "b.mov").write_bytes(data)
        with pytest.raises(DecodeError) as caught:
            converted(tmp_path / "b.mov")
        assert caught.value.problem.reason is reason, data[:40]


@pytest.mark.parametrize("gap", [10**7, 10**12])
def test_time_stamps_of_months_and_centuries_end_without_filling_the_gap(tmp_path, gap):
    path = film(tmp_path / "a.mkv", pixels="yuv444p", frames=4, milliseconds=lambda number: number and gap + number)
    target = path.with_name("converted.mp4")
    with suppress(DecodeError):
        converted(path, target)
    assert target.stat().st_size < 100_000


def test_a_result_that_grows_too_large_and_a_full_disk_end_the_conversion(tmp_path):
    path = film(tmp_path / "a.mov")
    with pytest.raises(VideoTooLargeError) as caught:
        converted(path, max_bytes=100)
    assert caught.value.problem.reason is Reason.CONVERTED_TOO_LARGE
    with pytest.raises(StorageError):
        converted(path, Path("/dev/full"))


def test_progress_grows_to_the_end(tmp_path):
    shares = []
    converted(film(tmp_path / "a.mp4", "mpeg4"), progress=shares.append)
    assert shares == sorted(set(shares))
    assert 0.9 < shares[-1] <= 1
    assert len(shares) <= 100


def test_the_video_of_an_old_camera_is_converted(tmp_path):
    path = CAMERA_ORIGINALS / "Canon/PowerShot S40/MVI_0121.AVI"
    if not path.exists():
        pytest.skip("the photos of cameras are not there")
    video = shown(converted(path, tmp_path / "b.mp4"))
    assert (video.size, len(video.times), video.sound, video.seconds) == ((160, 120), 142, [("aac", 48_000)], 9.5)


def test_the_poster_of_a_video_that_fades_in_shows_its_first_clear_frame(tmp_path):
    def fade(number):
        return Image.blend(Image.new("RGB", (64, 48)), quarters(), min(1.0, number / 90))

    for distance in ("10", "1000"):  # of key frames
        with film(tmp_path / "a.mp4", frames=120, draw=fade, g=distance).open("rb") as source:
            red, green, blue = read_poster(source, 64).getpixel((16, 12))
        assert (70 <= red <= 200, green < 40, blue < 40) == (True, True, True), distance


def test_the_poster_of_a_black_video_is_black_and_of_a_turned_one_upright(tmp_path):
    with film(tmp_path / "a.mp4", frames=5, draw=lambda _: Image.new("RGB", (64, 48))).open("rb") as source:
        assert max(read_poster(source, 64).getpixel((16, 12))) < 5
    with turned(film(tmp_path / "b.mp4", frames=5)).open("rb") as source:
        poster = read_poster(source, 32)
    assert poster.size == (24, 32)
    assert poster.getpixel((18, 8))[0] > 200
