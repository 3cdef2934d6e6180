"""Files and names that want to be something else."""

import io
import zipfile
from importlib import import_module

import pytest
from sqlalchemy import delete

from photosvc.models import User
from photosvc.models.engine import begin_write
from photosvc.web.current import current_service
from tests.app.uploads.test_resumable_uploads import create, patch
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clients.upload_client import (
    CRLF,
    FORM,
    form,
    open_uploads,
    originals,
    parts,
    picture,
    post,
    put,
    sha1,
    upload,
)
from tests.helpers.pictures import clouds, encoded

HTML = b"<!DOCTYPE html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_uploads(tmp_path_factory.mktemp("hostile")) as api:
        yield api


@pytest.fixture(scope="module")
def token(api):
    return api.app_password("alice", "*")


def archive():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("../../evil.jpg", picture(1))
    return data.getvalue()


NO_PICTURES = [
    ("a.jpg", archive()),
    ("a.jpg", HTML),
    ("a.png", b"#!/bin/sh\nrm -rf /\n"),
    ("a.jpg.php", b"<?php system($_GET[0]); ?>"),
    ("a.php.jpg", b"<?php system($_GET[0]); ?>"),
    ("a.pdf", b"%PDF-1.7\n"),
    ("a.exe", b"MZ" + bytes(200)),
    ("a.jpg", b"\x7fELF" + bytes(200)),
    ("a.mp4", HTML),
    ("a.html", HTML),
    (".htaccess", b"Options +ExecCGI"),
    ("a.jpg", bytes(1000)),
    ("Thumbs.db", b"\xd0\xcf\x11\xe0" + bytes(600)),
    ("a.xmp", HTML),
    ("a.json", b"[]"),
]


def test_what_is_no_picture_is_refused_whatever_it_is_called(api, token):
    before = originals(api)
    for number, (name, data) in enumerate(NO_PICTURES):
        (file,) = upload(api, token, f"disguised{number}", (name, data))
        assert file["status"] == "refused", name
        assert file["code"] in {"wrong_content", "unrelated", "bad_sidecar"}, name
        assert (originals(api), parts(api)) == (before, []), name


@pytest.mark.parametrize(
    ("name", "data", "ending"),
    [
        ("a.html", picture(20) + HTML, ".jpg"),
        ("a.jpg.php", picture(21) + b"<?php ?>", ".jpg"),
        ("a.svg.exe", encoded(clouds(22, 32, 24), "PNG") + archive(), ".png"),
        ("a.jpg.", encoded(clouds(23, 32, 24), "GIF") + SVG, ".gif"),
    ],
)
def test_a_picture_with_something_behind_it_is_only_ever_a_picture(api, token, name, data, ending):
    (file,) = upload(api, token, "polyglot", (name, data))
    assert file["FileName"].endswith(f"_{sha1(data)[:8].upper()}{ending}")
    answer = api.call("GET", f"/dl/{sha1(data)}", token, buffered=True)
    assert answer.headers["Content-Type"].startswith("image/")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.data == data


def test_a_drawing_with_a_script_is_only_sent_as_a_file_to_keep(api, token):
    (file,) = upload(api, token, "drawing", ("a.svg", SVG))
    if file["status"] == "refused":
        assert file["code"] == "missing_extra"
        return
    answer = api.call("GET", f"/dl/{sha1(SVG)}", token, buffered=True)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


NAMES = [
    "../../etc/cron.d/x.jpg", "/etc/passwd.jpg", "..\\..\\windows\\x.jpg", "C:\\x.jpg", "a\0b.jpg", "a\r\nX: y.jpg",
    "NUL.jpg", "com1.jpg", "aux", "a:stream.jpg", "ä" * 150 + ".jpg", "x" * 5000 + ".jpg", "a\u202egpj.exe",
    "\u2066a.jpg",
    '"><script>alert(1)</script>.jpg', "' OR 1=1 --.jpg", "%2e%2e%2fx.jpg", "..", ".", " ", "~/.ssh/authorized_keys",
    ".photosvc/x.jpg", "a;rm -rf.jpg", "$(reboot).jpg", "a.jpg\u2028b", "\ufeff.jpg", "-rf.jpg", "\U0001f4a9.jpg",
]  # fmt: skip


