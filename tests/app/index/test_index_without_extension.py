"""Files without an extension, as recovery programs leave them: their content decides."""

import pytest
from sqlalchemy import select

from photosvc.models import File
from tests.helpers.library import open_library, reasons
from tests.helpers.pictures import encoded, jpeg, quarters, raf, video


def files(library):
    with library.session() as session:
        return {row.name: row for row in session.execute(select(File.name, File.file_type, File.width, File.height))}


def test_pictures_without_an_extension_are_indexed_by_their_content(tmp_path):
    library = open_library(tmp_path)
    library.put("f0001", jpeg(61, 48))
    library.put("recovered/f0002", encoded(quarters(62, 48), "WEBP"))
    library.put("f0003", video(tmp_path / "a.mp4").read_bytes())
    library.put("f0004", raf(jpeg(640, 480)))
    library.put("README", b"Pictures of a card that was formatted.\n")
    first = library.index()
    assert first.indexed == 4
    assert reasons(first.skipped) == [("README", "its content is not a picture or video")]
    types = {name: found.file_type for name, found in files(library).items()}
    assert types == {"f0001": "jpg", "recovered/f0002": "webp", "f0003": "mp4", "f0004": "raw"}
    second = library.index()
    assert (second.indexed, second.updated, second.unchanged) == (0, 0, 4)
    assert reasons(second.skipped) == [("README", "its content is not a picture or video")]


def test_a_note_in_the_folder_of_a_disk_that_is_not_mounted_is_no_sign_of_pictures(tmp_path):
    library = open_library(tmp_path)
    picture = library.put("a.jpg", jpeg())
    assert library.index().indexed == 1
    picture.unlink()
    library.put("NOT-MOUNTED", b"The disk is not mounted.\n")
    assert library.index().missing == 0
    assert library.index().missing == 0
    assert library.names() == ["a.jpg"]


def test_dv_and_panoramas_of_action_cameras_are_indexed(tmp_path):
    library = open_library(tmp_path)
    library.put("pano.insp", jpeg(64, 32))
    library.put("tape.dv", video(tmp_path / "a.dv", codec="dvvideo").read_bytes())
    summary = library.index()
    assert (summary.indexed, summary.failed) == (2, [])
    found = {name: (file.file_type, file.width, file.height) for name, file in files(library).items()}
    assert found == {"pano.insp": ("jpg", 64, 32), "tape.dv": ("dv", 768, 576)}
