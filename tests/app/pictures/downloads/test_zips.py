"""Archives of originals: `GET /albums/<uid>/dl`, `POST /zip` and `GET /zip/<name>`."""

import re
import shutil
import subprocess
from contextlib import contextmanager
from io import BytesIO
from zipfile import ZipFile

import pytest
from sqlalchemy import func, select, update

from photosvc.api import downloads
from photosvc.media.xmp import read_xmp_sidecar
from photosvc.models import Album, AlbumPhoto, Credential, File, Photo, User, ZipSelection
from photosvc.pictures.archives import MOST_WAITING
from photosvc.search.rows.write import project
from photosvc.web import zips
from photosvc.web.service import current_service
from tests.helpers.api_client import ApiClient, check_error, open_api
from tests.helpers.clock import NOW
from tests.helpers.factories.photos import edit_photos
from tests.helpers.library import open_library
from tests.helpers.pictures import exif, jpeg

TITLES = {"2020/lake.jpg": "Lake", "2021/tree.jpg": "Tree", "2022/secret.jpg": "Secret", "2019/old.jpg": "Old"}
NOTE = "NOT INCLUDED.txt"
HEADING = (
    "These files are missing from the archive, or incomplete, because they changed, vanished or cannot be read:\n\n"
)


def picture(year, width=64):
    return jpeg(width, 48, exif=exif({}, {0x9003: f"{year}:05:01 12:00:00"}))


def fill(library):
    """Four photos: one of two files, one private, one archived; and three albums."""
    library.put("2020/lake.jpg", picture(2020))
    library.put("2020/lake.png", picture(2020, 32))
    library.put("2021/tree.jpg", picture(2021, 80))
    library.put("2022/secret.jpg", picture(2022, 96))
    library.put("2019/old.jpg", picture(2019, 112))
    library.index()
    with library.session() as session:
        for name, title in TITLES.items():
            photo = session.scalar(select(Photo).join(File).where(File.name == name))
            photo.title, photo.title_src = title, "manual"
            photo.private = title == "Secret"
            photo.archived_at = NOW if title == "Old" else None
        add_album(session, 1, "Übers Land / 2020", TITLES, order="newest")
        add_album(session, 2, "Clever", (), filter="year:2020-2021")
        add_album(session, 3, "Mine", ["2020/lake.jpg"], private=True)
        add_album(session, 4, "Gone", ["2020/lake.jpg"], deleted_at=NOW)
        add_album(session, 5, "Empty", ())
        session.flush()
        project(session, list(session.scalars(select(Photo.id))))


def add_album(session, number, title, names, **values):
    session.add(Album(id=number, uid=album(number), title=title, created_at=NOW, updated_at=NOW, **values))
    session.flush()
    for photo_id in session.scalars(select(File.photo_id).where(File.name.in_(names))):
        session.add(AlbumPhoto(album_id=number, photo_id=photo_id, created_at=NOW))


def album(number):
    return f"a{number:015}"


@pytest.fixture(scope="module")
def template(tmp_path_factory):
    """The instance folder of a filled library that no app has open, and the UIDs of its users."""
    folder = tmp_path_factory.mktemp("zips")
    with open_api(folder) as api:
        fill(api.library)
    return folder / "instance", api.uids


@contextmanager
def copied(template, folder):
    instance, uids = template
    shutil.copytree(instance, folder)
    api = ApiClient(open_library(folder, upgrade=False), uids)
    yield api
    api.library.close()


@pytest.fixture(scope="module")
def filled(template, tmp_path_factory):
    """A library that the tests only read."""
    with copied(template, tmp_path_factory.mktemp("zips") / "instance") as api:
        yield api


@pytest.fixture
def own(template, tmp_path):
    """A library that a test changes."""
    with copied(template, tmp_path / "instance") as api:
        yield api


def count_stored(api):
    with api.library.session() as session:
        return session.query(ZipSelection).count()


def uid(api, name, column=Photo.uid):
    with api.library.session() as session:
        return session.scalar(select(column).select_from(Photo).join(Photo.files).where(File.name == name))


def download_token(api, token):
    return api.call("GET", "/photos?count=1", token).headers["X-Download-Token"]


def post(api, token, **selection):
    return api.call("POST", "/zip", token, json=selection)


def zipped(answer):
    """Name -> bytes of an archive that must be complete."""
    assert answer.status_code == 200, answer.text
    archive = ZipFile(BytesIO(answer.data))
    assert archive.testzip() is None
    return {name: archive.read(name) for name in archive.namelist()}


