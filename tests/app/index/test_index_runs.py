"""What an index run promises: what it makes of files, what the next run leaves alone, what comes and goes."""

import os
import subprocess
import sys

import pytest

from photosvc.core.errors import ConflictError, NotFoundError
from tests.helpers.library import SURROUNDINGS, call_svc, changes, counts, hashes, svc
from tests.helpers.pictures import dng, encoded, exif, heic, jpeg, quarters, video


def test_a_second_run_changes_nothing_and_opens_no_unchanged_file(library):
    first = library.put("2020/a.jpg", jpeg(exif=exif({0x010F: "Canon"})))
    library.put("b.png", encoded(quarters(), "PNG"))
    library.put("empty.jpg", b"")
    library.put("notes.pdf", b"%PDF")
    assert counts(library.index()) == (2, 0, 0, 0, 2, 0)
    before, count = library.stored(), changes(library)
    status = first.stat()
    first.write_bytes(b"\0" * status.st_size)  # a run that opened it would find other content
    os.utime(first, ns=(status.st_atime_ns, status.st_mtime_ns))
    library.clock.move(days=1)
    assert counts(library.index()) == (0, 0, 2, 0, 2, 0)
    assert library.stored() == before
    assert changes(library) == count


def test_force_reads_again_and_leaves_records_as_they_were_but_for_the_time_of_the_check(library):
    library.put("a.jpg", jpeg(exif=exif({0x010F: "Canon"}, {0x9003: "2020:01:02 03:04:05"})))
    library.put("b.jpg", jpeg(100, 100))
    library.index()
    before = library.find()
    library.clock.move(hours=1)
    assert counts(library.index(force=True)) == (0, 2, 0, 0, 0, 0)
    after = library.find()
    assert {record.pop("CheckedAt") for record in before} == {"2026-03-01T12:00:00Z"}
    assert {record.pop("CheckedAt") for record in after} == {"2026-03-01T13:00:00Z"}
    assert after == before


def test_force_notices_what_size_and_time_hide(library):
    path = library.put("a.jpg", jpeg())
    library.index()
    status = path.stat()
    path.write_bytes(b"\0" * status.st_size)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert library.index(force=True).failed == []
    assert library.names() == []


def test_a_dry_run_counts_and_writes_nothing(library):
    library.put("a.jpg", jpeg())
    assert counts(library.index(dry_run=True)) == (1, 0, 0, 0, 0, 0)
    assert library.find() == []
    library.index()
    library.put("a.jpg", jpeg(80, 80), age=60)
    library.put("b.jpg", jpeg(90, 80))
    assert counts(library.index(dry_run=True)) == (1, 1, 0, 0, 0, 0)
    assert len(library.find()) == 1


@pytest.mark.parametrize("workers", [1, 2, 5])
def test_the_number_of_workers_makes_no_difference(library, workers):
    for number in range(12):
        library.put(f"{number:02}.jpg", jpeg(64 + number, 48))
    assert counts(library.index(workers=workers)) == (12, 0, 0, 0, 0, 0)
    assert library.names(count=50) == [f"{number:02}.jpg" for number in range(12)]


def test_only_a_subfolder_is_looked_at_when_one_is_named(library):
    library.put("in/a.jpg", jpeg())
    library.put("in%/b.jpg", jpeg(70, 48))
    library.put("out/c.jpg", jpeg(80, 48))
    assert counts(library.index(subfolder="in")) == (1, 0, 0, 0, 0, 0)
    assert library.names() == ["in/a.jpg"]
    library.index()
    (library.originals / "out/c.jpg").unlink()
    (library.originals / "in%/b.jpg").unlink()
    assert counts(library.index(subfolder="in")) == (0, 0, 1, 0, 0, 0)
    assert library.names() == ["in%/b.jpg", "in/a.jpg", "out/c.jpg"]
    with pytest.raises(NotFoundError):
        library.index(subfolder="nowhere")


