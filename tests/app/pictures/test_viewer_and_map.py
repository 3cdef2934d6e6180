"""GET /photos/view and /geo: the same query language and rights as the search, in other forms."""

import re
from io import BytesIO

import pytest
from flask import Flask
from flask_sqlalchemy import SQLAlchemy
from PIL import Image

from photosvc.extension import PhotoService
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.api_client import check_error, open_api
from tests.helpers.clock import NOW, MovedClock
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import Library, migrated_database
from tests.helpers.pictures import encoded, exif, jpeg, quarters

SHOWN = ("fit_720", "fit_1280", "fit_1920", "fit_2560", "fit_4096", "fit_7680")
SECRET_LAKE = 'q=album:"secret lakes"'


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("viewer")) as api:
        with api.library.session() as session:
            fill_varied_library(session, photos=60)
        yield api


@pytest.fixture(scope="module")
def tokens(api):
    return {role: api.library.token("*", role=role) for role in ("admin", "viewer")}


@pytest.fixture(scope="module")
def admin(tokens):
    return tokens["admin"]


@pytest.fixture(scope="module")
def viewer(tokens):
    return tokens["viewer"]


def get(api, path, token, query=""):
    path, _, more = path.partition("?")
    answer = api.call("GET", path, token, query_string=query or more, buffered=True)
    assert answer.status_code == 200, answer.text
    assert answer.content_type == "application/json; charset=utf-8"
    return answer


def following(answer):
    """The path of the next page."""
    match = re.fullmatch(r'</api/v1(/.*)>; rel="next"', answer.headers.get("Link", ""))
    return match and match[1]


def search(api, token, query):
    return get(api, "/photos", token, query)


def test_lists_of_pictures_have_the_tokens_that_open_these(api, admin):
    wanted = {"previewToken": "X-Preview-Token", "downloadToken": "X-Download-Token"}
    config = get(api, "/config", admin).json
    for path in ("/photos", "/photos/view", "/geo", "/geo/view", "/albums", "/labels", "/subjects",
                 "/folders/originals", "/moments/time"):  # fmt: skip
        headers = get(api, path, admin).headers
        assert {name: headers.get(header) for name, header in wanted.items()} == {
            name: config[name] for name in wanted
        }, path
    headers = get(api, "/labels", api.access_token("labels")).headers
    assert set(wanted.values()) & set(headers.keys()) == set()


def test_a_viewer_gets_the_photos_of_the_search_in_their_order(api, admin, viewer):
    for query in (
        "count=1000",
        "order=oldest&count=7&offset=5",
        "q=lake -snow&order=title&count=1000",
        "merged=true&count=1000&order=newest",
        "merged=true&count=10&offset=3",
        "type=video&count=1000",
        "quality=0&q=&camera=0",
        "q=name:nothing",
        SECRET_LAKE,
    ):
        for token in (admin, viewer):
            expected, answer = search(api, token, query), get(api, "/photos/view", token, query)
            for header in ("X-Count", "X-Limit", "X-Offset"):
                assert answer.headers[header] == expected.headers[header], query
            copied = ("UID", "Type", "Title", "TakenAtLocal", "Description", "Favorite", "Hash", "Width", "Height")
            assert [[record[name] for name in copied] for record in answer.json] == [
                [record[name] for name in copied] for record in expected.json
            ], query
            playable = {"live", "video", "animated"}
            assert all(record["Playable"] == (record["Type"] in playable) for record in answer.json), query
            assert answer.headers["Cache-Control"] == "no-store", query


def test_the_viewer_of_the_map_shows_the_photos_of_the_map(api, viewer):
    for query in ("count=5&order=oldest", "count=1000&q=lake"):
        seen = [record["UID"] for record in get(api, "/geo/view", viewer, query).json]
        assert seen == [feature["properties"]["UID"] for feature in get(api, "/geo", viewer, query).json["features"]]
        assert seen
    record = get(api, "/geo/view", api.access_token("places"), "count=1").json[0]  # it may open no picture
    assert (record["DownloadUrl"], {thumb["src"] for thumb in record["Thumbs"].values()}) == ("", {""})
    assert following(get(api, "/geo/view", viewer, "count=5")).startswith("/geo/view?count=5&cursor=")


def test_the_pages_of_a_viewer_follow_each_other(api, viewer):
    whole = get(api, "/photos/view", viewer, "count=1000&order=newest").json
    found, address = [], "/photos/view?count=9&order=newest"
    while address:
        answer = get(api, address, viewer)
        found += answer.json
        address = following(answer)
    assert len(whole) > 20
    assert [record["Hash"] for record in found] == [record["Hash"] for record in whole]


