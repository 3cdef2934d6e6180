"""A client of the HTTP API and the command line, and users with credentials that call them."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path
from shutil import copytree
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory
from typing import Any
from zlib import crc32

from click.testing import CliRunner
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from photosvc.cli import svc
from photosvc.models import CLIENT_TOKEN, User
from photosvc.models.engine import begin_write
from tests.helpers.cheap import HASHER
from tests.helpers.clock import MovedClock
from tests.helpers.factories.accounts import add_client, add_credential, add_token, add_user
from tests.helpers.library import DATABASE, Library, open_library

API = "/api/v1"
PASSWORD = "correct horse"
HASH = HASHER.hash(PASSWORD)
ROLES = {"ann": "admin", "alice": "user", "vera": "viewer"}


def in_chunks(body: bytes) -> dict[str, Any]:
    """Options for a request of a test client whose body has no length, as servers pass on one that came in chunks."""
    environ = {"HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    return {"input_stream": BytesIO(body), "environ_overrides": environ}


@dataclass
class ApiClient:
    """Calls a library with the users `ann` (admin), `alice` (user) and `vera` (viewer)."""

    library: Library
    uids: dict[str, str] = field(default_factory=dict)

    @property
    def clock(self) -> MovedClock:
        return self.library.clock

    def call(
        self,
        method: str,
        path: str,
        token: str | None = None,
        *,
        json: object = None,
        address: str = "192.0.2.7",
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> TestResponse:
        """The answer to a request from `address`, with the token in `Authorization: Bearer`; the path is the API's."""
        headers = {**(headers or {}), **({"Authorization": f"Bearer {token}"} if token else {})}
        if json is not None:
            options["json"] = json
        return self.library.app.test_client().open(
            path if path.startswith("/.") else API + path,
            method=method,
            headers=headers,
            environ_base={"REMOTE_ADDR": address},
            **options,
        )

    def log_in(self, name: str = "alice", password: str = PASSWORD, address: str = "192.0.2.7", **body: object) -> Any:
        """The answer to a log-in."""
        return self.call("POST", "/session", json={"username": name, "password": password, **body}, address=address)

    def session_of(self, name: str = "alice", password: str = PASSWORD) -> str:
        """The access token of a fresh login session."""
        answer = self.log_in(name, password)
        assert answer.status_code == 200, answer.text
        return answer.json["access_token"]

    def app_password(self, name: str = "alice", scope: str = "*", lifetime: int = -1) -> str:
        """The secret of a fresh app password."""
        with self.library.session() as session:
            begin_write(session)  # others may write meanwhile
            user = session.query(User).filter_by(name=name).one()
            return add_token(session, self.clock(), scope, user=user, name="frame", lifetime=lifetime)

    def access_token(self, scope: str = "*", lifetime: int = -1) -> str:
        """A fresh client access token."""
        with self.library.session() as session:
            begin_write(session)
            return add_token(session, self.clock(), scope, name="frame", lifetime=lifetime)

    def client_token(self, scope: str = "*", role: str = "client", **values: object) -> str:
        """An access token of a fresh registered client."""
        with self.library.session() as session:
            client = add_client(session, role=role, scope=scope)
            return add_credential(session, CLIENT_TOKEN, scope, client_id=client.id, **values)

    def svc(self, *arguments: str, stdin: str | bytes = "") -> CompletedProcess[str]:
        """The result of a command run in this process without a terminal."""
        app = self.library.app
        done = CliRunner().invoke(svc, arguments, obj=lambda: app, input=stdin, prog_name="svc", catch_exceptions=False)
        return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)

    def user_path(self, name: str = "alice", rest: str = "") -> str:
        """The path of an account."""
        return f"/users/{self.uids[name]}{rest}"

    def is_alive(self, token: str) -> bool:
        """Return whether a token is accepted; each is shown from its own address, as failures are limited."""
        number = crc32(token.encode())
        address = f"198.19.{number >> 8 & 255}.{number & 255}"
        status = self.call("GET", "/credential", token, address=address).status_code
        assert status in {204, 401}, status
        return status != 401


@contextmanager
def open_api(folder: Path, *, like: ApiClient | None = None, **options: Any) -> Iterator[ApiClient]:
    """A client of a library with the users of `ROLES`; their password is `PASSWORD`.

    With `like`, the library is a copy of that closed one; a database outside of its instance folder is given.
    """
    if like:
        copytree(like.library.instance, folder / "instance")
        api = ApiClient(open_library(folder / "instance", upgrade=False, **options))
        api.library.tokens |= like.library.tokens
    else:
        api = ApiClient(open_library(folder / "instance", **({"database": database_with_users()} | options)))
    with api.library.session() as session:
        if not session.scalar(select(User.id)):
            _add_users(session)
        api.uids.update(session.execute(select(User.name, User.uid)).all())
    yield api
    api.library.close()


@cache
def database_with_users() -> bytes:
    """An SQLite database with the users of `ROLES`."""
    with TemporaryDirectory() as folder:
        library = open_library(Path(folder))
        with library.session() as session:
            _add_users(session)
        library.close()
        return (library.instance / DATABASE).read_bytes()


def _add_users(session: Session) -> None:
    for name, role in ROLES.items():
        add_user(session, name, role, password_hash=HASH)


def check_error(answer: TestResponse, status: int, code: int | None = None) -> dict[str, Any]:
    """Make sure that an answer is the one error shape; gives its body."""
    assert answer.status_code == status, answer.text
    assert answer.content_type == "application/json; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    body = answer.json
    assert set(body) in ({"code", "error"}, {"code", "error", "details"}), body
    assert body["code"] == (code or status)
    assert isinstance(body["error"], str)
    assert body["error"]
    assert all(set(detail) == {"field", "message"} for detail in body.get("details", ()))
    refuses_tokens = status == 401 or body["error"] == "the request shows two different tokens; send one"
    assert ("WWW-Authenticate" in answer.headers) == refuses_tokens or status == 403
    return body
