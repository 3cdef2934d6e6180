"""What `svc watch` finds, with the file events of the system."""

import os
import shutil
import signal

from photosvc.index.requests import enqueue, waiting
from photosvc.models import File
from photosvc.models.engine import write_session
from photosvc.web.service import current_service
from tests.helpers.clock import NOW
from tests.helpers.pictures import jpeg
from tests.system.watching import watch


def pictures(count, first=0):
    """Different small pictures."""
    data = jpeg(16, 16)
    return [data + number.to_bytes(4, "big") for number in range(first, first + count)]


def ask(library, folder, *, force=False):
    with library.app.app_context(), write_session(current_service().engine()) as session:
        enqueue(session, NOW, folder, force=force)


def waited(library):
    with library.session() as session:
        return waiting(session)


def stored(library):
    with library.session() as session:
        return {file.name: file.hash for file in session.query(File).filter_by(missing=False)}


def test_a_watcher_finds_what_comes_changes_moves_and_goes_and_fulfils_wishes(library):
    path = library.put("old/before.jpg", jpeg())
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        watching.wait(lambda: set(stored(library)) == {"old/before.jpg"})
        for number, data in enumerate(pictures(60)):
            library.put(f"new/{number % 3}/deep/{number}.jpg", data)
        watching.wait(lambda: len(stored(library)) == 61)
        uid = library.find(q="filename:old/before.jpg")[0]["UID"]
        (library.originals / "old").rename(library.originals / "renamed")
        watching.wait(lambda: "renamed/before.jpg" in stored(library))
        assert library.find(q="filename:renamed/before.jpg")[0]["UID"] == uid
        path = library.put("renamed/before.jpg", jpeg(80, 48))
        shutil.rmtree(library.originals / "new/1")
        watching.wait(lambda: len(stored(library)) == 41 and library.find(q="filename:renamed/*")[0]["Width"] == 80)
        aside = library.instance / "aside"
        aside.mkdir()
        for number, data in enumerate(pictures(20, 1000)):
            (aside / f"{number}.jpg").write_bytes(data)
        aside.rename(library.originals / "moved in")
        watching.wait(lambda: len(stored(library)) == 61)
        # A run tells its counts after it has stored its last file.
        watching.wait(lambda: sum(run["indexed"] for run in watching.runs) == 81)
        status, before = path.stat(), stored(library)
        path.write_bytes(jpeg(80, 48) + b"changed")
        os.truncate(path, status.st_size)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        ask(library, "renamed/gone/deeper")
        ask(library, "renamed", force=True)
        watching.wait(lambda: not any(waited(library)) and watching.runs[-1]["folder"] == "renamed")
        assert watching.runs[-1]["updated"] == 1
        assert stored(library) == before
        assert watching.errors.count("\n") == 1
        watching.end()
        assert watching.process.returncode == 0


def test_a_watcher_that_ends_or_is_killed_while_it_indexes_loses_neither_files_nor_wishes(library):
    for number, end in enumerate((signal.SIGTERM, signal.SIGINT, signal.SIGKILL)):
        for index, data in enumerate(pictures(400, 400 * number)):
            library.put(f"{index % 7}/{400 * number + index}.jpg", data)
        ask(library, "3")
        with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
            watching.wait(lambda least=400 * number: least < len(stored(library)) < least + 400)
            watching.end(end)
            assert watching.process.returncode == (-end if end is signal.SIGKILL else 0)
        assert len(stored(library)) < 400 * (number + 1), end
        assert len(waited(library)) == 1, end
        with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
            watching.wait(lambda all_of=400 * (number + 1): len(stored(library)) == all_of and not waited(library))


def test_a_disk_that_goes_is_reported_once_and_followed_again_when_it_is_back(library):
    library.put("a.jpg", jpeg())
    aside = library.instance / "unmounted"
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        watching.wait(lambda: stored(library))
        library.originals.rename(aside)
        watching.wait(lambda: "is the disk mounted?" in watching.errors)
        aside.rename(library.originals)
        for number, name in enumerate(("b.jpg", "c.jpg"), 2):
            library.put(name, jpeg(80 + number, 48))
            watching.wait(lambda number=number: len(stored(library)) == number)
        assert watching.errors.count("is the disk mounted?") == 1


def test_a_burst_of_files_in_new_nested_folders_loses_none(library):
    with watch(library, PHOTOSVC_WATCH_SETTLE="0") as watching:
        for index, data in enumerate(pictures(300)):
            library.put(f"{index % 11}/{index % 37}/{index % 5}/{index}.jpg", data)
        watching.wait(lambda: len(stored(library)) == 300, 300)


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
