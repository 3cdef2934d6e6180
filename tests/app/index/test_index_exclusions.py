"""Folders and files that people leave out of the index by `.nomedia` and `.ppignore`, and take in again."""

import pytest
from sqlalchemy import select

from photosvc.models import File, Photo
from tests.helpers.library import call_svc, counts, reasons
from tests.helpers.pictures import jpeg


@pytest.fixture
def titled(library):
    """A library of three pictures, each with a title that a person entered."""
    for number, name in enumerate(("a.jpg", "secret/b.jpg", "secret/deep/c.jpg")):
        library.put(name, jpeg(80 + number, 48))
    library.index()
    for record in library.find():
        library.call("PUT", f"/photos/{record['UID']}", json={"Title": f"Title of {record['FileName']}"})
    return library


def shown(library):
    return {record["FileName"]: (record["UID"], record["Title"]) for record in library.find()}


def test_what_is_left_out_waits_as_missing_and_returns_with_what_people_entered(titled):
    before = shown(titled)
    added = titled.originals / "secret/new.JPG"
    for folder, rule, content, left in (
        ("", "secret/.nomedia", "", {"a.jpg"}),
        ("secret", "secret/.nomedia", "", {"a.jpg"}),
        ("", "secret/deep/.ppignore", "*", {"a.jpg", "secret/b.jpg", "secret/new.JPG"}),
        ("", ".ppignore", "B.*\n", {"a.jpg", "secret/deep/c.jpg", "secret/new.JPG"}),
        ("secret", ".ppignore", "B.*\n", {"a.jpg", "secret/deep/c.jpg", "secret/new.JPG"}),
        ("secret", ".nomedia", "", {"a.jpg"}),
        ("", ".nomedia", "", set()),
        ("", ".ppignore", "*", set()),
    ):
        path = titled.originals / rule
        path.write_text(content)
        added.write_bytes(jpeg(99, 48))
        run = titled.index(subfolder=folder)
        assert set(shown(titled)) == left, (folder, rule)
        assert run.summary.kept == 0
        assert counts(titled.index(subfolder=folder))[3:] == (0, 0, 0), (folder, rule)
        assert call_svc("purge", "--hard", "--yes", instance=titled.instance).returncode == 0
        path.unlink()
        added.unlink()
        titled.index(subfolder=folder)
        assert shown(titled) == before, (folder, rule)


def test_a_copy_of_a_picture_that_is_left_out_takes_its_place(titled):
    uid, title = shown(titled)["secret/b.jpg"]
    (titled.originals / "secret/.nomedia").touch()
    titled.put("copy.jpg", (titled.originals / "secret/b.jpg").read_bytes())
    titled.index()
    assert shown(titled)["copy.jpg"] == (uid, title)
    assert set(shown(titled)) == {"a.jpg", "copy.jpg"}


def test_a_ppignore_that_is_no_list_of_patterns_changes_nothing_of_its_folder(titled):
    (titled.originals / "secret/.ppignore").write_bytes(b"de\0ep")
    titled.put("secret/new.jpg", jpeg(99, 48))
    before = shown(titled)
    sentence = "its .ppignore is no text, or has more than 64 KiB or 1000 lines: nothing new of the folder is shown"
    assert reasons(titled.index().failed) == [("secret", sentence)]
    assert shown(titled) == before
    (titled.originals / "secret/.ppignore").write_text("deep")
    titled.index()
    assert set(shown(titled)) == {"a.jpg", "secret/b.jpg", "secret/new.jpg"}
    with titled.session() as session:
        titles = session.execute(select(File.missing, Photo.title).join(Photo).where(File.name.like("%c.jpg"))).all()
    assert titles == [(True, "Title of secret/deep/c.jpg")]
