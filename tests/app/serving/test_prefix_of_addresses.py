"""The path below which the service lies: of its base URL, or of a trusted proxy."""

from werkzeug.test import Client

from tests.helpers.library import open_library

ADDRESS = "https://photos.home.test/photos"


def test_the_base_url_tells_the_path_and_without_it_a_trusted_proxy(tmp_path):
    for number, (base_url, proxies, path, prefix, expected) in enumerate(
        [
            (ADDRESS, 0, "/api/v1/config", None, "/photos"),
            (ADDRESS, 0, "/photos/api/v1/config", None, "/photos"),
            (ADDRESS, 1, "/api/v1/config", "/photos", "/photos"),
            (ADDRESS, 1, "/api/v1/config", "/other", "/photos"),
            ("https://photos.home.test", 1, "/api/v1/config", "/other", ""),
            ("", 1, "/api/v1/config", "/cut/off/", "/cut/off"),
            ("", 1, "/api/v1/config", "/of-the-client, /of-the-proxy", "/of-the-proxy"),
            ("", 2, "/api/v1/config", "/outer, /inner", "/outer"),
            ("", 2, "/api/v1/config", "/inner", ""),
            ("", 0, "/api/v1/config", "/cut", ""),
            ("", 1, "/api/v1/config", "//evil.example", ""),
            ("", 1, "/api/v1/config", "/a/../b", ""),
            ("", 1, "/api/v1/config", "/a b", ""),
            ("", 1, "/api/v1/config", "javascript:x", ""),
            ("", 1, "/api/v1/config", "/" + "a" * 5000, ""),
        ]
    ):
        settings = {"PHOTOSVC_BASE_URL": base_url, "PHOTOSVC_PROXIES": proxies}
        library = open_library(tmp_path / f"{number}", settings=settings)
        headers = {"X-Auth-Token": library.token(), **({} if prefix is None else {"X-Forwarded-Prefix": prefix})}
        config = Client(library.app).get(path, headers=headers).json
        found = (config["apiUri"], config["siteUrl"])
        assert found == (f"{expected}/api/v1", f"{base_url or expected}/"), (base_url, proxies, path, prefix)
        library.close()


def test_a_page_that_is_named_as_the_path_is_found_behind_a_proxy_that_cuts_it_off(tmp_path):
    settings = {"PHOTOSVC_BASE_URL": "https://home.test/api", "PHOTOSVC_PROXIES": 1}
    library = open_library(tmp_path / "instance", settings=settings)
    for path, headers in (
        ("/api/v1/status", {"X-Forwarded-Prefix": "/api"}),
        ("/api/api/v1/status", {}),
    ):
        assert Client(library.app).get(path, headers=headers).status_code == 200, path
    library.close()
