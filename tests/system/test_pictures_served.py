"""Gunicorn with the shipped configuration."""

import runpy
import subprocess
import sys

from photosvc.cli.deploy import Deployment, files_of
from tests.helpers.library import SURROUNDINGS

NGINX = files_of("nginx", Deployment())["nginx.conf"]
GUNICORN = files_of("gunicorn", Deployment())["gunicorn.conf.py"]


def test_gunicorn_takes_the_shipped_configuration(tmp_path):
    config = tmp_path / "gunicorn.conf.py"
    config.write_text(GUNICORN)
    command = [sys.executable, "-m", "gunicorn", "--config", str(config), "--check-config", "photosvc.app:create_app()"]
    address = "https://photos.example.org"
    environ = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(tmp_path), "PHOTOSVC_BASE_URL": address}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert runpy.run_path(str(config))["bind"] in NGINX
