"""Access to thumbnails: tokens, the credentials behind them, and the rights of their owners."""

from itertools import count

import pytest

from tests.app.pictures.picture_client import BROWSER, PictureClient
from tests.helpers.api_client import HASH, check_error, open_api
from tests.helpers.factories.accounts import add_user
from tests.helpers.pictures import encoded, quarters

NUMBERS = count()
SEES_ALL, SEES_LITTLE = ("admin", "user"), ("viewer",)


def test_every_role_and_client_opens_thumbnails_and_originals_of_public_photos(pictures):
    library, api = pictures.library, pictures.api
    roles = {role: library.token("photos", role=role) for role in (*SEES_ALL, *SEES_LITTLE)}
    for name, credential in {
        **roles,
        "client": api.client_token("photos"),
        "token": api.access_token("photos"),
    }.items():
        preview, download = pictures.tokens(credential)
        for file, status in (("photo.jpg", 200), ("private.jpg", 200 if name in SEES_ALL else 404)):
            assert pictures.thumbnail(pictures.hash_of(file), "tile_100", preview).status_code == status, (name, file)
            assert pictures.download(pictures.hash_of(file), download).status_code == status, (name, file)


def test_a_photo_that_the_owner_of_a_token_may_not_see_does_not_exist_for_it(pictures):
    for role in (*SEES_ALL, *SEES_LITTLE):
        status = 200 if role in SEES_ALL else 404
        preview, download = pictures.tokens(pictures.library.token("photos", role=role))
        for name in ("private.jpg", "hidden.jpg", "archived.jpg"):
            content_hash, uid = pictures.hash_of(name), pictures.photo_uid(name)
            primary = pictures.api.call("GET", f"/photos/{uid}/dl?t={download}", buffered=True)
            answers = (pictures.thumbnail(content_hash, "tile_100", preview), pictures.download(content_hash, download))
            assert {answer.status_code for answer in (primary, *answers)} == {status}, (role, name)


def test_a_file_that_is_missing_has_neither_thumbnail_nor_download(pictures):
    content_hash, uid = pictures.hash_of("missing.jpg"), pictures.photo_uid("missing.jpg")
    check_error(pictures.thumbnail(content_hash), 404)
    check_error(pictures.download(content_hash), 404)
    check_error(pictures.api.call("GET", f"/photos/{uid}/dl?t={pictures.tokens()[1]}"), 404)


def test_a_damaged_picture_can_be_downloaded(pictures):
    content_hash = pictures.hash_of("half.jpg")
    _, viewer = pictures.tokens(pictures.library.token("photos", role="viewer"))
    assert pictures.download(content_hash).status_code == 200
    check_error(pictures.download(content_hash, viewer), 404)


def broken(token):
    """The token cut, changed and lengthened."""
    yield from (token[:-1], token[1:], token + "x", token.upper(), token[: len(token) // 2], "x", "." * 3, "x" * 5000)
    yield from (token.replace("-", "", 1), token[:-1] + ("A" if token[-1] != "A" else "B"), f"{token}%00", f"{token}é")


def test_a_token_that_is_not_ours_opens_nothing(pictures):
    preview, download = pictures.tokens()
    content_hash = pictures.hash_of("photo.jpg")
    access = pictures.library.token("photos", role="admin")
    for token in (*broken(preview), *broken(download), access, "public"):
        check_error(pictures.thumbnail(content_hash, "tile_100", token), 403)
    for token in (*broken(download), preview, access):
        check_error(pictures.download(content_hash, token), 403)


def test_a_refused_token_says_nothing_about_the_picture_and_is_an_icon_for_clients_that_want_an_image(pictures):
    known = pictures.thumbnail(pictures.hash_of("photo.jpg"), token="x")
    unknown = pictures.thumbnail("0" * 40, token="x")
    assert (known.status_code, known.json) == (unknown.status_code, unknown.json)
    answer = pictures.thumbnail(pictures.hash_of("photo.jpg"), token="x", Accept=BROWSER)
    assert (answer.status_code, answer.content_type) == (403, "image/svg+xml")
    download = pictures.api.call("GET", f"/dl/{pictures.hash_of('photo.jpg')}", headers={"Accept": BROWSER})
    assert (download.status_code, download.content_type) == (401, "image/svg+xml")
    assert download.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A library whose clock and users change, and the hash of its picture."""
    with open_api(tmp_path_factory.mktemp("own")) as api:
        pictures = PictureClient(api)
        yield pictures, pictures.put("a.png", encoded(quarters(60, 40), "PNG"))


def test_a_download_token_ends_after_an_hour_and_a_preview_token_does_not(own):
    pictures, content_hash = own
    preview, download = pictures.tokens(pictures.api.app_password(new_user(pictures), "photos"))
    pictures.api.clock.move(minutes=59)
    assert pictures.download(content_hash, download).status_code == 200
    assert pictures.thumbnail(content_hash, "tile_50", download).status_code == 200
    pictures.api.clock.move(minutes=1)
    check_error(pictures.download(content_hash, download), 403)
    check_error(pictures.thumbnail(content_hash, "tile_50", download), 403)
    pictures.api.clock.move(days=300)
    assert pictures.thumbnail(content_hash, "tile_50", preview).status_code == 200


def log_out(api, _, token):
    assert api.call("DELETE", "/session", token).status_code == 200


def disable(api, name, _):
    assert api.svc("users", "mod", name, "--disable").returncode == 0


def remove(api, name, _):
    assert api.svc("users", "rm", name, "--yes").returncode == 0


def shrink(api, name, _):
    assert api.svc("users", "mod", name, "--role", "viewer").returncode == 0


def let_it_end(api, *_):
    api.clock.move(minutes=59)
    api.clock.move(days=8)


def change_password(api, name, _):
    assert api.svc("passwd", name, "--password-stdin", stdin="another password\n").returncode == 0


def new_user(pictures):
    """The name of a user of its own."""
    with pictures.library.session() as session:
        return add_user(session, f"user{next(NUMBERS)}", "user", password_hash=HASH).name


def test_both_tokens_end_with_their_credential(own):
    pictures, content_hash = own
    for end in (log_out, disable, remove, shrink, let_it_end, change_password):
        name = new_user(pictures)
        session = pictures.api.session_of(name)
        preview, download = pictures.tokens(session)
        assert pictures.thumbnail(content_hash, "tile_50", preview).status_code == 200, end
        assert pictures.download(content_hash, download).status_code == 200, end
        end(pictures.api, name, session)
        for answer in (
            pictures.thumbnail(content_hash, "tile_50", preview),
            pictures.thumbnail(content_hash, "tile_50", download),
            pictures.download(content_hash, download),
        ):
            assert answer.status_code == 403, end
            check_error(answer, 403)


def test_an_access_token_in_a_header_downloads_and_its_scope_decides(pictures):
    content_hash = pictures.hash_of("photo.jpg")
    allowed, other = pictures.api.access_token("photos"), pictures.api.access_token("metrics")
    assert pictures.api.call("GET", f"/dl/{content_hash}", allowed, buffered=True).status_code == 200
    check_error(pictures.api.call("GET", f"/dl/{content_hash}", other), 403)
    check_error(pictures.api.call("GET", f"/dl/{content_hash}"), 401)
    check_error(pictures.api.call("GET", f"/dl/{content_hash}", "0" * 48), 401)
