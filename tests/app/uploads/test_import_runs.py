"""Imports: files of a folder become originals, once each, whole, and under names by their time."""

import json
import os
from datetime import UTC, datetime
from unittest.mock import Mock

import pytest
from sqlalchemy import select

from photosvc.core.errors import ConflictError
from photosvc.core.problems import FileProblemError, Reason
from photosvc.index.requests import waiting
from photosvc.library.staging import Part
from photosvc.library.storage_errors import StorageFailedError, StorageFullError
from photosvc.models import Album, AlbumPhoto, Photo, UploadedFile
from photosvc.web.service import current_service
from tests.app.index.indexing_requests import index_at_once
from tests.app.uploads.import_folder import open_imports
from tests.app.uploads.upload_client import picture, sha1, unmounted
from tests.helpers.pictures import clouds, dng, encoded, xmp

ABOUT = xmp('<dc:title><rdf:Alt><rdf:li xml:lang="x-default">At the lake</rdf:li></rdf:Alt></dc:title>')


@pytest.fixture
def imports(tmp_path):
    with open_imports(tmp_path) as imports:
        yield imports


def named(data, ending=".jpg", taken="2024/05/20240501_120000"):
    return f"{taken}_{sha1(data)[:8].upper()}{ending}"


def test_files_that_belong_together_stay_together(imports, tmp_path):
    raw, shown, other = dng(tmp_path / "x.dng").read_bytes(), picture(3, "2023:01:02 03:04:05"), picture(4)
    imports.fill({"IMG_7.jpg": shown, "img_7.DNG": raw, "IMG_7.jpg.xmp": ABOUT, "other.xmp": ABOUT})
    imports.put("more/IMG_7.jpg", other)
    found = imports.import_all()
    base = found["img_7.DNG"][1].removesuffix(".dng")
    assert {name: found[name] for name in ("IMG_7.jpg", "IMG_7.jpg.xmp", "other.xmp", "more/IMG_7.jpg")} == {
        "IMG_7.jpg": ("imported", f"{base}.jpg"), "IMG_7.jpg.xmp": ("imported", f"{base}.jpg.xmp"),
        "other.xmp": ("skipped", "unrelated"), "more/IMG_7.jpg": ("imported", named(other)),
    }  # fmt: skip


def test_a_takeout_keeps_its_dates_albums_and_edited_copies(imports):
    first, edited, second = (encoded(clouds(seed, 32, 24), "JPEG") for seed in (50, 51, 52))
    about = {"title": "IMG_1.jpg", "photoTakenTime": {"timestamp": "1577793600"}}
    year = {"title": "Photos from 2019", "date": {"timestamp": "1577793600"}}
    for folder, album in (("Trip", {"title": "To the lake", "description": "By train", "date": {}}), ("2019", year)):
        imports.put(f"Takeout/{folder}/metadata.json", json.dumps(album).encode())
        imports.put(f"Takeout/{folder}/IMG_1.jpg", first)
        imports.put(f"Takeout/{folder}/IMG_1.jpg.json", json.dumps(about).encode())
    imports.put("Takeout/Trip/IMG_1-edited.jpg", edited)
    imports.put("Takeout/2019/IMG_2.jpg", second)
    found = imports.import_all()
    base = named(first, "", "2019/12/20191231_120000")
    assert {name: found[f"Takeout/Trip/{name}"] for name in ("metadata.json", "IMG_1-edited.jpg")} == {
        "metadata.json": ("imported", ""),
        "IMG_1-edited.jpg": ("imported", f"{base}-edited.jpg"),
    }
    assert found["Takeout/2019/metadata.json"] == ("skipped", "unrelated")
    assert {f"{base}{end}" for end in (".jpg", ".jpg.json", "-edited.jpg")} < imports.originals().keys()
    with imports.library.app.app_context():
        index_at_once(current_service())
    with imports.library.session() as session:
        photos = {photo.original_name: photo for photo in session.scalars(select(Photo))}
        assert sorted(photos) == ["IMG_1", "IMG_2"]
        assert [len(photos["IMG_1"].files), photos["IMG_1"].taken_at] == [2, datetime(2019, 12, 31, 12, tzinfo=UTC)]
        (album,) = session.scalars(select(Album))
        assert (album.title, album.description) == ("To the lake", "By train")
        assert list(session.scalars(select(AlbumPhoto.photo_id))) == [photos["IMG_1"].id]


