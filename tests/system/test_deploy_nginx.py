"""The shown configuration of nginx."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.library import call_svc

ODD = 'my "pictures" 100% of 2\\3'


def show(instance, *arguments, **environ):
    return call_svc("deploy", "show", *arguments, instance=instance, environ=environ)


def nginx_checks(folder: Path, text: str) -> "subprocess.CompletedProcess[str]":
    """Check a configuration by `nginx -t`, with certificates that are made here."""
    key = ["openssl", "req", "-x509", "-nodes", "-newkey", "rsa:2048", "-subj", "/CN=photos", "-days", "2"]
    subprocess.run(
        [*key, "-keyout", "privkey.pem", "-out", "fullchain.pem"], cwd=folder, capture_output=True, check=True
    )
    text = re.sub(r"/etc/letsencrypt/live/[^/]+/", f"{folder}/", text).replace("/var/log/nginx", str(folder))
    paths = "".join(
        f"{kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(f"pid {folder}/pid; error_log {folder}/error.log; events {{}} http {{ {paths} {text} }}")
    command = ["nginx", "-t", "-c", str(main), "-e", str(folder / "error.log")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


needs_nginx = pytest.mark.needs("nginx", "openssl")


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
