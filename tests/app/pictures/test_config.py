"""GET /config: the values that clients read, and counts of photos that the credential may see."""

import pytest

from photosvc import __version__
from photosvc.models import Photo
from photosvc.pictures.sizes import SIZES
from photosvc.search.rows.write import project
from tests.databases.search.varied_library import fill_varied_library
from tests.helpers.api_client import check_error, open_api
from tests.helpers.pictures import exif, jpeg


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    with open_api(tmp_path_factory.mktemp("config")) as api:
        with api.library.session() as session:
            fill_varied_library(session)
        yield api


def config(api, token):
    answer = api.call("GET", "/config", token)
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "no-store"
    return answer.json


def test_every_value_that_clients_read_is_there(api):
    session = api.log_in("ann").json
    values = config(api, session["access_token"])
    assert values == session["config"]
    assert values["years"] == [2020]
    others = {"count", "thumbs", "previewToken", "downloadToken", "years", "version", "public"}
    assert {name: values[name] for name in values if name not in others} == {
        "name": "photosvc", "edition": "photosvc", "mode": "user", "authMode": "password", "readonly": False,
        "siteTitle": "photosvc", "siteUrl": "/", "baseUri": "", "apiUri": "/api/v1",
        "contentUri": "/api/v1", "videoUri": "/api/v1",
    }  # fmt: skip
    assert (values["version"], values["public"]) == (__version__, False)
    sizes = {thumb["size"]: (thumb["w"], thumb["h"]) for thumb in values["thumbs"]}
    assert sizes == {size.name: (size.width, size.height) for size in SIZES.values()}
    assert values["thumbs"][0] == {"size": "tile_50", "use": "50 x 50 square, cropped to the centre", "w": 50, "h": 50}


def test_without_a_credential_it_says_what_an_app_asks_before_the_log_in_and_no_more(api):
    answer = api.call("GET", "/config")
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    assert answer.json == {
        "name": "photosvc", "siteTitle": "photosvc", "version": __version__, "edition": "photosvc",
        "public": False, "authMode": "password",
    }  # fmt: skip
    check_error(api.call("GET", "/config", "0" * 48), 401)


def test_it_needs_its_scope_and_the_scope_of_photos_for_tokens(api):
    check_error(api.call("GET", "/config", api.access_token("photos")), 403)
    assert config(api, api.app_password("vera", "read"))["count"]["all"] > 0
    values = config(api, api.access_token("config"))
    assert (values["previewToken"], values["downloadToken"]) == ("", "")
    assert api.call("HEAD", "/config", api.access_token("config")).status_code == 200
    values = config(api, api.library.token("*", role="viewer"))
    assert api.call("GET", f"/t/{'f' * 40}/{values['previewToken']}/fit_720").status_code == 404  # no such file
    assert api.call("GET", f"/dl/{'f' * 40}?t={values['downloadToken']}").status_code == 404


@pytest.mark.parametrize("role", ["admin", "viewer"])
def test_it_counts_only_photos_that_the_credential_may_see(api, role):
    token = api.library.token("*", role=role)

    def found(query):
        answer = api.call("GET", f"/photos?count=1&total=true&{query}", token)
        return int(answer.headers["X-Total-Count"])

    every = found("primary=true")
    live, videos = found("primary=true&type=live"), found("primary=true&type=video")
    count = config(api, token)["count"]
    records = api.call("GET", "/photos?count=1000", token).json

    def values(*names, unknown=frozenset({"zz", ""})):
        return len({row for row in (tuple(map(one.get, names)) for one in records) if not {*row} & unknown})

    assert count == {
        "all": every, "photos": every - live - videos, "live": live, "videos": videos,
        "favorites": found("primary=true&favorite=true"), "private": found("primary=true&private=true"),
        "files": found(""), "albums": {"admin": 8, "viewer": 6}[role],
        "people": len(api.call("GET", "/subjects?count=1000", token).json),
        "labels": len(api.call("GET", "/labels?count=1000", token).json), "review": found("primary=true&review=true"),
        "hidden": found("hidden=true"), "archived": found("primary=true&archived=true"),
        "cameras": values("CameraID", unknown={1}), "countries": values("Country"), "folders": values("Path"),
        "states": values("Country", "PlaceState"),
        "places": values("PlaceCity", "PlaceState", "Country", unknown={"zz"}),
        "months": values("Year", "Month", unknown={-1}),
    }  # fmt: skip
    assert (count["hidden"] > 0, count["archived"] > 0) == (role == "admin", role == "admin")
    assert (count["private"] > 0) == (role == "admin")
    assert min(count["all"], count["live"], count["videos"], count["favorites"]) > 0


def test_its_counts_and_years_follow_every_change_at_once(tmp_path):
    with open_api(tmp_path) as api:
        admin, viewer = (api.library.token("*", role=role) for role in ("admin", "viewer"))

        def found():
            seen = [config(api, token) for token in (admin, viewer)]
            return [(*map(one["count"].get, ("all", "private", "favorites")), one["years"]) for one in seen]

        assert found() == [(0, 0, 0, []), (0, 0, 0, [])]
        for year in (2019, 2021):
            api.library.put(f"{year}.jpg", jpeg(exif=exif({}, {0x9003: f"{year}:07:04 18:30:15"})))
        api.library.index()
        assert found() == [(2, 0, 0, [2021, 2019])] * 2
        with api.library.session() as session:
            photo = session.query(Photo).filter_by(year=2021).one()
            photo.private = photo.favorite = True
            project(session, [photo.id])
        assert found() == [(2, 1, 1, [2021, 2019]), (1, 0, 0, [2019])]
        assert found() == [(2, 1, 1, [2021, 2019]), (1, 0, 0, [2019])]
