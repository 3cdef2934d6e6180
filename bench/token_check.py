"""Cost of the token check for each request: `python -m bench.token_check [ROUNDS] [REQUESTS]`.

The same views are called with and without the resource protector, alternately and in one process, so that other load
on the machine affects both; ratios are computed for each round. One view answers an empty list, one searches an empty
library. The time of a log-in follows; most of it is argon2id by design.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from flask import Response, request
from flask.testing import FlaskClient

from photosvc.app import create_app
from photosvc.auth import accounts, credentials
from photosvc.auth.scopes import parse_scope
from photosvc.models import schema
from photosvc.search.reading.pages import find
from photosvc.web.answers import json_answer, json_text
from photosvc.web.auditing import operating
from photosvc.web.contract import public
from photosvc.web.current import current_service
from photosvc.web.protector import require
from tests.helpers.queries.parsing import parse_request

_PASSWORD = "correct horse"


def prepare(instance: Path) -> tuple[FlaskClient, str]:
    """A client of an app that has each view twice, protected and open, and a token for the protected ones."""
    app = create_app(instance=instance, environ={})
    for name, view in {"empty": empty, "search": search}.items():
        app.add_url_rule(f"/open/{name}", f"open_{name}", public(lambda view=view: view()))
        app.add_url_rule(f"/protected/{name}", f"protected_{name}", require("photos.search")(lambda view=view: view()))
    with app.app_context():
        service = current_service()
        schema.upgrade(service.engine())
        user = accounts.new_user(service.now(), name="alice", password=_PASSWORD)
        with operating() as operation:
            accounts.add(operation, user)
            secret = credentials.issue(operation, name="bench", scope=parse_scope("photos albums")).secret
    return app.test_client(), secret


def empty() -> Response:
    return json_answer([])


def search() -> Response:
    """The part of the search view between the token check and the response headers."""
    with current_service().reading() as connection:
        page = find(connection, parse_request(request.args), sees_private=False)
        return json_text(page.body)


def microseconds(call: Callable[[], int], times: int, status: int = 200) -> float:
    """Mean time of one call, in microseconds."""
    started = time.perf_counter()
    for _ in range(times):
        assert call() == status
    return (time.perf_counter() - started) / times * 1e6


def compare(client: FlaskClient, secret: str, view: str, rounds: int, requests: int) -> None:
    headers = {"X-Auth-Token": secret}
    calls = [
        lambda path=path: client.get(f"/{path}/{view}", headers=headers).status_code for path in ("open", "protected")
    ]
    for call in calls:
        microseconds(call, requests)
    pairs = [[microseconds(call, requests) for call in calls] for _ in range(rounds)]
    bare, checked = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratios = sorted(after / before for before, after in pairs)
    print(
        f"{view:8} open {bare:6.0f} us, protected {checked:6.0f} us a request; ratio {statistics.median(ratios):.2f} "
        f"(from {ratios[0]:.2f} to {ratios[-1]:.2f} in {rounds} rounds of {requests})"
    )


def main(rounds: int = 15, requests: int = 400) -> None:
    with tempfile.TemporaryDirectory() as folder:
        client, secret = prepare(Path(folder))
        for view in ("empty", "search"):
            compare(client, secret, view, rounds, requests)
        body = {"username": "alice", "password": _PASSWORD}
        logins = [
            microseconds(lambda: client.post("/api/v1/session", json=body).status_code, 1) / 1000 for _ in range(40)
        ]
    low, *_, high = statistics.quantiles(logins, n=10)
    print(f"log-in   {statistics.median(logins):.1f} ms a round trip (eight of ten from {low:.1f} to {high:.1f})")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
