"""The path below which the service lies: of its base URL, or of a trusted proxy."""

import pytest

from photosvc.web.proxies import PublicPath

ADDRESS = "https://photos.home.test/photos"
CONFIG = "/api/v1/config"


@pytest.mark.parametrize(
    ("base_url", "proxies", "path", "prefix", "mount"),
    [
        (ADDRESS, 0, CONFIG, "", "/photos"),
        (ADDRESS, 0, f"/photos{CONFIG}", "", "/photos"),
        (ADDRESS, 1, CONFIG, "/photos", "/photos"),
        (ADDRESS, 1, CONFIG, "/other", "/photos"),
        ("https://photos.home.test", 1, CONFIG, "/other", ""),
        ("", 1, CONFIG, "/cut/off/", "/cut/off"),
        ("", 1, CONFIG, "/of-the-client, /of-the-proxy", "/of-the-proxy"),
        ("", 2, CONFIG, "/outer, /inner", "/outer"),
        ("", 2, CONFIG, "/inner", ""),
        *(
            ("", proxies, CONFIG, prefix, "")
            for proxies, prefix in ((0, "/cut"), (1, "//evil.example"), (1, "/a/../b"))
        ),
        *(("", 1, CONFIG, prefix, "") for prefix in ("/a b", "javascript:x", "/" + "a" * 5000)),
    ],
)
def test_the_base_url_tells_the_path_and_without_it_a_trusted_proxy(base_url, proxies, path, prefix, mount):
    seen = {}
    app = PublicPath(lambda environ, _: seen.update(environ) or [], base_url=base_url, proxies=proxies)
    app({"PATH_INFO": path, "HTTP_X_FORWARDED_PREFIX": prefix}, None)
    assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == (mount, CONFIG)


def test_an_app_that_is_mounted_in_another_app_keeps_its_path():
    seen = {}
    app = PublicPath(lambda environ, _: seen.update(environ) or [], base_url=ADDRESS, proxies=1)
    app({"SCRIPT_NAME": "/gallery", "PATH_INFO": CONFIG, "HTTP_X_FORWARDED_PREFIX": "/cut"}, None)
    assert (seen["SCRIPT_NAME"], seen["PATH_INFO"]) == ("/gallery", CONFIG)
