"""Links of a served library."""

from urllib.parse import urljoin

import requests

from tests.app.serving import test_addresses as everyday
from tests.helpers.programs.server import serve

copied_library, filled = everyday.copied_library, everyday.filled


def test_the_links_of_a_served_library_work_on_any_port(copied_library):
    copied_library.close()
    with serve(copied_library.instance, workers=1) as address:
        answer = requests.get(
            f"{address}/api/v1/photos?count=1", headers={"X-Auth-Token": copied_library.token()}, timeout=20
        )
        following = urljoin(answer.url, answer.links["next"]["url"])
        assert following.startswith(f"{address}/api/v1/photos?count=1&cursor=")
        assert requests.get(following, headers={"X-Auth-Token": copied_library.token()}, timeout=20).status_code == 200
