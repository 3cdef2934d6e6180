"""docs/pictures.md has the sizes that there are, and names commands, settings and files that exist."""

import re
import runpy
from pathlib import Path

import orjson
from click.testing import CliRunner

from photosvc.cli.deploy import Deployment, files_of
from photosvc.cli.show import show
from photosvc.settings import setting_fields

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs/pictures.md").read_text()
NGINX = files_of("nginx", Deployment())["nginx.conf"]
GUNICORN = files_of("gunicorn", Deployment())["gunicorn.conf.py"]


def test_the_guide_has_every_size_and_those_that_are_usual():
    named, usual = re.search(r"^The sizes: (.+?)\. Usual sizes(.+?)\.$", GUIDE, re.DOTALL | re.MULTILINE).groups()
    sizes = orjson.loads(CliRunner().invoke(show, ["sizes", "--json"]).output)
    assert re.findall(r"`(\w+)`", named) == [size["size"] for size in sizes]
    assert re.findall(r"`(\w+)`", usual) == [size["size"] for size in sizes if size["usual"]]


def test_every_setting_in_the_guide_and_in_the_configuration_of_nginx_exists():
    named = set(re.findall(r"PHOTOSVC_([A-Z_]+)", GUIDE + NGINX))
    assert named <= {name.upper() for name in setting_fields()}


def test_every_file_the_guide_links_to_exists():
    links = re.findall(r"\]\(([^)#]+)(#[^)]*)?\)", GUIDE)
    assert links
    assert [link for link, _ in links if not (ROOT / "docs" / link).exists()] == []


def test_the_access_log_of_gunicorn_has_no_addresses(tmp_path):
    (tmp_path / "gunicorn.conf.py").write_text(GUNICORN)
    log_format = runpy.run_path(str(tmp_path / "gunicorn.conf.py"))["access_log_format"]
    assert re.findall(r"%\((.+?)\)s", log_format) == ["h", "t", "m", "s", "B", "M"]
