"""The path below which the service lies, in its addresses and beside a page of that name."""

from werkzeug.test import Client

from tests.helpers.library import open_library


def test_a_page_that_is_named_as_the_path_is_found_behind_a_proxy_that_cuts_it_off(tmp_path):
    settings = {"PHOTOSVC_BASE_URL": "https://home.test/api", "PHOTOSVC_PROXIES": 1}
    library = open_library(tmp_path / "instance", settings=settings)
    for path, headers in (
        ("/api/v1/status", {"X-Forwarded-Prefix": "/api"}),
        ("/api/api/v1/status", {}),
    ):
        assert Client(library.app).get(path, headers=headers).status_code == 200, path
    library.close()


def test_the_path_that_a_trusted_proxy_cuts_off_is_in_addresses(tmp_path):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_PROXIES": 1})
    headers = {"X-Auth-Token": library.token(), "X-Forwarded-Prefix": "/cut"}
    config = Client(library.app).get("/api/v1/config", headers=headers).json
    assert (config["apiUri"], config["siteUrl"]) == ("/cut/api/v1", "/cut/")
    library.close()
