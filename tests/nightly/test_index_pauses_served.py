"""An upload during the first index of a large library."""

import pytest

from tests.helpers.clients.upload_client import picture
from tests.helpers.clock import until
from tests.helpers.pictures import jpeg
from tests.nightly.test_uploads_served import call, form, served

FILES = 20_000


@pytest.mark.timeout(600)
def test_an_upload_during_the_first_index_of_a_large_library_is_found_before_it_ends(tmp_path):
    with served(tmp_path, workers=2) as (api, token, url):
        for number in range(FILES):
            path = api.library.originals / f"{number % 40}/{number}.jpg"
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(jpeg(16, 16) + number.to_bytes(4, "big"))
        call("POST", f"{url}/index", token, b"{}", "application/json")
        until(lambda: [run for run in call("GET", f"{url}/index", token)[1]["runs"] if run["Done"] > 0], seconds=600)
        path = f"{url}{api.user_path()}/upload/new"
        assert call("POST", path, token, form(picture(1)))[0] == 200
        assert call("PUT", path, token, b"{}", "application/json")[0] == 200
        until(lambda: call("GET", f"{url}/photos?count=1&path=2024/05", token)[1], seconds=600)
        run = next(run for run in call("GET", f"{url}/index", token)[1]["runs"] if not run["Path"])
        call("DELETE", f"{url}/index", token)
    assert run["State"] == "running"
    assert run["Done"] < FILES
