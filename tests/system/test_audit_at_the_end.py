"""A server that stops records the refusals that it only counted."""

import urllib.error
import urllib.request

import pytest

from tests.helpers.audit_rows import rows
from tests.helpers.programs.forks import ROOT
from tests.helpers.programs.server import serve

TIMES = 12


def test_workers_of_the_wsgi_module_record_what_they_counted_when_the_server_stops(library):
    with serve(library.instance, options=["--chdir", str(ROOT)], workers=1, target="wsgi:app") as address:
        for _ in range(TIMES):
            request = urllib.request.Request(f"{address}/api/v1/photos", headers={"X-Auth-Token": "garbage"})
            with pytest.raises(urllib.error.HTTPError) as caught:
                urllib.request.urlopen(request, timeout=20)
            assert caught.value.code == 401
            caught.value.close()
        assert [(row.event, row.times) for row in rows(library)] == [("token.refused", 1)]
    found = rows(library)
    assert {row.event for row in found} == {"token.refused"}
    assert sum(row.times for row in found) == TIMES
