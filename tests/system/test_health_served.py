"""Servers that cannot work: which start, and their sentences."""

import json
import os
import urllib.error
import urllib.request

import pytest

from tests.app.serving.test_health import with_another_key
from tests.helpers.programs import forks
from tests.helpers.programs.forks import SURROUNDINGS
from tests.helpers.programs.server import serve

WORKER = ("--config", "python:photosvc.serving")


def refused(instance, **environ):
    """The log of a server that ends by itself."""
    arguments = ("--bind", "127.0.0.1:0", "--no-control-socket", *WORKER, "photosvc.app:create_app()")
    with open(os.devnull) as nothing, (instance / "log").open("w+") as log:  # noqa: PTH123
        streams = (nothing.fileno(), log.fileno(), log.fileno())
        surroundings = {**SURROUNDINGS, "PHOTOSVC_INSTANCE": str(instance), **environ}
        server = forks.start("gunicorn", *arguments, environ=surroundings, streams=streams)
        try:
            assert server.wait(20) != 0
        finally:
            server.terminate()
        return (instance / "log").read_text()


def test_a_server_with_another_service_key_does_not_start(library, tmp_path):
    other = with_another_key(library, tmp_path / "other")
    other.close()
    said = refused(other.instance)
    assert "\nThe database belongs to another service key than this process has: put the right one into " in said
    assert "Traceback" not in said


def test_a_server_whose_settings_are_wrong_says_so_in_one_sentence(library):
    said = refused(library.instance, PHOTOSVC_PROXIES="many")
    assert "\nPHOTOSVC_PROXIES (environment) is not valid: expected a whole number" in said
    assert "Traceback" not in said


def test_a_server_starts_without_its_database_and_says_that_it_is_not_ready(tmp_path):
    environ = {"PHOTOSVC_DATABASE_URI": "postgresql+psycopg://nobody@127.0.0.1:9/none"}
    with serve(tmp_path, workers=1, options=WORKER, environ=environ) as base:
        with urllib.request.urlopen(f"{base}/api/v1/healthz", timeout=10) as answer:
            assert json.load(answer)["status"] == "alive"
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(f"{base}/api/v1/readyz", timeout=10)
        assert caught.value.code == 503
        caught.value.close()
