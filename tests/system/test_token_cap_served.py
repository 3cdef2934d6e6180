"""A client never has more live tokens than its limit, however many ask four gunicorn workers at once."""

import http.client
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode, urlsplit

from photosvc.core.clock import SYSTEM_CLOCK
from tests.app.oauth.oauth_client import GRANT, basic, count_live, open_oauth_api
from tests.helpers.programs.server import serve

WORKERS, ASKING, EACH = 4, 8, 20
LIMITS = (10, 1, -1)


def test_each_limit_holds_over_four_gunicorn_workers(tmp_path, new_database):
    settings = {"PHOTOSVC_DATABASE_URI": new_database(), "PHOTOSVC_BASE_URL": "https://photos.example.org"}
    with open_oauth_api(tmp_path, settings=settings) as oauth:
        oauth.library.clock.present = SYSTEM_CLOCK()  # as the workers have it
        with serve(oauth.library.instance, workers=WORKERS, environ=settings) as address:
            at = urlsplit(address)

            def ask_often(client):
                """The statuses of one after the other, and the most live tokens that were seen behind each."""
                connection, statuses, most = http.client.HTTPConnection(at.hostname, at.port, timeout=60), [], 0
                headers = {"Authorization": basic(*client), "Content-Type": "application/x-www-form-urlencoded"}
                for _ in range(EACH):
                    connection.request("POST", "/api/v1/oauth/token", urlencode(GRANT), headers)
                    answer = connection.getresponse()
                    answer.read()
                    statuses.append(answer.status)
                    most = max(most, live(oauth, client))
                connection.close()
                return statuses, most

            with ThreadPoolExecutor(ASKING) as pool:
                for limit in LIMITS:
                    client = oauth.register(limit=limit)
                    answers = [*pool.map(ask_often, [client] * ASKING)]
                    expected = limit if limit > 0 else ASKING * EACH
                    assert Counter(status for statuses, _ in answers for status in statuses) == {200: ASKING * EACH}
                    assert max(most for _, most in answers) <= expected
                    assert live(oauth, client) == expected


def live(oauth, client):
    with oauth.library.session() as session:
        return count_live(session, client.client_id, oauth.library.clock())
