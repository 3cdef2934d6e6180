"""WebDAV clients against two workers: published ones, and the requests of programs that cannot be installed here."""

import os
import re
import shlex
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from webdav3.client import Client as WebdavClient3
from webdav4.client import Client as Webdav4

from tests.helpers.pictures import jpeg
from tests.system.clients.cadaver import use_cadaver
from tests.system.clients.dav_server import USER
from tests.system.watching import watch

NAMES = ["plain.jpg", "a b.jpg", "100% #1?&;=+.jpg", "Über 日本.jpg", "(1) 'q'!.jpg"]
DATA = os.urandom(300_000)
TAKEN = 1_600_000_000

EXCLUSIVE = b"""<?xml version="1.0" encoding="utf-8"?><D:lockinfo xmlns:D="DAV:"><D:lockscope>
<D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype><D:owner><D:href>%s</D:href></D:owner></D:lockinfo>"""


@pytest.fixture
def local(tmp_path):
    folder = tmp_path / "local"
    folder.mkdir()
    for name in NAMES:
        path = folder / name
        path.write_bytes(DATA + name.encode())
        os.utime(path, (TAKEN, TAKEN))
    return folder


def sent(folder=""):
    return {f"{folder}{name}": DATA + name.encode() for name in sorted(NAMES)}


