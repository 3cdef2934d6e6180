import hashlib
import os
import stat
from datetime import datetime
from pathlib import Path
from time import process_time

import pytest

from photosvc.core.problems import Problem, Reason, UnreadableFileError
from photosvc.index import extract as module
from photosvc.index.extract import FileChangedError, extract
from photosvc.media.errors import UnsupportedFileError
from tests.helpers.pictures import encoded, exif, jpeg, png_bomb, quarters, video, xmp

PHOTOS = Path(os.environ.get("TEST_PHOTOS") or Path(__file__).resolve().parents[4] / "shared/photos")
needs_photos = pytest.mark.skipif(not PHOTOS.is_dir(), reason="the folder of camera originals is absent")


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_all_of_a_jpeg_is_extracted(tmp_path):
    data = jpeg(640, 480, exif=exif({0x010F: "Canon", 0x0110: "Canon EOS R", 0x0112: 6}))
    path = written(tmp_path / "a.jpg", data)
    found = extract(path)
    assert (found.hash, found.size, found.mtime_ns) == (
        hashlib.sha1(data).hexdigest(),
        len(data),
        path.stat().st_mtime_ns,
    )
    assert (found.file_type, found.media_type, found.mime, found.codec) == ("jpg", "image", "image/jpeg", "jpeg")
    assert (found.width, found.height, found.orientation, found.problem) == (480, 640, 6, None)
    # Red and green above, blue and white below, turned clockwise.
    assert (found.colors[0], found.colors[2], found.colors[6], found.colors[8]) == ("6", "E", "4", "9")
    assert found.metadata.camera_model == "EOS R"


@pytest.mark.parametrize(
    ("kind", "name", "file_type", "media_type", "codec"),
    [
        ("PNG", "a.jpg", "png", "image", "png"), ("WEBP", "a.webp", "webp", "image", "webp"),
        ("TIFF", "a.tif", "tiff", "image", "tiff"), ("AVIF", "a.avif", "avif", "image", "avif"),
    ],
)  # fmt: skip
def test_the_content_decides_what_a_picture_is(tmp_path, kind, name, file_type, media_type, codec):
    found = extract(written(tmp_path / name, encoded(quarters(), kind)))
    assert (found.file_type, found.media_type, found.codec, found.problem) == (file_type, media_type, codec, None)
    assert (found.width, found.height) == (64, 48)


def test_an_animation_is_animated(tmp_path):
    data = encoded(quarters(), "GIF", save_all=True, append_images=[quarters().rotate(180)])
    found = extract(written(tmp_path / "a.gif", data))
    assert (found.media_type, found.frames) == ("animated", 2)


def test_all_of_a_video_is_extracted(tmp_path):
    found = extract(video(tmp_path / "a.mp4", codec="libx264"))
    assert (found.file_type, found.media_type, found.codec, found.problem) == ("mp4", "video", "avc1", None)
    assert (found.width, found.height, found.fps, found.duration_ns, found.frames) == (64, 48, 24.0, 500_000_000, 12)
    assert len(found.colors) == 9


def test_a_sidecar_tells_its_metadata(tmp_path):
    found = extract(written(tmp_path / "a.xmp", xmp(attributes='xmp:Rating="4"')))
    assert (found.file_type, found.media_type, found.metadata.rating) == ("xmp", "sidecar", 4)
    assert extract(written(tmp_path / "a.json", b"{")).media_type == "sidecar"


@pytest.mark.parametrize(
    ("name", "data", "reason"),
    [
        ("a.jpg", b"", "the file is empty"),
        ("a.jpg", b"just a text", "its content is not a picture"),
        ("a.mp4", b"just a text", "its content is not a video"),
        ("a.exe", jpeg(), "not a picture or video by its extension"),
    ],
)
def test_what_is_no_media_file_is_refused_with_the_reason(tmp_path, name, data, reason):
    with pytest.raises(UnsupportedFileError) as caught:
        extract(written(tmp_path / name, data))
    assert caught.value.message == reason


def test_a_folder_and_a_pipe_named_as_pictures_are_refused_at_once(tmp_path):
    (tmp_path / "folder.jpg").mkdir()
    os.mkfifo(tmp_path / "pipe.jpg")
    with pytest.raises(UnreadableFileError, match="is a directory"):
        extract(tmp_path / "folder.jpg")
    with pytest.raises(UnsupportedFileError, match="not a regular file"):
        extract(tmp_path / "pipe.jpg")


def test_a_link_that_took_the_place_of_a_file_is_not_followed(tmp_path):
    (tmp_path / "outside.jpg").write_bytes(jpeg())
    (tmp_path / "a.jpg").symlink_to("outside.jpg")
    with pytest.raises(UnreadableFileError) as error:
        extract(tmp_path / "a.jpg")
    assert error.value.problem.sentence == "the file cannot be read: too many levels of symbolic links"


def test_a_file_that_is_gone_has_vanished(tmp_path):
    with pytest.raises(FileChangedError, match="the file vanished"):
        extract(tmp_path / "a.jpg")


def test_an_unreadable_file_is_a_reason_without_its_path(tmp_path, monkeypatch):
    path = written(tmp_path / "a.jpg", jpeg())

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    if os.geteuid() == 0:  # root reads everything
        monkeypatch.setattr(module, "_opened", refuse)
    else:
        path.chmod(0)
    with pytest.raises(UnreadableFileError) as caught:
        extract(path)
    assert caught.value.message == "the file cannot be read: permission denied"


