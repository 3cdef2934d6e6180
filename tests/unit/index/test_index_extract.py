import hashlib
import os
from pathlib import Path

import pytest
from PIL import Image

from photosvc.core.problems import UnreadableFileError
from photosvc.index import extract as module
from photosvc.index.extract import FileChangedError, extract
from photosvc.media.errors import UnsupportedFileError
from tests.helpers.library import CAMERA_ORIGINALS
from tests.helpers.pictures import encoded, exif, jpeg, png_bomb, quarters, video, xmp


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


def test_what_is_no_media_file_is_refused_with_the_reason(tmp_path):
    for name, data, reason in (
        ("a.jpg", b"", "the file is empty"),
        ("a.jpg", b"just a text", "its content is not a picture"),
        ("a.mp4", b"just a text", "its content is not a video"),
        ("a.exe", jpeg(), "not a picture or video by its extension"),
    ):
        with pytest.raises(UnsupportedFileError) as caught:
            extract(written(tmp_path / name, data))
        assert caught.value.message == reason
    (tmp_path / "folder.jpg").mkdir()
    os.mkfifo(tmp_path / "pipe.jpg")
    (tmp_path / "link.jpg").symlink_to("a.mp4")
    for name, error, reason in (
        ("folder.jpg", UnreadableFileError, "is a directory"),
        ("pipe.jpg", UnsupportedFileError, "not a regular file"),
        ("link.jpg", UnreadableFileError, "too many levels of symbolic links"),
        ("gone.jpg", FileChangedError, "the file or folder vanished"),
    ):
        with pytest.raises(error) as caught:
            extract(tmp_path / name)
        assert reason in str(caught.value.problem.sentence if error is UnreadableFileError else caught.value), name


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


@pytest.mark.skipif(not CAMERA_ORIGINALS.is_dir(), reason="the folder of camera originals is absent")
def test_eight_orientations_of_one_picture_are_one_upright_picture():
    found = [extract(CAMERA_ORIGINALS / f"orientation/Landscape_{number}.jpg") for number in range(1, 9)]
    assert [one.orientation for one in found] == list(range(1, 9))
    assert {(one.width, one.height) for one in found} == {(1800, 1200)}
    assert {one.diff for one in found} == {found[0].diff}


def test_the_content_decides_what_a_file_is(tmp_path):
    for kind, name, expected in (
        ("PNG", "a.png", ("png", "image", "png")), ("WEBP", "a.webp", ("webp", "image", "webp")),
        ("TIFF", "a.tif", ("tiff", "image", "tiff")), ("AVIF", "a.avif", ("avif", "image", "avif")),
        ("PNG", os.fsdecode(b"caf\xe9.jpg"), ("png", "image", "png")),
    ):  # fmt: skip
        found = extract(written(tmp_path / name, encoded(quarters(), kind)))
        assert (found.file_type, found.media_type, found.codec) == expected, name
        assert (found.width, found.height, found.problem) == (64, 48, None), name
    data = encoded(quarters(), "GIF", save_all=True, append_images=[quarters().rotate(180)])
    found = extract(written(tmp_path / "a.gif", data))
    assert (found.media_type, found.frames) == ("animated", 2)
    found = extract(video(tmp_path / "a.mp4", codec="libx264"))
    assert (found.file_type, found.media_type, found.codec, found.problem) == ("mp4", "video", "avc1", None)
    assert (found.width, found.height, found.fps, found.duration_ns, found.frames) == (64, 48, 24.0, 500_000_000, 12)
    assert len(found.colors) == 9
    found = extract(written(tmp_path / "a.xmp", xmp(attributes='xmp:Rating="4"')))
    assert (found.file_type, found.media_type, found.metadata.rating) == ("xmp", "sidecar", 4)
    assert extract(written(tmp_path / "a.json", b"{")).media_type == "sidecar"


def test_a_bomb_is_recorded_with_its_reason_and_not_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(Image.Image, "load", lambda *_: pytest.fail("it was decoded"))
    found = extract(written(tmp_path / "a.png", png_bomb()))
    assert found.problem.sentence == "the picture has 144 megapixels and unpacks to 1023 times its size"
    assert (found.width, found.height, found.colors, found.main_color) == (12_000, 12_000, "", -1)