def run(arguments, tmp_path, *, environ=None, given=""):
    done = subprocess.run(
        arguments,
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", **(environ or {})},
        cwd=tmp_path,
        input=given,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.needs("rclone")
@pytest.mark.parametrize("kind", ["password", "bearer"])
def test_rclone_copies_checks_moves_and_deletes(dav, local, tmp_path, kind):
    environ = {"RCLONE_CONFIG_DAV_TYPE": "webdav", "RCLONE_CONFIG_DAV_URL": dav.url}
    if kind == "password":
        obscured = run(["rclone", "obscure", dav.password], tmp_path).strip()
        environ |= {"RCLONE_CONFIG_DAV_VENDOR": "owncloud", "RCLONE_CONFIG_DAV_USER": USER}
        environ["RCLONE_CONFIG_DAV_PASS"] = obscured
    else:
        environ |= {"RCLONE_CONFIG_DAV_VENDOR": "other", "RCLONE_CONFIG_DAV_BEARER_TOKEN": dav.password}

    def rclone(*arguments):
        return run(["rclone", *arguments], tmp_path, environ=environ)

    rclone("copy", str(local), "dav:2020/09", "--transfers", "8")
    assert dav.files() == sent("2020/09/")
    assert rclone("lsf", "dav:2020/09").splitlines() == sorted(NAMES)
    rclone("check", str(local), "dav:2020/09", "--download")
    if kind == "password":
        assert {int(path.stat().st_mtime) for path in (dav.originals / "2020/09").iterdir()} == {TAKEN}
    rclone("moveto", "dav:2020/09/a b.jpg", "dav:2020/c d.jpg")
    rclone("move", "dav:2020", "dav:2021")
    rclone("delete", "dav:2021/09")
    assert list(dav.files()) == ["2021/c d.jpg"]
    rclone("purge", "dav:2021")
    assert list(dav.originals.glob("[!.]*")) in ([], [dav.originals / "2020"])


@pytest.mark.needs("cadaver")
def test_cadaver_uploads_locks_renames_copies_and_deletes(dav, local, tmp_path):
    plain = DATA + b"plain.jpg"
    assert use_cadaver(dav, local, tmp_path) == plain
    assert dav.files() == {"trip/q.jpg": plain, "trip/r.jpg": plain}


def test_webdavclient3_does_all_it_can(dav, local, tmp_path):
    client = WebdavClient3(
        {"webdav_hostname": dav.url, "webdav_login": USER, "webdav_password": dav.password, "webdav_timeout": 30}
    )
    assert client.mkdir("trip")
    assert client.check("trip")
    assert not client.check("other")
    for name in ("plain.jpg", "a b.jpg", "Über 日本.jpg"):
        client.upload_sync(remote_path=f"trip/{name}", local_path=str(local / name))
    assert sorted(client.list("trip")) == ["a b.jpg", "plain.jpg", "trip/", "Über 日本.jpg"]
    assert int(client.info("trip/plain.jpg")["size"]) == len(DATA) + 9
    assert client.is_dir("trip")
    client.download_sync(remote_path="trip/a b.jpg", local_path=str(tmp_path / "got.jpg"))
    assert (tmp_path / "got.jpg").read_bytes() == DATA + b"a b.jpg"
    client.copy(remote_path_from="trip/plain.jpg", remote_path_to="trip/copy.jpg")
    client.move(remote_path_from="trip/plain.jpg", remote_path_to="trip/moved.jpg")
    client.set_property("trip/moved.jpg", {"namespace": "urn:x", "name": "colour", "value": "green"})
    assert client.get_property("trip/moved.jpg", {"namespace": "urn:x", "name": "colour"}) == "green"
    client.clean("trip/copy.jpg")
    assert sorted(dav.files()) == ["trip/a b.jpg", "trip/moved.jpg", "trip/Über 日本.jpg"]
    client.clean("trip")
    assert dav.files() == {}


def test_webdav4_does_all_it_can(dav, local, tmp_path):
    client = Webdav4(dav.url, auth=(USER, dav.password))
    client.mkdir("trip")
    names = [name for name in NAMES if "#" not in name]  # it quotes neither `#` nor `?`
    for name in names:
        client.upload_file(local / name, f"trip/{name}")
    assert sorted(one["name"] for one in client.ls("trip")) == sorted(f"trip/{name}" for name in names)
    assert client.content_length("trip/a b.jpg") == len(DATA) + 7
    assert abs((client.modified("trip/a b.jpg") - datetime.now(UTC)).total_seconds()) < 60
    assert client.etag("trip/a b.jpg")
    client.download_file("trip/a b.jpg", tmp_path / "got.jpg")
    assert (tmp_path / "got.jpg").read_bytes() == DATA + b"a b.jpg"
    client.move("trip/a b.jpg", "trip/b.jpg")
    client.copy("trip", "copy")
    client.remove("trip")
    assert len(dav.files()) == len(names)
    assert dav.files()["copy/b.jpg"] == DATA + b"a b.jpg"
    assert not client.exists("trip")
    assert client.isdir("copy")


def test_a_part_file_of_photosync_becomes_the_photo_by_a_move(dav):
    dav.call("MKCOL", "Phone", status=201)
    dav.call("PROPFIND", "Phone/", status=207, headers={"Depth": "1"})
    for number in range(2):
        data = DATA + bytes([number])
        dav.call("PUT", "Phone/IMG_1.jpg.tacitpart", data=data)
        headers = {**dav.destination("Phone/IMG_1.jpg"), "Overwrite": "T"}
        dav.call("MOVE", "Phone/IMG_1.jpg.tacitpart", status=204 if number else 201, headers=headers)
        assert dav.files() == {"Phone/IMG_1.jpg": data}
    assert dav.call("HEAD", "Phone/IMG_1.jpg", status=200).headers["Content-Length"] == str(len(DATA) + 1)
    dav.call("HEAD", "Phone/IMG_1.jpg.tacitpart", status=404)


def test_foldersync_keeps_the_time_of_its_files(dav):
    answer = dav.call("PUT", "a.jpg", status=201, data=DATA, headers={"X-OC-Mtime": str(TAKEN)})
    assert answer.headers["X-OC-Mtime"] == "accepted"
    assert int((dav.originals / "a.jpg").stat().st_mtime) == TAKEN
    found = dav.call("HEAD", "a.jpg", status=200)
    assert found.headers["ETag"] == answer.headers["ETag"]
    assert found.headers["Last-Modified"] == "Sun, 13 Sep 2020 12:26:40 GMT"


def chunks(data):
    for start in range(0, len(data), 65_536):
        yield data[start : start + 65_536]


def test_finder_uploads_with_a_lock_and_in_chunks(dav):
    agent = {"User-Agent": "WebDAVFS/3.0.0 (03008000) Darwin/23.0.0 (arm64)"}
    dav.call("OPTIONS", "", status=200, headers=agent)
    quota = b"""<?xml version="1.0" encoding="utf-8"?><D:propfind xmlns:D="DAV:"><D:prop><D:getlastmodified/>
    <D:getcontentlength/><D:creationdate/><D:resourcetype/><D:quota-available-bytes/><D:quota-used-bytes/></D:prop></D:propfind>"""
    dav.call("PROPFIND", "", status=207, data=quota, headers={**agent, "Depth": "0", "Content-Type": "text/xml"})
    for name in ("._IMG.jpg", "IMG.jpg"):
        dav.call("PROPFIND", name, status=404, data=quota, headers={**agent, "Depth": "0"})
        dav.call("PUT", name, status=201, data=b"", headers=agent)
        timeout = {"Timeout": "Second-600", "Depth": "0"}
        locked = dav.call(
            "LOCK", name, status=200, data=EXCLUSIVE % b"http://www.apple.com/webdav_fs/", headers=agent | timeout
        )
        token = locked.headers["Lock-Token"]
        known = {"If": f"({token})", "X-Expected-Entity-Length": str(len(DATA))}
        dav.call("PUT", name, status=204, data=chunks(DATA), headers=agent | known)
        dav.call("LOCK", name, status=200, headers={**agent, "If": f"({token})", "Timeout": "Second-600"})
        dav.call("PROPFIND", name, status=207, data=quota, headers={**agent, "Depth": "0"})
        dav.call("UNLOCK", name, status=204, headers={**agent, "Lock-Token": token})
    assert dav.files() == {"._IMG.jpg": DATA, "IMG.jpg": DATA}
    for name in ("._IMG.jpg", "IMG.jpg"):
        dav.call("MOVE", name, status=201, headers={**agent, **dav.destination(name + "2"), "Overwrite": "F"})
        dav.call("DELETE", name + "2", status=204, headers=agent)
    assert dav.files() == {}


def test_a_chunked_upload_that_is_shorter_than_announced_leaves_the_old_file(dav):
    dav.call("PUT", "a.jpg", status=201, data=b"old")
    answer = dav.call("PUT", "a.jpg", data=chunks(DATA), headers={"X-Expected-Entity-Length": str(len(DATA) + 1)})
    assert answer.status_code == 400
    assert dav.files() == {"a.jpg": b"old"}


def test_windows_explorer_copies_renames_and_deletes(dav):
    agent = {"User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.22621", "translate": "f"}
    options = dav.call("OPTIONS", "", status=200, headers=agent, auth=None)
    assert (options.headers["MS-Author-Via"], options.headers["DAV"].replace(" ", "")) == ("DAV", "1,2")
    dav.call("PROPFIND", "", status=401, headers={**agent, "Depth": "0"}, auth=None)
    dav.call("PROPFIND", "", status=207, headers={**agent, "Depth": "1", "Content-Length": "0"})
    dav.call("PROPFIND", "desktop.ini", status=404, headers={**agent, "Depth": "0"})
    dav.call("PUT", "Neu%20(1).jpg", status=201, data=b"", headers=agent)
    locked = dav.call("LOCK", "Neu%20(1).jpg", status=200, data=EXCLUSIVE % b"DESKTOP\\alice",
                      headers={**agent, "Timeout": "Second-3600"})  # fmt: skip
    shown = {**agent, "If": f"({locked.headers['Lock-Token']})"}
    dav.call("PUT", "Neu%20(1).jpg", status=204, data=DATA, headers=shown)
    times = b"".join(
        b"<Z:Win32%s>Sun, 13 Sep 2020 12:26:40 GMT</Z:Win32%s>" % (name, name)
        for name in (b"CreationTime", b"LastAccessTime", b"LastModifiedTime")
    )
    body = (
        b"""<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:"
    xmlns:Z="urn:schemas-microsoft-com:"><D:set><D:prop>%s<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>"""
        % times
    )
    patched = dav.call("PROPPATCH", "Neu%20(1).jpg", status=207, data=body, headers=shown)
    assert patched.text.count("HTTP/1.1 200 OK") == 1
    assert patched.text.count("<D:status>") == 1
    dav.call("UNLOCK", "Neu%20(1).jpg", status=204, headers={**agent, "Lock-Token": locked.headers["Lock-Token"]})
    assert int((dav.originals / "Neu (1).jpg").stat().st_mtime) == TAKEN
    dav.call("MOVE", "Neu%20(1).jpg", status=201, headers={**agent, **dav.destination("tower.jpg"), "Overwrite": "F"})
    assert dav.files() == {"tower.jpg": DATA}
    dav.call("DELETE", "tower.jpg", status=204, headers=agent)


def test_what_is_uploaded_renamed_and_deleted_changes_in_the_library_within_seconds(dav):
    library = dav.api.library
    with watch(library) as watching:
        dav.call("PUT", "found.jpg.tacitpart", status=201, data=jpeg(64, 48))
        dav.call("MOVE", "found.jpg.tacitpart", status=201, headers=dav.destination("found.jpg"))
        watching.wait(lambda: library.names() == ["found.jpg"])
        uid = library.find()[0]["UID"]
        dav.call("MKCOL", "trip", status=201)
        dav.call("MOVE", "found.jpg", status=201, headers=dav.destination("trip/renamed.jpg"))
        watching.wait(lambda: library.names() == ["trip/renamed.jpg"])
        assert [photo["UID"] for photo in library.find()] == [uid]
        dav.call("DELETE", "trip/", status=204)
        watching.wait(lambda: library.names() == [])


@pytest.mark.needs("curl", "rclone", "cadaver")
def test_every_command_of_the_guide_runs(dav, tmp_path):
    guide = (Path(__file__).parents[3] / "docs/webdav.md").read_text()
    commands = re.findall(r"^    ((?:rclone|curl|cadaver) .*)$", guide, re.MULTILINE)
    given = {"https://photos.example.org": dav.address, "APP_PASSWORD": dav.password, "~": str(tmp_path)}
    (tmp_path / "Pictures/2026").mkdir(parents=True)
    (tmp_path / "Pictures/2026/a.jpg").write_bytes(DATA)
    (tmp_path / "IMG_0001.JPG").write_bytes(DATA[::-1])
    host = dav.address.removeprefix("http://").partition(":")[0]
    (tmp_path / ".netrc").write_text(f"machine {host}\nlogin {USER}\npassword {dav.password}\n")
    for command in commands:
        arguments = shlex.split(command)
        if "…" in command:
            continue
        for written, value in given.items():
            arguments = [one.replace(written, value) for one in arguments]
        if arguments[0] == "curl":
            arguments.insert(1, "--fail")
        run(arguments, tmp_path, given="ls\nquit\n")
    assert dav.files() == {"2026/IMG_0001.JPG": DATA[::-1], "2026/a.jpg": DATA}
    assert len(commands) == 7
