"""A client never has more live tokens than its limit, however many ask at once, on both databases."""

import multiprocessing

import pytest

from photosvc.web.current import current_service
from tests.helpers.clients.oauth_client import GRANT, basic, count_live, open_oauth_api
from tests.helpers.operations import by_command
from tests.helpers.programs.processes import at_once

PROCESSES = 8


def race(library, settings, clients, count):
    """For each client the statuses of all answers, and the most tokens that any process ever saw.

    Every process asks `count` times for each client in turn, and counts its live tokens after each.
    """
    start = multiprocessing.get_context("fork").Barrier(PROCESSES, timeout=60)

    def ask_often(_number, own, _random):
        http, found = own.app.test_client(), []
        for client in clients:
            start.wait()
            statuses, most = [], 0
            for _ in range(count):
                headers = {"Authorization": basic(*client)}
                statuses.append(http.post("/api/v1/oauth/token", data=GRANT, headers=headers).status_code)
                with own.app.app_context():
                    service = current_service()
                    with service.reading() as connection:
                        most = max(most, count_live(connection, client[0], service.now()))
            found.append((statuses, most))
        return found

    for of_client in zip(*at_once(library, ask_often, processes=PROCESSES, settings=settings), strict=True):
        yield [status for statuses, _ in of_client for status in statuses], max(most for _, most in of_client)


@pytest.fixture
def settings(new_database):
    return {"PHOTOSVC_DATABASE_URI": new_database(), "PHOTOSVC_BASE_URL": "https://photos.example.org"}


def live(oauth, client):
    with oauth.library.session() as session:
        return count_live(session, client.client_id, oauth.library.clock())


@pytest.mark.slow
def test_eight_processes_at_once_never_pass_the_limit(tmp_path, settings):
    with open_oauth_api(tmp_path, settings=settings) as oauth:
        limits = (1, 10, -1)
        clients = [oauth.register(limit=limit) for limit in limits]
        outcomes = race(oauth.library, settings, clients, 5)
        for limit, client, (statuses, most) in zip(limits, clients, outcomes, strict=True):
            assert statuses == [200] * 40
            assert (most <= limit) if limit > 0 else (most == 40)
            assert live(oauth, client) == (limit if limit > 0 else 40)


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("rounds", [3, pytest.param(30, marks=pytest.mark.long)])
def test_the_limit_holds_through_rounds_of_eight_processes(tmp_path, settings, rounds):
    with open_oauth_api(tmp_path, settings=settings) as oauth:
        for number in range(rounds):
            limit = (10, 1, 3)[number % 3]
            client = oauth.register(limit=limit)
            ((statuses, most),) = race(oauth.library, settings, [client], 20)
            assert statuses == [200] * 160
            assert most <= limit
            assert live(oauth, client) == limit


def test_a_limit_lowered_while_tokens_are_issued_holds(tmp_path, settings):
    from photosvc.auth.clients import change

    with open_oauth_api(tmp_path, settings=settings) as oauth:
        client = oauth.register(limit=5)
        tokens = [oauth.token(client) for _ in range(5)]
        with oauth.library.session() as session:
            change(by_command(session, oauth.library.clock()), client.client_id, {"limit": 2})
        assert [oauth.is_alive(token) for token in tokens] == [False] * 3 + [True] * 2
        oauth.token(client)
        assert live(oauth, client) == 2