def test_an_answer_is_the_same_in_pieces_and_however_many_rows_are_read_at_once(api, admin, monkeypatch):
    orders = ("order=newest", "order=name&offset=3", "order=relevance&q=lake", "order=random&seed=3")
    paths = [
        f"{path}?count={count}&{one}" for path in ("/photos/view", "/geo") for count in (14, 1000) for one in orders
    ]
    whole = [get(api, path, admin) for path in paths]
    nothing = get(api, "/geo?q=name:nothing", admin)
    for names in (("pages.CHUNK", "pages.PIECE"), ("window._CHUNK",)):
        for chunk in (1, 7):
            with monkeypatch.context() as patch:
                for name in names:
                    patch.setattr(f"photosvc.search.reading.{name}", chunk)
                answers = [get(api, path, admin) for path in paths]
                assert get(api, "/geo?q=name:nothing", admin).headers["Content-Length"]
            for path, answer, expected in zip(paths, answers, whole, strict=True):
                assert answer.json == expected.json != [], (path, names, chunk)
                assert names[0] != "window._CHUNK" or answer.data == expected.data, (path, chunk)
                assert names[0] == "window._CHUNK" or "Content-Length" not in answer.headers, (path, chunk)
                for header in ("X-Count", "X-Cursor", "ETag"):
                    assert answer.headers.get(header) == expected.headers.get(header), (path, names, chunk)
    assert nothing.json["features"] == []


def test_thumbnails_of_a_viewer_open_and_have_the_stated_size(tmp_path):
    with open_api(tmp_path) as api:
        api.library.put("wide.jpg", encoded(quarters(1600, 1000), "JPEG"))
        api.library.put("high.jpg", jpeg(300, 200, exif=exif({0x0112: 6})))
        api.library.index()
        token = api.library.token("photos", role="viewer")
        wide, high = get(api, "/photos/view", token, "order=name").json[::-1]
        sizes = [{"w": 720, "h": 450}, {"w": 1280, "h": 800}, *[{"w": 1600, "h": 1000}] * 4]
        for record, expected in ((wide, sizes), (high, [{"w": 200, "h": 300}] * 6)):
            assert tuple(record["Thumbs"]) == SHOWN
            for name, size in zip(SHOWN, expected, strict=True):
                thumb = record["Thumbs"][name]
                answer = api.library.app.test_client().get(thumb.pop("src"), buffered=True)
                assert (answer.status_code, answer.content_type) == (200, "image/jpeg")
                assert thumb == size
                assert Image.open(BytesIO(answer.data)).size == (size["w"], size["h"])
        answer = api.library.app.test_client().get(wide["DownloadUrl"], buffered=True)
        assert answer.data == (api.library.originals / "wide.jpg").read_bytes()
        api.clock.move(seconds=3600)
        assert api.library.app.test_client().get(wide["DownloadUrl"]).status_code == 403


def test_addresses_begin_where_the_service_is_mounted(tmp_path):
    (tmp_path / "originals").mkdir()
    (tmp_path / "originals/a.jpg").write_bytes(jpeg())
    host = Flask("host", instance_path=str(tmp_path))
    host.config.update(SQLALCHEMY_DATABASE_URI=f"sqlite:///{tmp_path}/host.db", PHOTOSVC_SECRET_KEY="k" * 32)
    db = SQLAlchemy(host)
    PhotoService(host, db=db, url_prefix="/media")

    (tmp_path / "host.db").write_bytes(migrated_database(of_a_host=True))
    library = Library(host, MovedClock(), tmp_path)
    library.index()
    token = library.token("*")
    client, headers = host.test_client(), {"X-Auth-Token": token}
    for script, root in (("", "/media/api/v1"), ("/site", "/site/media/api/v1")):
        (record,) = client.get(
            "/media/api/v1/photos/view", headers=headers, environ_overrides={"SCRIPT_NAME": script}
        ).json
        assert record["DownloadUrl"].startswith(f"{root}/dl/{record['Hash']}?t=")
        assert record["Thumbs"]["fit_720"]["src"].startswith(f"{root}/t/{record['Hash']}/")
        config = client.get("/media/api/v1/config", headers=headers, environ_overrides={"SCRIPT_NAME": script}).json
        assert (config["baseUri"], config["apiUri"]) == (root.removesuffix("/api/v1"), root)
        path = record["DownloadUrl"].removeprefix(script)
        assert client.get(path, environ_overrides={"SCRIPT_NAME": script}, buffered=True).data == jpeg()
    library.close()


