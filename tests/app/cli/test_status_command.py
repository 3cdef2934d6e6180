"""`svc status`: what the library has, when it was indexed, and what failed."""

import json

import pytest

from tests.helpers.library import call_svc
from tests.helpers.pictures import jpeg


@pytest.fixture
def status(library):
    """Runs `svc status` on a library with two pictures and two files that are none."""
    library.put("a/one.jpg", jpeg())
    library.put("two.jpg", jpeg(60, 40))
    library.put("a/broken.jpg", jpeg(90, 48)[:400])
    library.put("empty.jpg", b"")

    def run(*arguments):
        library.close()
        return call_svc("status", *arguments, instance=library.instance)

    return run


def test_before_the_first_run_counts_are_0_and_times_empty(status):
    record = json.loads(status("--json").stdout)
    assert (record["photos"], record["files"], record["failed"], record["failures"]) == ({}, 0, 0, [])
    assert (record["indexed_at"], record["scanned_at"], record["indexing"]) == (None, None, False)


def test_it_shows_counts_index_times_and_failures(status, library):
    library.index()
    record = json.loads(status("--json").stdout)
    assert record["photos"] == {"image": 2}
    assert (record["files"], record["missing"], record["failed"], record["accounts"]) == (3, 0, 2, 0)
    assert (record["indexed_at"], record["scanned_at"]) == ("2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00+00:00")
    assert record["originals"] == str(library.originals)
    assert record["database"].endswith("/photosvc.db")
    assert sorted(one["name"] for one in record["failures"]) == ["a/broken.jpg", "empty.jpg"]
    assert all(one["reason"] and one["source"] == "index" for one in record["failures"])


def test_a_run_over_one_folder_is_not_one_over_all(status, library):
    library.index()
    library.clock.move(hours=1)
    library.index(subfolder="a")
    library.clock.move(hours=1)
    library.index(dry_run=True)
    record = json.loads(status("--json").stdout)
    assert (record["indexed_at"], record["scanned_at"]) == ("2026-03-01T13:00:00+00:00", "2026-03-01T12:00:00+00:00")


def test_the_table_lists_the_last_failures_and_counts_the_others(status, library):
    library.index()
    shown = status("--failures", "1").stdout
    assert "2 (2 image)" in shown
    assert ("empty.jpg" in shown) != ("a/broken.jpg" in shown)
    assert shown.endswith("1 more file failed: --failures 2 lists all.\n")
    assert "empty.jpg" not in status("--failures", "0").stdout
    assert "more file" not in status().stdout
    assert status("--csv").stdout.splitlines()[0] == "Name,Value"


def test_hidden_and_missing_files_are_distinguished(status, library):
    library.index()
    (library.originals / "two.jpg").unlink()
    library.index()
    record = json.loads(status("--json").stdout)
    assert (record["photos"], record["files"], record["missing"]) == ({"image": 1}, 2, 1)


def test_status_and_check_count_the_same_things_under_the_same_names(status, library):
    library.put("gone.jpg", jpeg(90, 40))
    library.put("archived.jpg", jpeg(70, 40))
    library.index()
    (library.originals / "gone.jpg").unlink()
    library.index()
    admin = library.token(role="admin")
    (uid,) = {record["UID"] for record in library.find(q="name:archived")}
    library.call("POST", "/batch/photos/archive", token=admin, json={"photos": [uid]})
    told = json.loads(status("--json").stdout)
    checked = json.loads(call_svc("check", "--json", instance=library.instance).stdout)
    common = {name: told[name] for name in ("photos", "hidden", "files")}
    assert common == {"photos": {"image": 2}, "hidden": 3, "files": 4}
    assert {name: checked[name] for name in told.keys() & checked.keys()} == common
