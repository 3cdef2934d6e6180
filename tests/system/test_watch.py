"""What `svc watch` finds, with the file events of the system."""

import os
import shutil
import signal
import time

import pytest

from photosvc.index.requested import waiting, wish
from photosvc.models import File
from photosvc.models.engine import write_session
from photosvc.web.current import current_service
from tests.helpers.clock import NOW
from tests.helpers.pictures import jpeg
from tests.helpers.programs.watching import watch


def pictures(count, first=0):
    """Different small pictures."""
    data = jpeg(16, 16)
    return [data + number.to_bytes(4, "big") for number in range(first, first + count)]


def ask(library, folder, *, force=False):
    with library.app.app_context(), write_session(current_service().engine()) as session:
        wish(session, NOW, folder, force=force)


def waited(library):
    with library.session() as session:
        return waiting(session)


def stored(library):
    with library.session() as session:
        return {file.name: file.hash for file in session.query(File).filter_by(missing=False)}


@pytest.mark.slow
def test_a_watcher_finds_new_folders_wishes_and_deletions(library):
    library.put("a/b.jpg", jpeg())
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        for number, data in enumerate(pictures(60)):
            library.put(f"new/{number % 3}/deep/{number}.jpg", data)
        watching.wait(lambda: len(stored(library)) == 61)
        shutil.rmtree(library.originals / "new/1")
        ask(library, "a", force=True)
        watching.wait(lambda: len(stored(library)) == 41 and not waited(library))
        # A run tells its counts after it has stored its last file.
        watching.wait(lambda: sum(run["updated"] for run in watching.runs if run["folder"] == "a") == 1)
        assert sum(run["indexed"] for run in watching.runs) == 61
        assert watching.errors.count("\n") == 1
        watching.end()
        assert watching.process.returncode == 0


@pytest.mark.slow
def test_a_watcher_finds_what_comes_changes_moves_and_goes(library):
    library.put("old/before.jpg", jpeg())
    with watch(library) as watching:
        watching.wait(lambda: set(stored(library)) == {"old/before.jpg"})
        for number, data in enumerate(pictures(60)):
            library.put(f"new/{number % 3}/deep/{number}.jpg", data)
        watching.wait(lambda: len(stored(library)) == 61)
        uid = library.find(q="filename:old/before.jpg")[0]["UID"]
        (library.originals / "old").rename(library.originals / "renamed")
        watching.wait(lambda: "renamed/before.jpg" in stored(library))
        assert library.find(q="filename:renamed/before.jpg")[0]["UID"] == uid
        library.put("renamed/before.jpg", jpeg(80, 48))
        shutil.rmtree(library.originals / "new/1")
        watching.wait(lambda: len(stored(library)) == 41 and library.find(q="filename:renamed/*")[0]["Width"] == 80)
        aside = library.instance / "aside"
        aside.mkdir()
        for number, data in enumerate(pictures(20, 1000)):
            (aside / f"{number}.jpg").write_bytes(data)
        aside.rename(library.originals / "moved in")
        watching.wait(lambda: len(stored(library)) == 61)
        # A run tells its counts after it has stored its last file.
        watching.wait(lambda: sum(run["indexed"] for run in watching.runs) >= 81)
        assert watching.errors.count("\n") == 1
        watching.end()
        assert watching.process.returncode == 0


@pytest.mark.slow
def test_a_file_that_is_written_slowly_is_read_once_and_whole(library):
    data = os.urandom(40_000)
    whole = jpeg(320, 240) + data
    with watch(library) as watching:
        with (library.originals / "slow.jpg").open("wb") as file:
            for start in range(0, len(whole), 8000):
                file.write(whole[start : start + 8000])
                file.flush()
                time.sleep(0.3)
                assert stored(library) == {}
        watching.wait(lambda: watching.runs)
        (run,) = watching.runs
        assert (run["indexed"], run["failed"]) == (1, 0)
        assert library.find()[0]["Width"] == 320