def fetch(api, token, query="", **selection):
    """The archive of a selection."""
    made = post(api, token, **selection)
    assert made.status_code == 200, made.text
    return zipped(api.call("GET", f"/zip/{made.json['filename']}?{query}", token))


def original(api, name):
    return (api.library.originals / name).read_bytes()


# What is in an archive


def test_a_selection_is_posted_and_its_archive_fetched_with_the_download_token(filled):
    alice = filled.app_password()
    made = post(filled, alice, photos=[uid(filled, "2021/tree.jpg"), uid(filled, "2020/lake.jpg")])
    files = {
        "20210501-120000-Tree.jpg": original(filled, "2021/tree.jpg"),
        "20200501-120000-Lake.jpg": original(filled, "2020/lake.jpg"),
        "20200501-120000-Lake.png": original(filled, "2020/lake.png"),
    }
    name, size = made.json["filename"], sum(map(len, files.values()))
    assert made.json == {"code": 200, "message": "3 files selected", "filename": name, "count": 3, "size": size}
    assert re.fullmatch(r"photos-20260301-120000-[0-9a-z]{12}\.zip", name)
    answer = filled.call("GET", f"/zip/{name}?t={download_token(filled, alice)}")
    assert list(zipped(answer).items()) == list(files.items())
    headers = dict(answer.headers)
    assert headers["Content-Type"] == "application/zip"
    assert headers["Content-Disposition"] == 'attachment; filename="photos-20260301-120000.zip"'
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Content-Length" not in headers


def test_an_archive_with_details_has_a_sidecar_beside_each_file_but_none_for_visitors(own):
    photos, token = [uid(own, "2021/tree.jpg")], own.app_password()
    plain = list(fetch(own, token, photos=photos))
    archive = fetch(own, token, "details=true", photos=photos)
    assert list(archive) == [*plain, "20210501-120000-Tree.jpg.xmp"]
    assert read_xmp_sidecar(archive["20210501-120000-Tree.jpg.xmp"]).title == "Tree"
    check_error(own.call("GET", f"/albums/{album(1)}/dl?details=perhaps", token), 400)
    rights = {"ShowMetadata": True, "CanDownload": True}
    link = own.call("POST", f"/albums/{album(1)}/links", token, json=rights).json
    visitor = own.call("POST", "/session", json={"token": link["Token"]}).json["access_token"]
    sent = zipped(own.call("GET", f"/albums/{album(1)}/dl?details=true", visitor))
    assert [name for name in sent if name.endswith(".xmp")] == []


