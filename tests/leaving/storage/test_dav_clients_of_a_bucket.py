"""WebDAV clients against two workers whose originals are in a bucket."""

import os
import subprocess
from contextlib import closing

import pytest

from tests.helpers.pictures import jpeg
from tests.helpers.programs.cadaver import use_cadaver
from tests.helpers.programs.dav_server import serve_dav
from tests.helpers.programs.litmus import require_all_passed
from tests.helpers.programs.watching import wait
from tests.leaving.storage.conftest import BUCKET, PREFIX, settings_of

pytestmark = pytest.mark.slow

NAMES = ["plain.jpg", "a b.jpg", "100% #1?&;=+.jpg", "Über 日本.jpg", "(1) 'q'!.jpg"]
LOCK = b"""<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype><write/></locktype></lockinfo>"""


@pytest.fixture
def dav(store, tmp_path):
    settings = {name: str(value) for name, value in settings_of(store).items()}
    environ = settings | {name: os.environ[name] for name in os.environ if name.startswith("AWS_")}
    options = ["--worker-class", "photosvc.serving.Worker"]
    (tmp_path / "instance/bucket").mkdir(parents=True)
    with serve_dav(tmp_path, settings=settings, environ=environ, options=options, threads=4) as dav:
        dav.api.library.index()
        yield dav


def photos(dav):
    return [(one["FileName"], one["Width"]) for one in dav.api.library.find()]


@pytest.mark.needs("litmus")
def test_all_tests_of_litmus_pass(dav, tmp_path):
    require_all_passed(dav, tmp_path)


@pytest.mark.needs("rclone")
def test_rclone_copies_checks_moves_and_deletes(dav, tmp_path):
    local = tmp_path / "local"
    local.mkdir()
    for number, name in enumerate(NAMES):
        (local / name).write_bytes(jpeg(64 + number, 48))
    environ = {
        "PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "RCLONE_CONFIG_DAV_TYPE": "webdav",
        "RCLONE_CONFIG_DAV_URL": dav.url, "RCLONE_CONFIG_DAV_VENDOR": "other",
        "RCLONE_CONFIG_DAV_BEARER_TOKEN": dav.password,
    }  # fmt: skip

    def rclone(*arguments):
        command = ["rclone", *arguments]
        done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    rclone("copy", str(local), "dav:2020/09", "--transfers", "4")
    rclone("check", str(local), "dav:2020/09", "--download")
    assert rclone("lsf", "dav:2020/09").splitlines() == sorted(NAMES)
    wait(lambda: len(dav.api.library.find()) == len(NAMES))
    uid = next(one["UID"] for one in dav.api.library.find() if one["FileName"] == "2020/09/a b.jpg")
    rclone("moveto", "dav:2020/09/a b.jpg", "dav:2020/c d.jpg")
    rclone("move", "dav:2020", "dav:2021")
    (local / "a b.jpg").rename(tmp_path / "c d.jpg")
    rclone("check", str(local), "dav:2021/09", "--download")
    assert [one["FileName"] for one in dav.api.library.find() if one["UID"] == uid] == ["2021/c d.jpg"]
    rclone("purge", "dav:2021")
    assert rclone("lsf", "dav:", "-R", "--files-only") == ""


@pytest.mark.needs("cadaver")
def test_cadaver_uploads_locks_renames_copies_and_deletes(dav, store, tmp_path):
    data = jpeg(64, 48)
    for name in ("a b.jpg", "plain.jpg"):
        (tmp_path / name).write_bytes(data if name == "plain.jpg" else jpeg(65, 48))
    assert use_cadaver(dav, tmp_path, tmp_path) == data
    with closing(store.client()) as client:
        found = {one["Key"]: one["Size"] for one in client.list_objects_v2(Bucket=BUCKET)["Contents"]}
    trip = f"{PREFIX}/trip/"
    assert {key.removeprefix(trip): size for key, size in found.items() if key.startswith(trip)} == {
        "": 0, "q.jpg": len(data), "r.jpg": len(data),
    }  # fmt: skip
    assert dav.call("GET", "trip/q.jpg", status=200).content == data


def test_finder_and_windows_send_an_empty_file_first(dav):
    for name in ("._IMG.jpg", "IMG.jpg"):
        dav.call("PUT", name, status=201, data=b"")
        token = dav.call("LOCK", name, status=200, data=LOCK, headers={"Depth": "0"}).headers["Lock-Token"]
        known = {"If": f"({token})", "X-Expected-Entity-Length": "200000"}
        dav.call("PUT", name, status=204, data=iter([b"x" * 100_000] * 2), headers=known)
        dav.call("PROPFIND", name, status=207, headers={"Depth": "0"})
        dav.call("UNLOCK", name, status=204, headers={"Lock-Token": token})
        dav.call("MOVE", name, status=201, headers={**dav.destination(f"{name}2"), "Overwrite": "F"})
        assert dav.call("GET", f"{name}2", status=200).content == b"x" * 200_000


def test_a_part_file_of_photosync_becomes_the_photo_by_a_move(dav):
    dav.call("MKCOL", "Phone", status=201)
    for number in range(2):
        data = jpeg(64 + number, 48)
        dav.call("PUT", "Phone/IMG_1.jpg.tacitpart", status=201, data=data)
        dav.call(
            "MOVE", "Phone/IMG_1.jpg.tacitpart", status=204 if number else 201,
            headers={**dav.destination("Phone/IMG_1.jpg"), "Overwrite": "T"},
        )  # fmt: skip
        assert dav.call("GET", "Phone/IMG_1.jpg", status=200).content == data
        photo = ("Phone/IMG_1.jpg", 64 + number)
        wait(lambda photo=photo: photos(dav) == [photo])
        assert photos(dav) == [photo]
