"""The shown configuration of nginx."""

import re

import pytest

from photosvc.cli.deploy import Deployment, files_of
from tests.app.cli.test_deploy_commands import ODD, needs_nginx, nginx_checks, show


@needs_nginx
@pytest.mark.parametrize("address", ["", "https://photos.home.test", "http://192.168.1.20:8000", "http://h.test/a.b/c"])
def test_nginx_accepts_its_file_for_any_address_and_names_of_folders(tmp_path, address):
    behind = ("--behind", "192.0.2.1", "--behind", "2001:db8::/32") if address else ()
    done = show(tmp_path / "instance", "nginx", *behind, PHOTOSVC_ORIGINALS=f"/srv/{ODD}", PHOTOSVC_BASE_URL=address)
    assert done.returncode == 0, done.stderr
    checked = nginx_checks(tmp_path, done.stdout)
    assert "syntax is ok" in checked.stderr
    trusted = re.findall("set_real_ip_from (.*);", done.stdout)
    assert trusted == (["192.0.2.1", "2001:db8::/32"] if behind else [])
    listens = set(re.findall(r"listen (?:\[::\]:)?([^;]+);", done.stdout))
    expected = {"https://photos.home.test": {"80", "443 ssl"}, "http://192.168.1.20:8000": {"8000"}}
    assert {one.removesuffix(" http2") for one in listens} == expected.get(address, {"80"})


@needs_nginx
def test_nginx_listens_at_the_port_of_the_public_address_and_at_chosen_addresses(tmp_path):
    given = ("--listen", "192.0.2.5", "--listen", "2001:db8::5", "--hsts", "1y", "--bind", "unix:/run/p/g.sock")
    done = show(tmp_path / "instance", "nginx", *given, PHOTOSVC_BASE_URL="https://photos.home.test:8443")
    checked = nginx_checks(tmp_path, done.stdout)
    assert "syntax is ok" in checked.stderr
    listens = [one.removesuffix(" http2") for one in re.findall("listen ([^;]+);", done.stdout)]
    assert listens == ["192.0.2.5:80", "[2001:db8::5]:80", "192.0.2.5:8443 ssl", "[2001:db8::5]:8443 ssl"]
    assert "return 301 https://$host:8443$request_uri;" in done.stdout
    assert "server unix:/run/p/g.sock;" in done.stdout


@pytest.mark.parametrize("is_new", [True, False])
def test_http_2_is_said_as_the_version_of_nginx_wants_it(is_new):
    text = files_of("nginx", Deployment(base_url="https://h.test", new_http2=is_new))["nginx.conf"]
    assert (text.count("http2 on;"), text.count("ssl http2;")) == ((1, 0) if is_new else (0, 2))
    assert "http2" not in files_of("nginx", Deployment(base_url="http://h.test"))["nginx.conf"]