@pytest.mark.needs("unzip")
def test_the_system_s_unzip_accepts_an_archive(filled, tmp_path):
    answer = filled.call("GET", f"/albums/{album(1)}/dl", filled.app_password())
    (tmp_path / "a.zip").write_bytes(answer.data)
    done = subprocess.run(["unzip", "-t", tmp_path / "a.zip"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No errors detected" in done.stdout


def test_an_album_has_its_files_in_its_order_under_its_title(filled):
    answer = filled.call("GET", f"/albums/{album(1)}/dl?t={download_token(filled, filled.app_password())}")
    assert list(zipped(answer)) == [
        "20220501-120000-Secret.jpg", "20210501-120000-Tree.jpg", "20200501-120000-Lake.jpg",
        "20200501-120000-Lake.png",
    ]  # fmt: skip
    assert answer.headers["Content-Disposition"] == (
        "attachment; filename=\"_bers Land _ 2020.zip\"; filename*=UTF-8''%C3%9Cbers%20Land%20_%202020.zip"
    )
    infos = ZipFile(BytesIO(answer.data)).infolist()
    assert {info.compress_type for info in infos} == {0}
    assert infos[0].date_time == (2022, 5, 1, 12, 0, 0)  # of the photo
    head = filled.call("HEAD", f"/albums/{album(1)}/dl", filled.app_password())
    assert (head.status_code, head.data, head.content_type) == (200, b"", "application/zip")
    assert "Content-Length" not in head.headers


def test_selections_combine_and_no_file_comes_twice(filled):
    alice, lake = filled.app_password(), ["lake.jpg", "lake.png"]
    png, tree = uid(filled, "2020/lake.png", File.uid), uid(filled, "2021/tree.jpg", File.hash)
    for selection, names in (
        ({"q": "title:tree"}, ["tree.jpg"]),
        ({"albums": [album(2)], "q": "title:secret"}, [*lake, "tree.jpg", "secret.jpg"]),
        ({"albums": [album(2), album(2), album(1)]}, [*lake, "tree.jpg", "secret.jpg"]),
        ({"all": True, "albums": [album(3)], "labels": ["l1"], "places": None}, lake),
        ({"photos": None, "files": None, "albums": [album(3)], "q": None}, lake),
        ({"files": [tree.upper(), png, png]}, ["lake.png", "tree.jpg"]),
    ):
        assert list(fetch(filled, alice, "name=file", **selection)) == names, selection
    made = post(filled, alice, albums=[album(2)])
    answer = filled.call("GET", f"/zip/{made.json['filename']}", alice)
    assert answer.headers["Content-Disposition"] == 'attachment; filename="Clever.zip"'  # of one album alone


def test_names_are_unique_and_safe(own):
    with own.library.session() as session:
        ids = list(session.scalars(select(Photo.id)))
        edit_photos(session, ids, title="../../etc/\u202epasswd\n", taken_at_local=NOW, archived_at=None)
    assert sorted(fetch(own, own.app_password(), albums=[album(1)])) == [
        "20260301-120000-.._.._etc__passwd_ (2).jpg",
        "20260301-120000-.._.._etc__passwd_ (3).jpg",
        "20260301-120000-.._.._etc__passwd_ (4).jpg",
        "20260301-120000-.._.._etc__passwd_.jpg",
        "20260301-120000-.._.._etc__passwd_.png",
    ]


def test_names_of_the_library_or_of_the_import_can_be_chosen(own):
    with own.library.session() as session:
        session.execute(update(File).where(File.name == "2021/tree.jpg").values(original_name="DSC/DSC_0001.JPG"))
    alice, tree = own.app_password(), uid(own, "2021/tree.jpg")
    for kind, name in (("original", "DSC_0001.JPG"), ("file", "tree.jpg"), ("other", "20210501-120000-Tree.jpg")):
        assert list(fetch(own, alice, f"name={kind}", photos=[tree])) == [name]
    answer = own.call("GET", f"/albums/{album(2)}/dl?name=file", headers={"X-Session-ID": own.session_of()})
    assert list(zipped(answer)) == ["lake.jpg", "lake.png", "tree.jpg"]


def test_the_credentials_of_an_account_or_client_share_a_limit(own, monkeypatch):
    monkeypatch.setattr("photosvc.pictures.archives.MOST_OF_OWNER", 3)
    alice, client = [own.app_password(), own.session_of()], own.client_token("photos")
    tokens = [own.app_password("ann"), client, own.access_token(), *alice, *alice]
    names = [post(own, token, albums=[album(2)]).json["filename"] for token in tokens]
    found = [own.call("HEAD", f"/zip/{name}", token).status_code for name, token in zip(names, tokens, strict=True)]
    assert found == [200, 200, 200, 404, 200, 200, 200]


def test_the_visitors_of_a_link_share_a_limit_and_leave_nothing(own, monkeypatch):
    monkeypatch.setattr("photosvc.pictures.archives.MOST_OF_OWNER", 3)
    monkeypatch.setattr("photosvc.library.links.MOST_VISITS", 4)
    rights = {"ShowMetadata": True, "CanDownload": True}
    one, other = (own.call("POST", f"/albums/{album(2)}/links", own.app_password(), json=rights).json for _ in "12")

    def select_by(link):
        visitor = own.call("POST", "/session", json={"token": link["Token"]}).json["access_token"]
        return visitor, post(own, visitor, albums=[album(2)]).json["filename"]

    selected = [select_by(link) for link in (other, one, one, one, one)]
    found = [own.call("HEAD", f"/zip/{name}", visitor).status_code for visitor, name in selected]
    assert found == [200, 404, 200, 200, 200]
    for _ in range(4):
        own.call("POST", "/session", json={"token": one["Token"]})
    assert count_stored(own) == 1
    own.call("DELETE", f"/albums/{album(2)}/links/{other['UID']}", own.app_password())
    with own.library.session() as session:
        assert session.scalar(select(func.count()).select_from(ZipSelection)) == 0


# What somebody may not see


def test_private_and_archived_photos_and_albums_are_only_for_accounts_that_may_see_them(filled):
    secret, old = uid(filled, "2022/secret.jpg"), uid(filled, "2019/old.jpg")
    for token in (filled.app_password("vera"), filled.access_token("photos")):
        assert "secret.jpg" not in zipped(filled.call("GET", f"/albums/{album(1)}/dl?name=file", token))
        check_error(filled.call("GET", f"/albums/{album(3)}/dl", token), 404)
        for selection in ({"photos": [secret]}, {"photos": [old]}, {"albums": [album(3)]}, {"q": "private:true"}):
            assert post(filled, token, **selection).status_code == 404, selection
    assert list(fetch(filled, filled.app_password("ann"), "name=file", photos=[secret])) == ["secret.jpg"]
    for selection in ({"photos": [old]}, {"q": "archived:true"}):
        assert list(fetch(filled, filled.app_password(), "name=file", **selection)) == ["old.jpg"], selection


def test_deleted_empty_and_unknown_albums_and_archives_are_404(filled):
    alice = filled.app_password()
    for number in (4, 5, 6):
        body = check_error(filled.call("GET", f"/albums/{album(number)}/dl", alice), 404)
        message = "the album contains no files" if number == 5 else "there is no such album"
        assert body["details"] == [{"field": "uid", "message": message}], number
    for name in ("..", "%2e%2e%2fetc", "a%00b", "x" * 4000, "%F0%9F%98%80", "a1", "A" + "0" * 15):
        for path in (f"/albums/{name}/dl", f"/zip/{name}"):
            assert filled.call("GET", path, alice).status_code == 404, path


# Whose selection it is


def test_a_selection_is_open_only_to_the_credential_that_posted_it(filled):
    alice, other, ann = filled.app_password(), filled.app_password(), filled.app_password("ann")
    path = f"/zip/{post(filled, alice, photos=[uid(filled, '2021/tree.jpg')]).json['filename']}"
    for token in (other, ann):
        check_error(filled.call("GET", path, token), 404)
        check_error(filled.call("GET", f"{path}?t={download_token(filled, token)}"), 404)
    assert filled.call("GET", path, alice).status_code == 200
    check_error(filled.call("GET", path), 401)
    check_error(filled.call("GET", f"{path}?t=nonsense"), 403)


def test_a_selection_ends_after_an_hour_and_selections_over_the_limit_are_deleted(own):
    token, other = own.access_token(), own.access_token()
    tree = uid(own, "2021/tree.jpg")
    names = [post(own, token, photos=[tree]).json["filename"] for _ in range(MOST_WAITING + 2)]
    kept = post(own, other, photos=[tree]).json["filename"]
    assert [own.call("GET", f"/zip/{name}", token).status_code for name in names] == [404] * 2 + [200] * MOST_WAITING
    assert count_stored(own) == MOST_WAITING + 1
    own.clock.move(seconds=3599)
    assert own.call("GET", f"/zip/{kept}", other).status_code == 200
    own.clock.move(seconds=1)
    check_error(own.call("GET", f"/zip/{kept}", other), 404)
    last = post(own, other, photos=[tree]).json["filename"]
    assert own.call("GET", f"/zip/{last}", other).status_code == 200
    assert count_stored(own) == 1


def test_a_selection_dies_with_its_credential_and_its_user(own):
    token, tree = own.app_password(), uid(own, "2021/tree.jpg")
    path, link = f"/zip/{post(own, token, photos=[tree]).json['filename']}", download_token(own, token)
    with own.library.session() as session:
        session.execute(update(User).where(User.name == "alice").values(disabled=True))
    check_error(own.call("GET", f"{path}?t={link}"), 403)
    check_error(own.call("GET", path, token), 401)
    with own.library.session() as session:
        session.query(Credential).delete()
    check_error(own.call("GET", f"{path}?t={link}"), 403)
    check_error(own.call("GET", path, token), 401)


# What changes meanwhile


def test_files_that_changed_or_vanished_or_became_links_since_the_selection_are_noted(own, tmp_path):
    token = own.access_token()
    made = post(own, token, q="year:2020-2021").json
    originals = own.library.originals
    (originals / "2020/lake.jpg").unlink()
    (originals / "2020/lake.png").rename(tmp_path / "outside.png")
    (originals / "2020/lake.png").symlink_to(tmp_path / "outside.png")
    own.library.put("2021/tree.jpg", b"longer or shorter")
    contents = zipped(own.call("GET", f"/zip/{made['filename']}?name=file", token))
    assert contents == {NOTE: (HEADING + "2020/lake.jpg\n2020/lake.png\n2021/tree.jpg\n").encode()}


def test_photos_that_became_private_since_the_selection_are_counted_and_not_named(own):
    token = own.access_token()
    made = post(own, token, q="year:2020-2021").json
    with own.library.session() as session:
        ids = list(session.scalars(select(Photo.id).where(Photo.title == "Lake")))
        edit_photos(session, ids, private=True)
    contents = zipped(own.call("GET", f"/zip/{made['filename']}?name=file", token))
    assert list(contents) == ["tree.jpg", NOTE]
    assert contents[NOTE].decode() == HEADING + "(2 that are no longer in the library, or that you may no longer see)\n"


def begin(api, path, token):
    """The pieces of an archive that is not read yet."""
    return api.call("GET", path, token, buffered=False)


def test_visibility_is_checked_again_for_each_portion_of_an_archive(own, monkeypatch):
    monkeypatch.setattr(downloads, "_PORTION", 1)
    own.library.put("2023/large.jpg", picture(2023) + b"\0" * 300_000)
    own.library.put("2024/last.jpg", picture(2024, 48))
    own.library.index()
    token = own.access_token()
    answer = begin(own, f"/zip/{post(own, token, q='year:2023-2024').json['filename']}?name=file", token)
    pieces = iter(answer.response)
    received = [next(pieces)]
    with own.library.session() as session:
        session.query(Credential).delete()
    archive = ZipFile(BytesIO(b"".join([*received, *pieces])))
    answer.close()
    assert archive.namelist() == ["large.jpg", NOTE]
    assert (
        archive.read(NOTE).decode()
        == HEADING + "(1 that are no longer in the library, or that you may no longer see)\n"
    )


# Limits


def test_an_archive_takes_a_place_of_large_answers_until_it_is_sent(own):
    alice, ann = own.app_password(), own.app_password("ann")
    path = f"/albums/{album(1)}/dl"
    with own.library.app.app_context():
        each = current_service().settings.transfers_each
    running = [begin(own, path, alice) for _ in range(each)]
    for answer in running:
        next(iter(answer.response))
    refused = own.call("GET", path, alice)
    check_error(refused, 429)
    assert refused.headers["Retry-After"] == "10"
    assert own.call("GET", path, ann).status_code == 200
    running[0].close()
    assert own.call("GET", path, alice, buffered=True).status_code == 200
    for answer in running[1:]:
        answer.close()


def test_an_archive_over_a_limit_is_413_with_the_figure(filled, monkeypatch):
    alice = filled.app_password()
    with filled.library.app.app_context():
        settings = current_service().settings
    for patched, value, message in (
        ((zips, "MOST_FILES"), 2, "more than 2 files are selected: select fewer"),
        ((type(settings), "zip_size"), 0, "the selected files have 1 MiB, an archive may have 0 MiB: select fewer"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(*patched, value)
            for answer in (post(filled, alice, albums=[album(1)]), filled.call("GET", f"/albums/{album(1)}/dl", alice)):
                assert check_error(answer, 413)["error"] == message


def test_a_selection_that_is_not_valid_is_400_with_the_field(filled):
    alice = filled.app_password()
    for selection, field, message in (
        ({}, "photos", "No items selected"),
        ({"photos": [], "all": True, "labels": ["x"]}, "photos", "No items selected"),
        ({"q": "  "}, "photos", "No items selected"),
        ({"photos": ["../../etc/passwd"]}, "photos", "item 1 of photos is not a photo UID"),
        ({"files": ["f" * 40, "a\0b"]}, "files", "item 2 of files is not a file UID or hash"),
        ({"albums": [album(1), "p" + "0" * 15]}, "albums", "item 2 of albums is not an album UID"),
        ({"albums": [album(n) for n in range(21)]}, "albums", "more than 20 albums are selected"),
        ({"files": ["f" * 40] * 20_001}, "files", "more than 20,000 items are selected"),
        ({"photos": "p1"}, "photos", "Not a valid list."),
        ({"photos": [1]}, "photos", "is not valid"),
        ({"q": ["x"]}, "q", "Not a valid string."),
        ({"q": "nosuch:x"}, "q", None),
    ):
        (detail,) = check_error(post(filled, alice, **selection), 400)["details"]
        assert detail["field"] == field, str(selection)[:99]
        assert message in {None, detail["message"]}, str(selection)[:99]


def test_twenty_thousand_hashes_fit_into_a_request_and_a_mebibyte_does_not(filled):
    alice = filled.app_password()
    check_error(post(filled, alice, files=["f" * 40] * 20_000), 404)
    check_error(filled.call("POST", "/zip", alice, data=b" " * (1 << 20) + b"{}", content_type="application/json"), 413)
    check_error(filled.call("POST", "/zip", alice, data=b"{}"), 400)
