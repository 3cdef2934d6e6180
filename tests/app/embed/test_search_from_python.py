"""`service.search`: the search without HTTP, whose results are the records of the API."""

import typing
from datetime import UTC, date, datetime

import pytest
from flask import session
from sqlalchemy import text

from photosvc import FoundFile, FoundPhoto, HostUser, PhotoService
from photosvc.core.errors import InvalidValueError, NotFoundError, PermissionDeniedError
from photosvc.records.photos import OPTIONAL, OPTIONAL_OF_FILES, FileSchema, MarkerSchema, PhotoResultSchema
from photosvc.records.results import FoundMarker
from photosvc.search.limits import SearchTooLongError
from tests.app.embed.host import NAMES, open_host, who_signed_in

JANE = HostUser(id="jane", role="user")
PHOTOS = "/media/api/v1/photos"


@pytest.fixture
def host(tmp_path):
    with open_host(tmp_path / "host", principal_loader=who_signed_in) as app:
        yield app


def names(found):
    return sorted(photo["FileName"] for photo in found)


def test_it_finds_the_photos_that_the_principal_may_see(host):
    search = host.service.search
    assert names(search()) == ["lake.jpg", "moon.jpg"]
    assert names(search(principal=JANE)) == list(NAMES)
    assert names(search(principal=HostUser(id="v"))) == ["lake.jpg", "moon.jpg"]
    assert names(search("lake", principal=JANE)) == ["lake.jpg"]


def test_a_principal_whose_scope_does_not_cover_searching_is_refused(host):
    with pytest.raises(PermissionDeniedError):
        host.service.search(principal=HostUser(id="a", scope="albums"))


def test_a_principal_that_is_none_is_refused(host):
    with pytest.raises(TypeError, match=r"principal must be a photosvc\.HostUser or None, not str"):
        host.service.search(principal="admin")


def test_it_takes_the_parameters_and_filters_of_the_api(host):
    search = host.service.search
    page = search("lake|moon", count=1, order="name", total=True, primary=True)
    assert (names(page), page.count, page.limit, page.offset, page.total) == (["lake.jpg"], 1, 1, 0, 2)
    following = search("lake|moon", count=1, order="name", primary=True, cursor=page.cursor)
    assert (names(following), following.offset) == (["moon.jpg"], 1)
    assert search("lake|moon", count=1, order="name", cursor=following.cursor).cursor is None
    assert names(search(filename="lake.jpg")) == ["lake.jpg"]
    assert names(search(before=date(2000, 1, 1))) == []
    assert search("lake")[0]["FileName"] == "lake.jpg"
    assert len(search(after=datetime(2000, 1, 1, tzinfo=UTC), year=None)) == 2


def test_merged_results_have_their_files(host):
    (photo,) = host.service.search("lake", merged=True)
    assert (photo["Merged"], [file["Name"] for file in photo["Files"]]) == (True, ["lake.jpg"])


@pytest.mark.parametrize(
    ("parameters", "field", "sentence"),
    [
        ({"camra": "X"}, "camra", '"camra" is no parameter or filter of the search; did you mean "camera"?'),
        ({"limit": 5}, "limit", '"limit" is no parameter or filter of the search'),
        ({"count": 0}, "count", "count must be a whole number from 1"),
        ({"order": "best"}, "order", ""),
        ({"q": "nosuch:1"}, "q", ""),
    ],
)
def test_mistakes_name_the_parameter(host, parameters, field, sentence):
    with pytest.raises(InvalidValueError) as refused:
        host.service.search(**parameters)
    assert refused.value.field == field
    assert refused.value.message.startswith(sentence)


def test_an_album_that_does_not_exist_is_not_found(host):
    with pytest.raises(NotFoundError):
        host.service.search(s="as00000000000000")


def test_the_results_are_those_of_the_api(host):
    client = host.test_client()
    client.post("/sign-in/user")
    for query in ("order=name", "order=name&merged=true"):
        answer = client.get(f"{PHOTOS}?{query}")
        found = host.service.search(principal=JANE, order="name", merged="merged" in query).photos
        assert list(found) == answer.json
        assert len(found) == 3


def test_the_types_of_the_results_have_every_field_of_the_schemas():
    kinds = {"String": str, "Timestamp": str, "Integer": int, "Boolean": bool, "Decimal": float}
    for typed, schema in ((FoundPhoto, PhotoResultSchema), (FoundFile, FileSchema), (FoundMarker, MarkerSchema)):
        hints, fields = typing.get_type_hints(typed), schema().fields
        assert list(hints) == list(fields), typed
        for name, field in fields.items():
            assert hints[name] == kinds.get(type(field).__name__, hints[name]), name
    assert FoundPhoto.__optional_keys__ == set(OPTIONAL)
    assert FoundFile.__optional_keys__ == set(OPTIONAL_OF_FILES)


