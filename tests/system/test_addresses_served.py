"""Links of a served library."""

from urllib.parse import urljoin

import pytest
import requests

from tests.helpers.clock import NOW
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import copy_library, open_library
from tests.helpers.programs.server import serve


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    library = open_library(tmp_path_factory.mktemp("filled") / "instance")
    with library.session() as session:
        add_photos(session, 6, NOW)
    library.token()
    library.close()
    return library


@pytest.fixture
def copied_library(filled, tmp_path):
    library = copy_library(filled, tmp_path / "instance")
    library.tokens = dict(filled.tokens)
    yield library
    library.close()


def test_the_links_of_a_served_library_work_on_any_port(copied_library):
    copied_library.close()
    with serve(copied_library.instance, workers=1) as address:
        answer = requests.get(
            f"{address}/api/v1/photos?count=1", headers={"X-Auth-Token": copied_library.token()}, timeout=20
        )
        following = urljoin(answer.url, answer.links["next"]["url"])
        assert following.startswith(f"{address}/api/v1/photos?count=1&cursor=")
        assert requests.get(following, headers={"X-Auth-Token": copied_library.token()}, timeout=20).status_code == 200