@pytest.mark.slow
def test_no_name_leads_out_of_the_originals_or_into_an_answer_unescaped(api, token):
    before = set(originals(api))
    for number, name in enumerate(NAMES):
        answer = post(api, token, "names", (name.replace('"', "%22").replace("\r\n", "%0D%0A"), picture(100 + number)))
        assert answer.status_code in {200, 400}, (name, answer.text)
        if answer.status_code == 200:
            (file,) = answer.json["files"]
            assert len(file["name"].encode()) <= 255
            assert not set(file["name"]) & set('/\\\0\r\n:"<>\u202e\u2066\u2028'), file["name"]
    answer = put(api, token, "names")
    assert answer.headers["Content-Type"].startswith("application/json")
    added = {file["FileName"] for file in answer.json["files"] if file["status"] == "added"}
    assert len(added) >= len(NAMES) - 3
    assert set(originals(api)) == before | added
    assert all(name.startswith("2024/05/20240501_120000_") for name in added)


@pytest.mark.slow
@pytest.mark.parametrize(
    "step", ["web.incoming._receive", "api.resumable.append", "api.uploads.add_uploads", "api.resumable.add_uploads"]
)
def test_files_of_an_account_that_is_deleted_while_they_arrive_are_refused(tmp_path, new_database, monkeypatch, step):
    module, _, name = f"photosvc.{step}".rpartition(".")
    proceed = getattr(import_module(module), name)
    with open_api(tmp_path, database=b"", settings={"PHOTOSVC_DATABASE_URI": new_database()}) as api:
        token, data = api.app_password("alice", "*"), picture(1)
        path = create(api, token, len(data)) if "resumable" in step else ""
        if step == "api.uploads.add_uploads":
            post(api, token, "gone", ("a.jpg", data))

        def delete_account(*given, **options):
            current_service().end_reading()
            with api.library.session() as session:
                begin_write(session)
                session.execute(delete(User).where(User.name == "alice"))

            return proceed(*given, **options)

        monkeypatch.setattr(f"{module}.{name}", delete_account)
        if path:
            answer = patch(api, token, path, data, 0)
        else:
            answer = put(api, token, "gone") if "add" in step else post(api, token, "gone", ("a.jpg", data))
        assert check_error(answer, 403)["error"] == "The account was deleted while its files arrived."
        assert originals(api) == {}


FILE = b'Content-Disposition: form-data; name="files"; filename="%b"'


@pytest.mark.parametrize(
    "body",
    [
        form(*[b'Content-Disposition: form-data; name="a"' + CRLF * 2 + b"x"] * 10_000),
        form(*[FILE % b"a.jpg" + CRLF * 2 + b"x"] * 10_000),
        form(FILE % b"a.jpg" + CRLF + b"X-A: " + b"x" * (1 << 20) + CRLF * 2 + b"x"),
        form(FILE % (b"x" * (1 << 20)) + CRLF * 2 + b"x"),
        form(FILE % b"a.jpg" + (CRLF + b"X-A: b") * 100_000 + CRLF * 2 + b"x"),
        b"--b" + CRLF * 200_000,
        b"\r\n--" * 100_000,
        form(b'Content-Disposition: form-data; name="a"' + CRLF * 2 + b"x" * (1 << 21)),
    ],
    ids=["fields", "files", "header", "name", "headers", "lines", "boundaries", "long field"],
)
def test_forms_beyond_all_bounds_are_refused_and_leave_nothing(api, token, body):
    answer = api.call("POST", api.user_path(rest="/upload/many"), token, data=body, content_type=FORM)
    assert answer.status_code in {400, 413}
    check_error(answer, answer.status_code)
    assert parts(api) == []


@pytest.mark.parametrize("boundary", ["", '""', "a b", "\xff", "b" * 71, "--", "b; boundary=c"])
def test_boundaries_that_are_none_are_refused(api, token, boundary):
    kind = f"multipart/form-data; boundary={boundary}"
    body = form(FILE % b"a.jpg" + CRLF * 2 + b"x")
    answer = api.call("POST", api.user_path(rest="/upload/edge"), token, data=body, content_type=kind)
    assert answer.status_code in {200, 400}
    put(api, token, "edge")
    assert parts(api) == []


def test_nested_forms_are_no_files(api, token):
    inner = b'--c\r\nContent-Disposition: file; filename="../x.jpg"\r\n\r\n' + picture(300) + b"\r\n--c--\r\n"
    head = (
        b'Content-Disposition: form-data; name="files"; filename="a.jpg"\r\nContent-Type: multipart/mixed; boundary=c'
    )
    answer = api.call(
        "POST", api.user_path(rest="/upload/nest"), token, data=form(head + CRLF * 2 + inner), content_type=FORM
    )
    assert answer.json["files"][0]["size"] == len(inner)
    assert put(api, token, "nest").json["files"][0]["code"] == "wrong_content"
    assert parts(api) == []