def test_a_map_has_the_primary_file_of_every_photo_with_a_position(api, admin, viewer):
    for token in (admin, viewer):
        collection = get(api, "/geo", token).json
        located = search(api, token, "q=geo:yes&primary=true&count=1000").json
        assert len(located) > 15
        assert [feature["properties"]["Hash"] for feature in collection["features"]] == [
            record["Hash"] for record in located
        ]
        first, feature = located[0], collection["features"][0]
        assert feature == {
            "type": "Feature",
            "id": first["ID"],
            "geometry": {"type": "Point", "coordinates": [first["Lng"], first["Lat"]]},
            "properties": {
                name: first[name] for name in ("UID", "Hash", "Title", "Type", "TakenAt", "Favorite")
            },
        }  # fmt: skip
        assert list(collection) == ["type", "features", "bbox"]
        assert collection["type"] == "FeatureCollection"
    private = {record["UID"] for record in search(api, admin, "q=private:true&count=1000").json}
    assert private
    assert private.isdisjoint(feature["properties"]["UID"] for feature in collection["features"])


def test_the_box_of_a_map_encloses_its_photos_and_zero_degrees_are_a_position(tmp_path):
    with open_api(tmp_path) as api:
        with api.library.session() as session:
            add_photos(session, 4, NOW)
        collection = get(api, "/geo", api.access_token(), "order=name").json
        some = get(api, "/geo", api.access_token(), "order=name&latlng=52,12,-1,-1").json
    places = [feature["geometry"]["coordinates"] for feature in collection["features"]]
    assert places == [[-0.001, 0.0], [151.2153, -33.8568], [2.2945, 48.8584]]
    assert collection["bbox"] == [-0.001, -33.8568, 151.2153, 48.8584]
    assert some["bbox"] == [-0.001, 0.0, 2.2945, 48.8584]


def test_nothing_in_a_query_brings_photos_without_a_position_or_further_files_to_a_map(api, admin):
    for query in ("geo=false", "filter=geo:no", "q=geo:no", "primary=false", "merged=true", "q=-(geo:yes)"):
        answer = get(api, "/geo", admin, query)
        for feature in answer.json["features"]:
            assert api.call("GET", f"/photos/{feature['properties']['UID']}", admin).json["CellID"] != "zz", query
        uids = [feature["properties"]["UID"] for feature in answer.json["features"]]
        assert len(uids) == len(set(uids)) == int(answer.headers["X-Count"]), query
        assert bool(uids) == (query in {"primary=false", "merged=true"})


def test_a_map_has_pages_only_when_count_asks_for_them(api, viewer):
    whole = get(api, "/geo", viewer, "count=&order=oldest")
    assert (whole.headers["X-Limit"], "Link" in whole.headers) == ("100000", False)
    found, address = [], "/geo?count=4&order=oldest"
    while address:
        answer = get(api, address, viewer)
        found += answer.json["features"]
        address = following(answer)
    assert found == whole.json["features"]
    assert int(get(api, "/geo", viewer, "count=2&total=true").headers["X-Total-Count"]) == len(found)


def test_a_map_is_answered_304_while_the_library_is_unchanged(api, admin, viewer):
    first = get(api, "/geo", admin, "q=lake")
    tag = {"If-None-Match": first.headers["ETag"]}
    assert api.call("GET", "/geo?q=lake", admin, headers=tag).status_code == 304
    assert api.call("GET", "/geo?q=lake", viewer, headers=tag).status_code == 200
    assert api.call("GET", "/geo?q=snow", admin, headers=tag).status_code == 200
    head = api.call("HEAD", "/geo?q=lake", admin)
    assert (head.status_code, head.data, head.headers["ETag"]) == (200, b"", first.headers["ETag"])


def test_bad_parameters_are_refused_as_in_a_search(api, admin):
    for path in ("/geo", "/photos/view"):
        for query, status, field in (
            ("count=0", 400, "count"),
            ("offset=-1", 400, "offset"),
            ("order=best", 400, "order"),
            ("q=nosuch:1", 400, "q"),
            ("near=p000000000000000x", 400, "near"),
            ("near=pzzzzzzzzzzzzzzz", 404, "near"),
            ("s=%00", 404, "s"),
            ("cursor=x", 400, "cursor"),
            ("lat=91&lng=0", 400, "lat"),
        ):
            answer = api.call("GET", path, admin, query_string=query)
            check_error(answer, status)
            assert answer.json == search_error(api, admin, query), (path, query)
            assert answer.json["details"][0]["field"] == field, (path, query)


def search_error(api, token, query):
    return api.call("GET", "/photos", token, query_string=query).json