def test_a_second_run_at_the_same_time_is_refused(library):
    import fcntl

    cache = library.instance / "cache"
    cache.mkdir(exist_ok=True)
    with (cache / "index.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ConflictError, match="Another index run is active"):
            library.index()
    assert counts(library.index()) == (0, 0, 0, 0, 0, 0)


def test_indexing_changes_no_byte_mode_or_time_of_the_originals(library):
    library.put("a.jpg", jpeg()).chmod(0o400)
    library.put("b.jpg", jpeg(640, 480)[:900])
    library.put("c.txt", b"words")
    before = hashes(library.originals)
    library.index()
    library.index(force=True)
    assert hashes(library.originals) == before


def test_the_command_line_ends_with_1_for_a_new_broken_file_and_then_with_0(library):
    library.put("a.jpg", jpeg(640, 480)[:2000])
    library.put("b.jpg", jpeg())
    first = svc("index", instance=library.instance)
    assert (first.returncode, first.stderr) == (1, "failed a.jpg: the picture is truncated\n")
    assert first.stdout.startswith("1 indexed, 0 updated, 0 unchanged, 0 missing, 0 skipped, 1 failed in ")
    second = call_svc("index", instance=library.instance)
    assert (second.returncode, second.stderr) == (0, "skipped a.jpg: the picture is truncated\n")
    assert second.stdout.startswith("0 indexed, 0 updated, 1 unchanged, 0 missing, 1 skipped, 0 failed in ")


WITHOUT = """
import sys
sys.modules.update(dict.fromkeys(("pillow_heif", "rawpy", "av", "numpy")))
"""


def test_without_the_optional_decoders_jpeg_is_indexed_and_the_rest_says_what_it_needs(library, tmp_path):
    library.put("a.jpg", jpeg())
    library.put("b.heic", heic())
    dng(library.put("c.dng", b""))
    video(library.put("d.mp4", b""))
    blocker = tmp_path / "without"
    blocker.mkdir()
    (blocker / "sitecustomize.py").write_text(WITHOUT)
    path = os.pathsep.join(filter(None, (str(blocker), SURROUNDINGS.get("PYTHONPATH"))))
    first = svc("index", instance=library.instance, environ={"PYTHONPATH": path})
    reason = "needs the extra \"{0}\": pip install 'photosvc[{0}]'"
    assert sorted(first.stderr.splitlines()) == [  # workers finish in any order
        f"skipped b.heic: {reason.format('heic')}",
        f"skipped c.dng: {reason.format('raw')}",
        f"skipped d.mp4: {reason.format('video')}",
    ]
    assert first.returncode == 0
    assert library.names() == ["a.jpg"]
    again = svc("index", instance=library.instance, environ={"PYTHONPATH": path})
    assert again.stdout.startswith("0 indexed, 0 updated, 1 unchanged, 0 missing, 3 skipped, 0 failed")
    assert counts(library.index())[:4] == (0, 3, 1, 0)
    assert library.names() == ["a.jpg", "b.heic", "c.dng", "d.mp4"]


def test_a_line_of_json_for_each_file_and_one_with_the_counts(library):
    import json

    library.put("a.jpg", jpeg())
    library.put("b.jpg", b"words")
    library.put("c.jpg", jpeg(640, 480)[:2000])

    def index():
        done = call_svc("index", "--json", "--workers", "1", instance=library.instance)
        *files, counts = map(json.loads, done.stdout.splitlines())
        assert (done.stderr, counts.pop("seconds") > 0) == ("", True)
        return done.returncode, sorted(files, key=lambda file: file["name"]), counts

    b = {"name": "b.jpg", "status": "skipped", "code": "wrong_content", "reason": "its content is not a picture"}
    c = {"name": "c.jpg", "status": "failed", "code": "truncated", "reason": "the picture is truncated"}
    assert index() == (
        1,
        [{"name": "a.jpg", "status": "indexed"}, b, c],
        {"indexed": 1, "updated": 0, "unchanged": 0, "missing": 0, "skipped": 1, "failed": 1, "dry_run": False},
    )
    (library.originals / "c.jpg").unlink()
    assert index() == (
        0,
        [{"name": "a.jpg", "status": "unchanged"}, b, {"name": "c.jpg", "status": "missing"}],
        {"indexed": 0, "updated": 0, "unchanged": 1, "missing": 1, "skipped": 1, "failed": 0, "dry_run": False},
    )


def test_a_run_needs_no_main_guard_in_the_calling_program(library):
    library.put("a.jpg", jpeg())
    program = f"""
from pathlib import Path
from sqlalchemy.orm import Session
from photosvc.app import create_app
from photosvc.web.current import current_service
from photosvc.index.run import IndexOptions, run_index
app = create_app(instance={str(library.instance)!r}, environ={{"PHOTOSVC_BASE_URL": "https://photos.example.org"}})
with app.app_context():
    service = current_service()
    with Session(service.engine()) as session:
        print(run_index(session, service.settings, service.clock, IndexOptions(workers=2)).indexed)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], env=SURROUNDINGS, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