@pytest.mark.parametrize("change", [lambda path: path.write_bytes(jpeg(80, 60)), lambda path: path.unlink()])
def test_a_file_that_changes_while_it_is_read_is_reported(tmp_path, monkeypatch, change):
    path = written(tmp_path / "a.jpg", jpeg())
    read = module.read_picture

    def read_and_change(source, row, **options):
        found = read(source, row, **options)
        change(path)
        return found

    monkeypatch.setattr(module, "read_picture", read_and_change)
    with pytest.raises(FileChangedError):
        extract(path)


def test_undecodable_names_are_ordinary(tmp_path):
    path = tmp_path / os.fsdecode(b"caf\xe9.jpg")
    assert extract(written(path, jpeg())).problem is None


def test_reading_leaves_the_original_as_it_was(tmp_path):
    data = jpeg(exif=exif({0x010F: "Canon"}))
    path = written(tmp_path / "a.jpg", data)
    path.chmod(stat.S_IRUSR)
    before = path.stat()
    extract(path)
    after = path.stat()
    assert path.read_bytes() == data
    assert (after.st_mtime_ns, after.st_ctime_ns, after.st_mode) == (
        before.st_mtime_ns,
        before.st_ctime_ns,
        before.st_mode,
    )


def test_a_bomb_is_recorded_with_its_reason(tmp_path):
    start = process_time()
    found = extract(written(tmp_path / "a.png", png_bomb()))
    assert found.problem.sentence == "the picture has 144 megapixels and unpacks to 1023 times its size"
    assert (found.width, found.height, found.colors, found.main_color) == (12_000, 12_000, "", -1)
    assert process_time() - start < 1


@needs_photos
def test_every_original_is_extracted_or_refused_with_a_reason():
    with pytest.raises(UnsupportedFileError):
        extract(PHOTOS / "MANIFEST.tsv")
    for path in sorted(path for path in PHOTOS.rglob("*") if path.is_file() and path.suffix != ".tsv"):
        found = extract(path)
        assert found.problem == (Problem(Reason.UNDECODABLE_RAW) if path.suffix == ".GPR" else None), path
        assert found.media_type == "sidecar" or min(found.width, found.height) > 0, path


@needs_photos
def test_an_iphone_heic_is_read_as_exiftool_does():
    found = extract(PHOTOS / "Apple/iPhone 13 Pro/IMG_8563.HEIC")
    assert found.hash == "9d5f407321aee45e0815e71188f669735930ed5f"
    assert (found.file_type, found.codec, found.width, found.height, found.orientation) == (
        "heic",
        "heic",
        3024,
        4032,
        6,
    )
    metadata = found.metadata
    assert (metadata.camera_make, metadata.camera_model) == ("Apple", "iPhone 13 Pro")
    assert metadata.lens_model == "iPhone 13 Pro back triple camera 1.57mm f/1.8"
    assert (metadata.iso, metadata.f_number, metadata.exposure, metadata.focal_length, metadata.utc_offset) == (
        80,
        1.8,
        "1/120",
        14,
        -360,
    )
    assert metadata.taken_local == datetime.fromisoformat("2021-09-27T07:12:52.138")
    assert found.color_profile == "Display P3"


@needs_photos
def test_eight_orientations_of_one_picture_are_one_upright_picture():
    found = [extract(PHOTOS / f"orientation/Landscape_{number}.jpg") for number in range(1, 9)]
    assert [one.orientation for one in found] == list(range(1, 9))
    assert {(one.width, one.height) for one in found} == {(1800, 1200)}
    assert {one.diff for one in found} == {found[0].diff}


@needs_photos
@pytest.mark.parametrize(
    ("name", "lat", "lng"),
    [
        ("gps/DSCN0010.jpg", 43.467448, 11.885127),
        ("gps/DSCN0040.jpg", 43.466012, 11.879112),
        ("misc/datetimeoriginal-gps.jpg", 39.0, -108.0),
        ("misc/gps-datetime.jpg", 37.7749, -122.4194),
        ("misc/empty_gps.jpg", None, None),
    ],
)
def test_places_of_originals_are_read_as_exiftool_does(name, lat, lng):
    metadata = extract(PHOTOS / name).metadata
    assert (metadata.lat, metadata.lng) == (lat, lng)


@needs_photos
@pytest.mark.parametrize(
    ("name", "camera", "lens", "serial"),
    [
        ("Canon/EOS5D-MIII/_K6A7944.JPG", "EOS 5D Mark III", "EF28-135mm f/3.5-5.6 IS USM", "302022000566"),
        ("Canon/Rebel XT 350D/_MG_9378.JPG", "EOS DIGITAL REBEL XT", "", "1320708797"),
        ("Nikon/D3100/DSC_0001.JPG", "D3100", "18-55mm f/3.5-5.6", "3685428"),
        ("Sony/SLT-A55/_DSC3755.JPG", "SLT-A55V", "DT 18-250mm F3.5-6.3", ""),
        ("misc/denali.webp", "EOS 7D", "EF28-80mm f/3.5-5.6 USM", "1070700342"),
        ("GoPro/Hero7Black/GOPR8513.GPR", "HERO7 Black", "", "C3281327008278"),
    ],
)
def test_cameras_and_lenses_of_originals_are_read(name, camera, lens, serial):
    metadata = extract(PHOTOS / name).metadata
    assert (metadata.camera_model, metadata.lens_model, metadata.camera_serial) == (camera, lens, serial)


@needs_photos
def test_an_avi_of_an_old_camera_is_read():
    found = extract(PHOTOS / "Canon/PowerShot S40/MVI_0121.AVI")
    assert (found.file_type, found.codec, found.width, found.height, found.frames) == ("avi", "mjpeg", 160, 120, 142)
    assert found.fps == 15.0
    assert found.duration_ns // 10**6 == 9466
    assert found.metadata.taken_local == datetime.fromisoformat("2021-03-26T21:19:07")