@pytest.mark.slow
def test_a_wish_of_another_process_is_fulfilled(library):
    path = library.put("a/b.jpg", jpeg())
    with watch(library) as watching:
        watching.wait(lambda: stored(library))
        status = path.stat()
        path.write_bytes(jpeg(64, 48) + b"changed")
        os.truncate(path, status.st_size)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        before = stored(library)
        ask(library, "a/gone/deeper")
        ask(library, "a", force=True)
        watching.wait(lambda: not any(waited(library)) and [run["folder"] for run in watching.runs][-1:] == ["a"])
        assert watching.runs[-1]["updated"] == 1
        assert stored(library) == before


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_watcher_that_is_indexing_ends_soon_and_the_next_one_completes(library, number):
    for index, data in enumerate(pictures(400)):
        library.put(f"{index % 7}/{index}.jpg", data)
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        watching.wait(lambda: 0 < len(stored(library)) < 400)
        watching.end(number)
        assert watching.process.returncode == 0
    assert len(stored(library)) < 400
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        watching.wait(lambda: len(stored(library)) == 400)


@pytest.mark.slow
def test_a_killed_watcher_loses_neither_files_nor_wishes(library):
    for index, data in enumerate(pictures(400)):
        library.put(f"{index % 7}/{index}.jpg", data)
    ask(library, "3")
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        watching.wait(lambda: 0 < len(stored(library)) < 400)
        watching.end(signal.SIGKILL)
    assert len(waited(library)) == 1
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        watching.wait(lambda: len(stored(library)) == 400 and not waited(library))


@pytest.mark.slow
def test_a_disk_that_goes_is_reported_once_and_followed_again_when_it_is_back(library):
    library.put("a.jpg", jpeg())
    aside = library.instance / "unmounted"
    with watch(library) as watching:
        watching.wait(lambda: stored(library))
        library.originals.rename(aside)
        watching.wait(lambda: "is the disk mounted?" in watching.errors)
        time.sleep(2.5)
        aside.rename(library.originals)
        library.put("b.jpg", jpeg(80, 48))
        watching.wait(lambda: len(stored(library)) == 2)
        library.put("c.jpg", jpeg(96, 48))
        watching.wait(lambda: len(stored(library)) == 3)
        assert watching.errors.count("is the disk mounted?") == 1


@pytest.mark.slow
@pytest.mark.parametrize("files", [1000, pytest.param(10_000, marks=pytest.mark.long)])
def test_a_burst_of_files_in_new_nested_folders_loses_none(library, files):
    with watch(library) as watching:
        for index, data in enumerate(pictures(files)):
            library.put(f"{index % 11}/{index % 37}/{index % 5}/{index}.jpg", data)
        watching.wait(lambda: len(stored(library)) == files, 600)


@pytest.mark.slow
def test_pictures_that_exchange_names_over_folders_while_they_are_watched_keep_their_photos(library):
    for number, data in enumerate(pictures(3)):
        library.put(f"{number}/a.jpg", data, age=3600 + number)
    with watch(library) as watching:
        watching.wait(lambda: len(stored(library)) == 3)
        uids = {record["Hash"]: record["UID"] for record in library.find()}
        contents = stored(library)
        (library.originals / "2/a.jpg").rename(library.originals / "aside.tmp")
        (library.originals / "1/a.jpg").rename(library.originals / "2/a.jpg")
        (library.originals / "0/a.jpg").rename(library.originals / "1/a.jpg")
        (library.originals / "aside.tmp").rename(library.originals / "0/b.jpg")
        library.put("0/a.jpg", pictures(1, 9)[0], age=10)
        moved = {"1/a.jpg": contents["0/a.jpg"], "2/a.jpg": contents["1/a.jpg"], "0/b.jpg": contents["2/a.jpg"]}
        watching.wait(lambda: moved.items() < stored(library).items() and len(stored(library)) == 4)
        found = {record["Hash"]: record["UID"] for record in library.find()}
        assert uids.items() < found.items()
        assert len(set(found.values())) == 4
        watching.end()
