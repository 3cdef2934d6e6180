"""Files, names and forms that want to be something else."""

import io
import zipfile

from hypothesis import given
from hypothesis import strategies as st

from tests.app.uploads.upload_client import CRLF, FORM, form, originals, parts, picture, post, put, sha1, upload
from tests.helpers.api_client import check_error
from tests.helpers.examples import examples
from tests.helpers.pictures import clouds, encoded

HTML = b"<!DOCTYPE html><script>alert(1)</script>"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'


def archive():
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as file:
        file.writestr("../../evil.jpg", picture(1))
    return data.getvalue()


NO_PICTURES = [
    ("a.jpg", archive()), ("b.jpg", HTML), ("c.png", b"#!/bin/sh\nrm -rf /\n"),
    ("d.jpg.php", b"<?php system($_GET[0]); ?>"), ("e.php.jpg", b"<?php ?>"), ("f.pdf", b"%PDF-1.7\n"),
    ("g.exe", b"MZ" + bytes(200)), ("h.jpg", b"\x7fELF" + bytes(200)), ("i.mp4", HTML), ("j.html", HTML),
    (".htaccess", b"Options +ExecCGI"), ("k.jpg", bytes(1000)), ("Thumbs.db", b"\xd0\xcf\x11\xe0" + bytes(600)),
    ("l.xmp", HTML), ("m.json", b"[]"),
]  # fmt: skip


def test_other_files_than_pictures_are_refused_under_any_name(api, token):
    before = originals(api)
    files = upload(api, token, "disguised", *NO_PICTURES)
    assert len(files) == len(NO_PICTURES)
    for file in files:
        assert file["status"] == "refused", file
        assert file["code"] in {"wrong_content", "unrelated", "bad_sidecar"}, file
    assert (originals(api), parts(api)) == (before, [])


def test_a_picture_with_something_behind_it_is_only_ever_a_picture(api, token):
    for name, data, ending in (
        ("a.html", picture(20) + HTML, ".jpg"),
        ("b.jpg.php", picture(21) + b"<?php ?>", ".jpg"),
        ("c.svg.exe", encoded(clouds(22, 32, 24), "PNG") + archive(), ".png"),
        ("d.jpg.", encoded(clouds(23, 32, 24), "GIF") + SVG, ".gif"),
    ):
        (file,) = upload(api, token, "polyglot", (name, data))
        assert file["FileName"].endswith(f"_{sha1(data)[:8].upper()}{ending}"), name
        answer = api.call("GET", f"/dl/{sha1(data)}", token, buffered=True)
        assert answer.headers["Content-Type"].startswith("image/"), name
        assert answer.headers["X-Content-Type-Options"] == "nosniff", name
        assert answer.headers["Content-Disposition"].startswith("attachment"), name
        assert answer.data == data, name


def test_a_drawing_with_a_script_is_only_sent_as_a_file_to_keep(api, token):
    (file,) = upload(api, token, "drawing", ("a.svg", SVG))
    if file["status"] == "refused":
        assert file["code"] == "missing_extra"
        return
    answer = api.call("GET", f"/dl/{sha1(SVG)}", token, buffered=True)
    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert "default-src 'none'" in answer.headers["Content-Security-Policy"]


SAFE = {
    "../../../etc/passwd.jpg": "passwd.jpg", "C:/pictures/a:b.jpg": "a_b.jpg", "..": "file", ".htaccess": "htaccess",
    "a\u202egpj.jpg": "a_gpj.jpg", "con.jpg": "_con.jpg",
}  # fmt: skip
NAMES = [
    *SAFE, "/etc/passwd.jpg", "..\\..\\windows\\x.jpg", "C:\\x.jpg", "a\0b.jpg", "a\r\nX: y.jpg", "NUL.jpg",
    "com1.jpg", "aux", "a:stream.jpg", "ä" * 150 + ".jpg", "x" * 5000 + ".jpg", "a\u202egpj.exe", "\u2066a.jpg",
    '"><script>alert(1)</script>.jpg', "' OR 1=1 --.jpg", "%2e%2e%2fx.jpg", ".", " ", "~/.ssh/authorized_keys",
    ".photosvc/x.jpg", "a;rm -rf.jpg", "$(reboot).jpg", "a.jpg\u2028b", "\ufeff.jpg", "-rf.jpg", "\U0001f4a9.jpg",
]  # fmt: skip


