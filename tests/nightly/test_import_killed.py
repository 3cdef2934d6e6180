"""An import from PhotoPrism that is killed at any of its statements is completed by the next run."""

import json
import os
import shutil
import signal
import sqlite3
import sys
from itertools import count
from types import SimpleNamespace

from sqlalchemy import event
from sqlalchemy.engine import Engine

from photosvc.exchange import library_import
from photosvc.main import main
from tests.app.exchange.test_photoprism_api import ANN, BOB, FACE, mysql_dump, photo
from tests.helpers.library import DATABASE, SURROUNDINGS, open_library
from tests.helpers.pictures import exif, jpeg

MOMENTS = 20
#: What an import leaves, without random UIDs and times.
QUERIES = (
    "SELECT uid, title, title_src, favorite, private, archived_at, taken_src, keywords_src FROM photosvc_photos",
    (
        "SELECT p.uid, k.folded, k.favorite FROM photosvc_photos p JOIN photosvc_photo_keywords l ON l.photo_id = p.id "
        "JOIN photosvc_keywords k ON k.id = l.keyword_id"
    ),
    (
        "SELECT f.name, f.orientation, m.name, m.x, m.y, m.w, m.h FROM photosvc_files f "
        "LEFT JOIN photosvc_markers m ON m.file_id = f.id"
    ),
    (
        "SELECT a.title, a.category, a.cover, p.uid FROM photosvc_albums a "
        "LEFT JOIN photosvc_album_photos l ON l.album_id = a.id LEFT JOIN photosvc_photos p ON p.id = l.photo_id"
    ),
    "SELECT name, favorite, hidden, birth_date FROM photosvc_subjects",
    "SELECT photo_uid, action, actor_name, before, after FROM photosvc_photo_changes",
    (
        "SELECT key, made, members FROM photosvc_imported i WHERE NOT EXISTS "
        "(SELECT 1 FROM photosvc_albums a WHERE a.uid = i.uid)"
    ),
)


def state(instance):
    with sqlite3.connect(instance / DATABASE) as database:
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
        found = [sorted(map(repr, database.execute(query))) for query in QUERIES]
    database.close()
    return found


def run(instance, dump, left):
    """Run `svc` in a fork, which kills itself before this statement; its exit code, output and number of statements."""
    output = instance / "output"
    process = os.fork()
    if process == 0:
        code, steps = 1, count(1)

        def step(*_):
            if next(steps) == left:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            os.environ.update({**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance)})
            sys.argv = ["svc", "import", "photoprism", "--dump", str(dump), "--json"]
            event.listen(Engine, "before_cursor_execute", step)
            library_import.PORTION = 2
            with output.open("w") as sys.stdout:
                main()
        except SystemExit as ended:
            code = ended.code or 0
            (instance / "steps").write_text(str(next(steps)))
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    return code, output.read_text()


def test_an_import_killed_at_twenty_moments_ends_like_one_that_was_not(tmp_path):
    contents = [jpeg(64 + number, 48, exif=exif(camera={0x9003: "2020:05:06 07:08:09"})) for number in range(9)]
    photos = [
        photo(number, content, Title=f"Nr {number}", TitleSrc="manual", DeletedAt="2024-05-05" if number == 8 else None,
              Labels=[{"LabelSrc": "manual", "Uncertainty": 0, "Label": {"Name": "Kuchen"}}],
              File={"Markers": [{**FACE, "Name": name, "SubjUID": uid}], "Orientation": 6 if number == 3 else 1,
                    "OrientationSrc": "manual" if number == 3 else ""})
        for number, content in enumerate(contents) for name, uid in [[("Ann", ANN), ("Bob", BOB)][number % 2]]
    ]  # fmt: skip
    album = {"UID": "asabc12000000001", "Type": "album", "Title": "Sommer", "Category": "Ferien"}
    album |= {"Thumb": photos[2]["Files"][0]["Hash"], "ThumbSrc": "manual"}
    people = [{"UID": ANN, "Name": "Ann", "Favorite": True}, {"UID": BOB, "Name": "Bob", "Hidden": True}]
    prism = SimpleNamespace(
        photos={one["UID"]: one for one in photos},
        lists={"subjects": people, "albums": [album]},
        members={"asabc12000000001": [one["UID"] for one in photos[:6]]},
    )
    dump = tmp_path / "dump.sql"
    dump.write_text("".join(mysql_dump(prism)))
    library = open_library(tmp_path / "library")
    for number, content in enumerate(contents):
        library.put(f"{number}.jpg", content)
    library.index()
    whole = tmp_path / "whole"
    shutil.copytree(library.instance, whole)
    assert run(whole, dump, 0)[0] == 0
    expected, statements = state(whole), int((whole / "steps").read_text())
    assert [len(rows) for rows in expected[:5]] == [9, 9, 9, 6, 2]
    for moment in range(1, MOMENTS + 1):
        instance = tmp_path / str(moment)
        shutil.copytree(library.instance, instance)
        assert run(instance, dump, statements * moment // (MOMENTS + 1))[0] == -signal.SIGKILL
        assert run(instance, dump, 0)[0] == 0
        assert state(instance) == expected, moment
        assert json.loads(run(instance, dump, 0)[1])["run"] is None