def test_present_originals_are_named_and_not_stored_again(imports):
    data, new = picture(5), picture(6)
    imports.library.put("trip/a.jpg", data)
    imports.library.index()
    imports.fill({"a.jpg": data, "b.jpg": new, "c.jpg": new})
    assert imports.import_all() == {
        "a.jpg": ("duplicate", "trip/a.jpg"), "b.jpg": ("imported", named(new)), "c.jpg": ("duplicate", named(new)),
    }  # fmt: skip
    assert {outcome for outcome, _ in imports.import_all().values()} == {"duplicate"}
    assert len(imports.originals()) == 2


def test_a_moved_file_leaves_the_folder_when_its_original_is_there_and_empty_folders_go(imports):
    one, two = picture(7), picture(8)
    imports.library.put("trip/a.jpg", two)
    imports.library.index()
    imports.fill({"DCIM/100/1.jpg": one, "DCIM/100/1.jpg.xmp": ABOUT, "DCIM/101/2.jpg": two, "rest/3.jpg": b"none"})
    found = imports.import_all(moves=True)
    assert found["DCIM/101/2.jpg"] == ("duplicate", "trip/a.jpg")
    assert found["rest/3.jpg"] == ("skipped", "wrong_content")
    assert imports.left() == ["rest", "rest/3.jpg"]
    assert imports.originals() == {named(one): one, named(one, ".jpg.xmp"): ABOUT, "trip/a.jpg": two}


def test_nothing_is_imported_while_the_disk_of_the_originals_is_away(imports):
    imports.library.put("trip/a.jpg", picture(15))
    imports.library.index()
    for number in (15, 16):
        imports.put(f"{number}.jpg", picture(number))
    with unmounted(imports.library), pytest.raises(StorageFailedError):
        imports.import_all(moves=True)
    assert imports.left() == ["15.jpg", "16.jpg"]


def test_links_pipes_and_hidden_files_are_left_alone(imports, tmp_path):
    secret = tmp_path / "secret.jpg"
    secret.write_bytes(picture(14))
    (imports.folder / "link.jpg").symlink_to(secret)
    (imports.folder / "folder").symlink_to(tmp_path)
    os.mkfifo(imports.folder / "pipe.jpg")
    imports.put(".hidden.jpg", picture(15))
    assert imports.import_all(moves=True) == {
        "folder": ("skipped", "symbolic_link"),
        "link.jpg": ("skipped", "symbolic_link"),
        "pipe.jpg": ("skipped", "not_regular"),
    }
    assert imports.originals() == {}
    assert secret.exists()


def test_a_file_that_is_written_to_meanwhile_is_left_for_another_run(imports, monkeypatch):
    imports.put("a.jpg", picture(16))
    before = Part.write

    def grow(part, data):
        before(part, data)
        with (imports.folder / "a.jpg").open("ab") as file:
            file.write(b"more")

    monkeypatch.setattr(Part, "write", grow)
    assert imports.import_all(moves=True) == {"a.jpg": ("failed", "changed")}
    assert imports.left() == ["a.jpg"]
    assert imports.originals() == {}


def test_a_full_disk_ends_the_import_and_the_next_one_completes_it(imports, monkeypatch):
    files, place = {f"{number}.jpg": picture(20 + number) for number in range(3)}, Part.place

    def place_once(*arguments, **options):
        if any(imports.library.originals.rglob("*.jpg")):
            raise StorageFullError
        return place(*arguments, **options)

    imports.fill(files)
    with monkeypatch.context() as patch, pytest.raises(StorageFullError):
        patch.setattr(Part, "place", place_once)
        imports.import_all(moves=True)
    assert (len(imports.originals()), imports.left()) == (1, list(files))
    assert sorted(outcome for outcome, _ in imports.import_all(moves=True).values()) == [
        "duplicate",
        "imported",
        "imported",
    ]
    assert (imports.left(), sorted(imports.originals().values())) == ([], sorted(files.values()))


