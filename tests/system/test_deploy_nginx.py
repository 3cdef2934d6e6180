"""The shown configuration of nginx."""

import re

import pytest

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
    assert listens == expected.get(address, {"80"})