def test_it_works_within_a_request_an_app_context_and_neither(host):
    @host.get("/gallery")
    def gallery():
        return ",".join(names(host.service.search(principal=who_signed_in())))

    client = host.test_client()
    assert client.get("/gallery").text == "lake.jpg,moon.jpg"
    client.post("/sign-in/admin")
    assert client.get("/gallery").text == "lake.jpg,moon.jpg,secret.jpg"
    with host.app_context():
        assert len(host.service.search()) == 2
    assert len(host.service.search()) == 2


def test_it_leaves_the_transactions_and_the_session_of_the_request_alone(host):
    db = host.extensions["sqlalchemy"]

    class Note(db.Model):
        id = db.Column(db.Integer, primary_key=True)

    with host.app_context():
        db.create_all()

    @host.get("/noting")
    def noting():
        db.session.add(Note())
        session["seen"] = True
        found = len(host.service.search())
        db.session.flush()
        found += len(host.service.search())
        db.session.commit()  # would wait for a reader that is left open, without a write-ahead log
        return str(found)

    with host.app_context():
        assert db.session.execute(text("PRAGMA journal_mode")).scalar() == "delete"
        db.session.execute(text("PRAGMA busy_timeout=100"))
    assert host.test_client().get("/noting").text == "4"
    with host.app_context():
        assert db.session.query(Note).count() == 1


def test_an_app_of_many_uses_the_library_of_the_current_one(tmp_path):
    service = PhotoService()
    with pytest.raises(RuntimeError, match="photosvc is not mounted on any app: call init_app first"):
        service.search()
    with open_host(tmp_path / "first") as first, open_host(tmp_path / "second") as second:
        (tmp_path / "second/host.db").unlink()
        with first.app_context():
            assert len(second.service.search()) == 2


def test_a_search_that_takes_too_long_is_ended(tmp_path, monkeypatch):
    from photosvc.search.limits import RunningSearch

    with open_host(tmp_path / "host") as app:
        app.service.search()
        monkeypatch.setattr(RunningSearch, "deadline", property(lambda _: 0.0))
        monkeypatch.setattr("photosvc.search.limits._INSTRUCTIONS", 1)
        with pytest.raises(SearchTooLongError):
            app.service.search("lake", order="relevance")


def test_thumbnail_addresses_open_for_the_user_who_is_signed_in(host):
    @host.get("/picture")
    def picture():
        (photo,) = host.service.search("lake")
        return host.service.thumbnail_url(photo["Hash"], "tile_100", who_signed_in())

    client = host.test_client()
    client.post("/sign-in/viewer")
    address = client.get("/picture").text
    assert address.startswith("/media/api/v1/t/")
    with client.get(address) as answer:
        assert (answer.status_code, answer.content_type) == (200, "image/jpeg")
    with host.test_client().get(address) as answer:
        assert answer.status_code == 403
    behind = host.test_client()
    behind.post("/sign-in/viewer")
    assert behind.get("/picture", environ_overrides={"SCRIPT_NAME": "/app"}).text.startswith("/app/media/api/v1/t/")


def test_thumbnail_addresses_outside_of_requests_begin_with_the_public_one(tmp_path):
    config = {"PHOTOSVC_BASE_URL": "https://host.example.org/media"}
    with open_host(tmp_path / "host", config=config, principal_loader=who_signed_in) as app:
        address = app.service.thumbnail_url("0" * 40, "fit_720", JANE)
    assert address.startswith("https://host.example.org/media/api/v1/t/" + "0" * 40 + "/host")
    with open_host(tmp_path / "other", principal_loader=who_signed_in) as app:
        assert app.service.thumbnail_url("0" * 40, "fit_720", JANE).startswith("/media/api/v1/t/" + "0" * 40)


def test_thumbnails_that_nobody_could_open_are_refused(tmp_path):
    with open_host(tmp_path / "first") as app, pytest.raises(RuntimeError, match="need the part media and a principal"):
        app.service.thumbnail_url("0" * 40, "tile_100", JANE)
    options = {"parts": ("search",), "principal_loader": who_signed_in}
    with open_host(tmp_path / "second", **options) as app, pytest.raises(RuntimeError, match="need the part media"):
        app.service.thumbnail_url("0" * 40, "tile_100", JANE)


def test_a_thumbnail_of_a_size_that_does_not_exist_is_refused(host):
    with pytest.raises(InvalidValueError, match='"huge" is no size of thumbnails'):
        host.service.thumbnail_url("0" * 40, "huge", JANE)
