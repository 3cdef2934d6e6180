"""The access log of a server."""

import json
import urllib.request

from tests.helpers.library import svc
from tests.helpers.programs.server import serve

ON = {"PHOTOSVC_ACCESS_LOG": "true"}


def test_a_server_writes_one_json_object_a_line(library):
    environ = {**ON, "PHOTOSVC_LOG_FORMAT": "json"}
    with serve(library.instance, workers=1, environ=environ) as base:
        urllib.request.urlopen(f"{base}/api/v1/healthz", timeout=20).close()
    lines = (library.instance / "gunicorn.log").read_text().splitlines()
    (line,) = [json.loads(line) for line in lines if '"photosvc.access"' in line]
    assert (line["logger"], line["path"], line["status"]) == ("photosvc.access", "/api/v1/healthz", 200)
    assert svc("users", "ls", instance=library.instance, environ=environ).stderr == ""