def test_files_are_copied_under_names_by_the_time_they_were_taken_or_their_last_change_or_folder(imports, tmp_path):
    one, two = picture(1), picture(2, "2023:12:24 18:00:00")
    undated, of_month = (encoded(clouds(seed, 32, 24), "JPEG") for seed in (1, 2))
    imports.fill({"DCIM/100/IMG_1.JPG": one, "b.jpg": two, "c.jpg": undated, "2005-08 Italy/d.jpg": of_month})
    with open(os.fsencode(imports.folder) + b"/\xff\n.jpg", "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(picture(30))
    names = {
        "DCIM/100/IMG_1.JPG": named(one),
        "b.jpg": named(two, taken="2023/12/20231224_180000"),
        "c.jpg": named(undated, taken="2020/09/20200913_122640"),
        "2005-08 Italy/d.jpg": f"2005/08/{sha1(of_month)[:8].upper()}.jpg",
    }
    left = imports.left()
    found = imports.import_all()
    assert {name: found[name] for name in names} == {name: ("imported", placed) for name, placed in names.items()}
    assert ("imported", named(picture(30))) in found.values()
    assert imports.originals()[names["DCIM/100/IMG_1.JPG"]] == one
    assert imports.left() == left
    assert (imports.library.originals / names["b.jpg"]).stat().st_mtime == 1_600_000_000
    with imports.library.session() as session:
        folders = [enqueue.folder for enqueue in waiting(session)]
    assert folders == ["2005/08", "2020/09", "2023/12", "2024/05"]
    imports.library.index()
    with imports.library.session() as session:
        assert {"IMG_1", "b", "c", "d"} < set(session.scalars(select(Photo.original_name)))


def test_a_file_whose_reader_crashes_is_stored_by_the_time_in_its_name_or_the_present(imports, monkeypatch):
    monkeypatch.setattr("photosvc.library.content.extract", Mock(side_effect=FileProblemError(Reason.CRASHED)))
    imports.put("IMG_20220102_030405.jpg", picture(70))
    imports.put("b.jpg", picture(71))
    assert [placed for _, placed in imports.import_all().values()] == [
        named(picture(70), taken="2022/01/20220102_030405"), named(picture(71), taken="2026/03/20260301_120000"),
    ]  # fmt: skip


def test_a_duplicate_is_not_removed_unless_another_original_has_its_bytes(imports):
    changed, own, gone, other = (picture(number) for number in (9, 10, 11, 13))
    a, b, d = (
        imports.library.put(f"trip/{name}.jpg", data) for name, data in zip("abd", (changed, own, other), strict=True)
    )
    imports.put("c.jpg", gone)
    assert imports.import_all() == {"c.jpg": ("imported", named(gone))}
    imports.library.index()
    (imports.library.originals / named(gone)).unlink()
    time = a.stat().st_mtime_ns
    a.write_bytes(changed[:-2] + b"XX")
    os.utime(a, ns=(time, time))
    d.write_bytes(picture(14))
    imports.fill({"a.jpg": changed, "d.jpg": other})
    os.link(b, imports.folder / "b.jpg")
    assert imports.import_all(moves=True) == {
        "a.jpg": ("duplicate", "trip/a.jpg"), "b.jpg": ("duplicate", "trip/b.jpg"),
        "c.jpg": ("imported", named(gone)), "d.jpg": ("imported", named(other)),
    }  # fmt: skip
    assert imports.left() == ["a.jpg", "b.jpg"]
    stored = {named(gone): gone, named(other): other, "trip/d.jpg": picture(14)}
    assert stored.items() <= imports.originals().items()


def test_many_files_come_in_portions_of_one_import_at_a_time_and_a_dry_run_writes_nothing(imports, monkeypatch):
    monkeypatch.setattr("photosvc.library.imports._MOST_FILES", 2)
    for number in range(5):
        imports.put(f"{number}.jpg", picture(100 + number))
    assert set(imports.import_all(dry_run=True, moves=True).values()) == {("imported", "")}
    assert (len(imports.left()), imports.originals()) == (5, {})
    portions = imports.run(moves=True).portions()
    seen = [next(portions)]
    with pytest.raises(ConflictError):
        imports.import_all()
    assert [count for count in (*seen, *portions) if count] == [2, 2, 1]
    assert imports.left() == []
    with imports.library.session() as session:
        rows = dict(session.execute(select(UploadedFile.hash, UploadedFile.name)).all())
    assert {sha1(data): name for name, data in imports.originals().items()} == rows


def test_files_that_were_written_just_now_are_waited_for(imports):
    imports.put("a.jpg", picture(17))
    path = imports.put("a.xmp", ABOUT)
    imports.library.clock.present = datetime.fromtimestamp(path.stat().st_ctime, UTC)
    portions = imports.run(settle=3600).portions()
    assert (next(portions), next(portions)) == (2, 0)
    portions.close()
    assert imports.originals() == {}
    assert [outcome for outcome, _ in imports.import_all().values()] == ["imported", "imported"]
