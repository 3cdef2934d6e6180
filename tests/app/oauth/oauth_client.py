"""Registers OAuth2 clients in a library and calls the OAuth2 endpoints for them."""

import base64
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from sqlalchemy import func, select
from werkzeug.test import TestResponse

from photosvc.auth.clients import register
from photosvc.auth.scopes import parse_scope
from photosvc.models import CLIENT_TOKEN, Client, Credential
from tests.helpers.library import Library, open_library
from tests.unit.auth.operations import by_command

OAUTH = "/api/v1/oauth"
ISSUER = "https://photos.example.org"
GRANT = {"grant_type": "client_credentials"}


class Pair(NamedTuple):
    """A client's credentials."""

    client_id: str
    secret: str

    @property
    def form(self) -> dict[str, str]:
        return {"client_id": self.client_id, "client_secret": self.secret}


def basic(client_id: str, secret: str, *, encode: bool = True) -> str:
    """An Authorization header, its parts form-encoded first (RFC 6749 section 2.3.1)."""
    parts = [quote_plus(part) if encode else part for part in (client_id, secret)]
    return "Basic " + base64.b64encode(":".join(parts).encode()).decode()


@dataclass
class OAuthClients:
    """Registers clients of a library and sends their requests."""

    library: Library

    def register(self, scope: str = "photos metrics", **values: Any) -> Pair:
        """A new client."""
        with self.library.session() as session:
            operation = by_command(session, self.library.clock())
            registered = register(operation, **{"name": "frame", "scope": parse_scope(scope), **values})
            return Pair(registered.client.uid, registered.secret)

    def post(
        self,
        path: str,
        form: Mapping[str, str] | bytes | str,
        client: Pair | None = None,
        *,
        authorization: str | None = None,
        address: str = "192.0.2.7",
        **options: Any,
    ) -> TestResponse:
        """The answer to a form, from `client` by HTTP Basic."""
        headers = dict(options.pop("headers", {}))
        if client is not None:
            authorization = basic(*client)
        if authorization is not None:
            headers["Authorization"] = authorization
        options.setdefault("content_type", "application/x-www-form-urlencoded")
        return self.library.app.test_client().post(
            OAUTH + path, data=form, headers=headers, environ_base={"REMOTE_ADDR": address}, **options
        )

    def ask(self, client: Pair, **form: str) -> TestResponse:
        """The answer to a request for a token."""
        return self.post("/token", {**GRANT, **form}, client)

    def token(self, client: Pair, **form: str) -> str:
        """A fresh access token."""
        answer = self.ask(client, **form)
        assert answer.status_code == 200, answer.text
        return answer.json["access_token"]

    def is_alive(self, token: str) -> bool:
        """Whether a token is accepted."""
        return self.search(token).status_code != 401

    def search(self, token: str) -> TestResponse:
        """The answer to a search."""
        return self.library.get(token=token)

    def live_tokens(self, client: Pair) -> int:
        """How many tokens of a client live."""
        with self.library.session() as session:
            return count_live(session, client.client_id, self.library.clock())


def count_live(session: Any, client_id: str, now: Any) -> int:
    """How many tokens of a client live."""
    statement = select(func.count()).select_from(Credential).join(Client, Client.id == Credential.client_id)
    of_client = (Client.uid == client_id, Credential.kind == CLIENT_TOKEN, Credential.expires_at > now)
    return session.scalar(statement.where(*of_client))


@contextmanager
def open_oauth_api(folder: Path, **options: Any) -> Iterator[OAuthClients]:
    """A caller of a library without clients, whose base address is `ISSUER` by default."""
    settings = {"PHOTOSVC_BASE_URL": ISSUER, **options.pop("settings", {})}
    oauth = OAuthClients(open_library(folder / "instance", settings=settings, **options))
    yield oauth
    oauth.library.close()


def check_oauth_error(answer: TestResponse, status: int, error: str) -> dict[str, str]:
    """Make sure that an answer is an error in the form of RFC 6749 section 5.2; gives its body."""
    assert answer.status_code == status, answer.text
    assert answer.mimetype == "application/json"
    assert (answer.headers["Cache-Control"], answer.headers["Pragma"]) == ("no-store", "no-cache")
    body = answer.json
    assert set(body) <= {"error", "error_description"}
    assert body["error"] == error, body
    assert all(" " <= letter <= "~" and letter not in '"\\' for text in body.values() for letter in text)
    assert answer.headers.get("WWW-Authenticate") == (
        'Basic realm="photosvc", charset="UTF-8"' if status == 401 else None
    )
    return body