def test_no_name_leads_out_of_the_originals_or_into_an_answer_unescaped(api, token):
    before = set(originals(api))
    for number, name in enumerate(NAMES):
        answer = post(api, token, "names", (name.replace('"', "%22").replace("\r\n", "%0D%0A"), picture(100 + number)))
        assert answer.status_code in {200, 400}, (name, answer.text)
        if answer.status_code == 200:
            (file,) = answer.json["files"]
            assert file["name"] == SAFE.get(name, file["name"])
            assert len(file["name"].encode()) <= 255, name
            assert not set(file["name"]) & set('/\\\0\r\n:"<>\u202e\u2066\u2028'), file["name"]
    answer = put(api, token, "names")
    assert answer.headers["Content-Type"].startswith("application/json")
    added = {file["FileName"] for file in answer.json["files"] if file["status"] == "added"}
    assert len(added) >= len(NAMES) - 3
    assert set(originals(api)) == before | added
    assert all(name.startswith("2024/05/20240501_120000_") for name in added)


FIELD = b'Content-Disposition: form-data; name="a"'
FILE = b'Content-Disposition: form-data; name="files"; filename="a.jpg"'
FORMS = {
    "nothing": (b"", 400),
    "no form": (b"garbage", 400),
    "no part": (form(), 400),
    "no file": (form(b'Content-Disposition: form-data; name="albums"' + CRLF * 2 + b"x"), 400),
    "no end": (form(FILE + CRLF * 2 + b"data", end=False), 400),
    "no name": (form(b"Content-Type: image/jpeg" + CRLF * 2 + b"data"), 400),
    "no UTF-8": (form(b'Content-Disposition: form-data; filename="\xff"' + CRLF * 2 + b"data"), 400),
    "long line": (b"x" * 300_000, 413),
    "many fields": (form(*[FIELD + CRLF * 2 + b"x"] * 10_000), 413),
    "some too many fields": (form(*[FIELD + CRLF * 2] * 700), 413),
    "many files": (form(*[FILE + CRLF * 2 + b"x"] * 10_000), 413),
    "some too many files": (form(*[FILE + CRLF * 2] * 501), 413),
    "long header": (form(FILE + CRLF + b"X-A: " + b"x" * (1 << 20) + CRLF * 2 + b"x"), 413),
    "longish header": (form(FILE + CRLF + b"X: " + b"x" * 200_000 + CRLF * 2 + b"data"), 413),
    "long name": (form(FILE.replace(b"a.jpg", b"x" * (1 << 20)) + CRLF * 2 + b"x"), 413),
    "many headers": (form(FILE + (CRLF + b"X-A: b") * 100_000 + CRLF * 2 + b"x"), 413),
    "lines": (b"--b" + CRLF * 200_000, 400),
    "boundaries": (b"\r\n--" * 100_000, 413),
    "long field": (form(FIELD + CRLF * 2 + b"x" * (1 << 21)), 400),
}


def test_invalid_or_huge_forms_are_refused_and_leave_nothing(api, token):
    for name, (body, status) in FORMS.items():
        answer = api.call("POST", "/users/Alice/upload/bad", token, data=body, content_type=FORM)
        assert (answer.status_code, parts(api)) == (status, []), name
        check_error(answer, status)
    for kind in ("application/json", "multipart/form-data", f"multipart/form-data; boundary={'b' * 71}"):
        answer = api.call("POST", api.user_path(rest="/upload/bad"), token, data=form(), content_type=kind)
        assert answer.status_code == 400, kind
        check_error(answer, 400)


def test_invalid_boundaries_are_refused(api, token):
    for boundary in ("", '""', "a b", "\xff", "b" * 71, "--", "b; boundary=c"):
        kind, body = f"multipart/form-data; boundary={boundary}", form(FILE + CRLF * 2 + b"x")
        answer = api.call("POST", api.user_path(rest="/upload/edge"), token, data=body, content_type=kind)
        assert answer.status_code in {200, 400}, boundary
        put(api, token, "edge")
        assert parts(api) == [], boundary


def test_nested_forms_are_no_files(api, token):
    inner = b'--c\r\nContent-Disposition: file; filename="../x.jpg"\r\n\r\n' + picture(300) + b"\r\n--c--\r\n"
    body = form(FILE + b"\r\nContent-Type: multipart/mixed; boundary=c" + CRLF * 2 + inner)
    answer = api.call("POST", api.user_path(rest="/upload/nest"), token, data=body, content_type=FORM)
    assert answer.json["files"][0]["size"] == len(inner)
    assert put(api, token, "nest").json["files"][0]["code"] == "wrong_content"
    assert parts(api) == []


@examples(1000, everyday=50)
@given(
    st.lists(
        st.sampled_from([b"--b", b"--", CRLF, b"\n", FILE, b"Content-Disposition:", b'x; filename="', b"\0", b":"])
    )
)
def test_whatever_is_sent_is_never_an_error_of_the_service(api, token, pieces):
    path, body = api.user_path(rest="/upload/fuzz"), b"--b\r\n" + b"".join(pieces)
    answer = api.call("POST", path, token, data=body, content_type=FORM)
    assert answer.status_code in {200, 400, 413}, answer.text
    if answer.status_code == 200:
        put(api, token, "fuzz")
