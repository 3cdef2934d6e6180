"""A client never has more live tokens than its limit, however many ask at once, on both databases."""

import multiprocessing
from pathlib import Path

import pytest

from photosvc.app import create_app
from photosvc.web.current import current_service
from tests.oauth_client import GRANT, basic, count_live, open_oauth_api

PROCESSES = 8


def ask_often(instance, settings, clients, count, start, outcomes):
    """In a process of its own: ask `count` times for each client in turn, count its live tokens after each."""
    app = create_app(instance=Path(instance), settings=settings, environ={})
    http, found = app.test_client(), []
    for client in clients:
        start.wait()
        statuses, most = [], 0
        for _ in range(count):
            headers = {"Authorization": basic(*client)}
            statuses.append(http.post("/api/v1/oauth/token", data=GRANT, headers=headers).status_code)
            with app.app_context():
                service = current_service()
                with service.reading() as connection:
                    most = max(most, count_live(connection, client[0], service.now()))
        found.append((statuses, most))
    outcomes.put(found)


def race(instance, settings, clients, count):
    """For each client the statuses of all answers, and the most tokens that any process ever saw."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["photosvc.app", "registered"])
    start, outcomes = context.Barrier(PROCESSES), context.Queue()
    arguments = (str(instance), settings, [tuple(client) for client in clients], count, start, outcomes)
    processes = [context.Process(target=ask_often, args=arguments) for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    found = [outcomes.get(timeout=100) for _ in processes]
    for process in processes:
        process.join(20)
    for of_client in zip(*found, strict=True):
        yield [status for statuses, _ in of_client for status in statuses], max(most for _, most in of_client)


@pytest.fixture
def settings(new_database):
    return {"PHOTOSVC_DATABASE_URI": new_database(), "PHOTOSVC_BASE_URL": "https://photos.example.org"}


def live(oauth, client):
    with oauth.library.session() as session:
        return count_live(session, client.client_id, oauth.library.clock())


def test_eight_processes_at_once_never_pass_the_limit(tmp_path, settings):
    with open_oauth_api(tmp_path, settings=settings) as oauth:
        # The other processes read the real clock: tokens must not look expired to anybody.
        from photosvc.core.clock import system_clock

        oauth.library.clock.present = system_clock()
        limits = (1, 10, -1)
        clients = [oauth.register(limit=limit) for limit in limits]
        outcomes = race(oauth.library.instance, settings, clients, 5)
        for limit, client, (statuses, most) in zip(limits, clients, outcomes, strict=True):
            assert statuses == [200] * 40
            assert (most <= limit) if limit > 0 else (most == 40)
            assert live(oauth, client) == (limit if limit > 0 else 40)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_the_limit_holds_through_thirty_rounds_of_eight_processes(tmp_path, settings):
    with open_oauth_api(tmp_path, settings=settings) as oauth:
        from photosvc.core.clock import system_clock

        oauth.library.clock.present = system_clock()
        for number in range(30):
            limit = (10, 1, 3)[number % 3]
            client = oauth.register(limit=limit)
            ((statuses, most),) = race(oauth.library.instance, settings, [client], 20)
            assert statuses == [200] * 160
            assert most <= limit
            assert live(oauth, client) == limit


def test_a_limit_lowered_while_tokens_are_issued_holds(tmp_path, settings):
    from photosvc.auth.oauth.clients import Changes, change_client

    with open_oauth_api(tmp_path, settings=settings) as oauth:
        client = oauth.register(limit=5)
        tokens = [oauth.token(client) for _ in range(5)]
        with oauth.library.session() as session:
            change_client(session, client.client_id, oauth.library.clock(), Changes(limit=2))
        assert [oauth.is_alive(token) for token in tokens] == [False] * 3 + [True] * 2
        oauth.token(client)
        assert live(oauth, client) == 2
