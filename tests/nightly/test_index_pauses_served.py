"""An upload during the first index of a large library."""

import pytest

from tests.app.uploads.upload_client import picture
from tests.helpers.clock import until
from tests.helpers.pictures import jpeg
from tests.nightly.test_upload_faults import served

FILES = 20_000


@pytest.mark.timeout(600)
def test_an_upload_during_the_first_index_of_a_large_library_is_found_before_it_ends(tmp_path):
    with served(tmp_path) as service:
        originals = service.api.library.originals
        for number in range(FILES):
            path = originals / f"{number % 40}/{number}.jpg"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(jpeg(16, 16) + number.to_bytes(4, "big"))
        service.call("POST", "/index", json={})
        until(lambda: [run for run in service.call("GET", "/index").json()["runs"] if run["Done"] > 0], seconds=600)
        assert service.post("new", ("a.jpg", picture(1))).status_code == 200
        assert service.put("new").status_code == 200
        until(lambda: service.call("GET", "/photos?count=1&path=2024/05").json(), seconds=600)
        run = next(run for run in service.call("GET", "/index").json()["runs"] if not run["Path"])
        service.call("DELETE", "/index")
    assert run["State"] == "running"
    assert run["Done"] < FILES
