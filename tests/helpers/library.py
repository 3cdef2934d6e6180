"""A library for tests: its folder, its app, its tokens and its clock; databases and settings without an app."""

import hashlib
import os
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, CompletedProcess, run
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from click.testing import CliRunner
from flask import Flask
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from photosvc.app import create_app
from photosvc.cli import svc as commands
from photosvc.core.problems import Problem
from photosvc.index.run import run_index
from photosvc.index.run_log import IndexOptions, Outcome, Status, Summary
from photosvc.models import SCHEMA_VERSION, Base, LibraryState, SearchDocument, SearchRow, schema
from photosvc.models.engine import begin_write, configure_engine
from photosvc.models.schema import schema_version
from photosvc.search.reading.pages import join_results
from photosvc.settings import Settings, load_settings
from photosvc.web.service import current_service
from tests.helpers.clock import NOW, MovedClock
from tests.helpers.factories.accounts import add_token, add_user
from tests.helpers.programs import forks
from tests.helpers.programs.forks import SURROUNDINGS
from tests.helpers.shared import shared_bytes

#: Where test libraries are served, the issuer of those that have no public address.
ADDRESS = "http://localhost:8080"
#: Ends every Bearer challenge of a service with this address (RFC 9728 section 5.1).
RESOURCE = ', resource_metadata="http://localhost:8080/.well-known/oauth-protected-resource"'
DATABASE = "photosvc.db"
SVC = Path(sys.executable).with_name("svc")
CAMERA_ORIGINALS = Path(os.environ.get("TEST_PHOTOS") or Path(__file__).resolve().parents[3] / "shared/photos")


@dataclass
class IndexRun:
    """The summary of an index run, with the files that it skipped and those that failed."""

    summary: Summary
    skipped: list[tuple[str, Problem]]
    failed: list[tuple[str, Problem]]

    def __getattr__(self, name: str) -> Any:
        """A count of the summary."""
        return getattr(self.summary, name)


@dataclass
class Library:
    """A photosvc app of its own, with originals below its instance folder."""

    app: Flask
    clock: MovedClock
    instance: Path
    tokens: dict[str, str] = field(default_factory=dict)

    @property
    def settings(self) -> Settings:
        with self.app.app_context():
            return current_service().settings

    @property
    def originals(self) -> Path:
        return self.instance / "originals"

    def put(self, name: str | bytes, data: bytes, *, age: float = 3600) -> Path:
        """Write an original whose last change lies `age` seconds back."""
        path = Path(os.fsdecode(os.path.join(os.fsencode(self.originals), os.fsencode(name))))  # noqa: PTH118 - bytes
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        changed = int(NOW.timestamp() - age)
        os.utime(path, (changed, changed))
        return path

    def index(self, **options: Any) -> IndexRun:
        """One index run, with one worker."""
        files: list[Outcome] = []
        given = IndexOptions(**{"workers": 1, **options})
        with self.app.app_context():
            service = current_service()
            with Session(service.engine()) as session:
                summary = run_index(session, service.settings, self.clock, given, observer=files.append)
        skipped, failed = (
            [(file.name, file.problem) for file in files if file.status is status and file.problem]
            for status in (Status.SKIPPED, Status.FAILED)
        )
        assert (summary.skipped, summary.failed) == (len(skipped), len(failed))
        return IndexRun(summary, skipped, failed)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session on the app's database; commits at the end."""
        with self.app.app_context(), Session(current_service().engine()) as session:
            yield session
            session.commit()

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """The statements that the database runs inside of the block, without their values."""
        with self.app.app_context():
            engine = current_service().engine()
        noted: list[str] = []
        event.listen(engine, "before_cursor_execute", note := lambda *given: noted.append(given[2]))
        try:
            yield noted
        finally:
            event.remove(engine, "before_cursor_execute", note)

    def token(self, scope: str = "*", *, role: str = "") -> str:
        """The secret of an access token, or of an app password of a user with this role."""
        key = f"{role}/{scope}"
        if key not in self.tokens:
            with self.session() as session:
                begin_write(session)
                user = add_user(session, name=f"user{len(self.tokens)}", role=role) if role else None
                self.tokens[key] = add_token(session, self.clock(), scope, user=user)
        return self.tokens[key]

    def get(
        self, parameters: Mapping[str, object] | str = "", *, token: str | None = None, path: str = "/api/v1/photos"
    ) -> TestResponse:
        """The answer to a search."""
        headers = {"X-Auth-Token": token or self.token()}
        # As servers do, the client closes the answer when it has read it: one that streams holds a connection.
        return self.app.test_client().get(path, query_string=parameters, headers=headers, buffered=True)

    def call(self, method: str, path: str, status: int = 200, *, token: str | None = None, **options: Any) -> Any:
        """The body of an answer of the API that must have this status."""
        headers = {"X-Auth-Token": token or self.token()}
        answer = self.app.test_client().open(f"/api/v1{path}", method=method, headers=headers, **options)
        assert answer.status_code == status, (method, path, options, answer.text)
        return answer.json if answer.is_json else answer.text

    def close(self) -> None:
        """Close the connections of the database."""
        with self.app.app_context():
            current_service().engine().dispose()

    def find(self, *, token: str | None = None, **parameters: object) -> list[dict[str, Any]]:
        """The records of a search that must succeed."""
        answer = self.get(parameters, token=token)
        assert answer.status_code == 200, answer.text
        return answer.json

    def names(self, **parameters: object) -> list[str]:
        """The file names of a search, sorted."""
        return sorted(record["FileName"] for record in self.find(**parameters))

    def stored(self) -> dict[str, tuple[str, str, dict[str, Any]]]:
        """File UID -> texts and columns of its search row."""
        with self.session() as session:
            columns = [column.key for column in SearchRow.__table__.columns]
            return {
                row.file_uid: (
                    join_results([document.result_head]),
                    document.file,
                    {
                        "file_name": orjson.loads(document.file)["Name"],
                        **{name: getattr(row, name) for name in columns},
                    },
                )
                for row, document in session.query(SearchRow, SearchDocument).filter(
                    SearchRow.file_id == SearchDocument.file_id
                )
            }


def open_library(
    instance: Path,
    *,
    settings: Mapping[str, object] | None = None,
    upgrade: bool = True,
    database: bytes = b"",
    **options: Any,
) -> Library:
    """A library in an empty folder, with its tables or with this SQLite database."""
    (instance / "originals").mkdir(parents=True, exist_ok=True)
    clock = MovedClock()
    options = {"address": ADDRESS, **options}
    settings = {"PHOTOSVC_TIMEZONE": "UTC", **(settings or {})}
    app = create_app(instance=instance, settings=settings, environ={}, clock=clock, **options)
    if upgrade:
        with app.app_context():
            engine = current_service().engine()
            if engine.url.database == str(instance.absolute() / DATABASE):
                engine.dispose()
                (instance / DATABASE).write_bytes(database or migrated_database())
            elif not _is_migrated(engine):
                schema.upgrade(engine)
    return Library(app, clock, instance)


def _is_migrated(engine: Engine) -> bool:
    """Whether its schema is the newest one: Alembic takes a tenth of a second to find that out."""
    with engine.connect() as connection:
        return schema_version(connection) == SCHEMA_VERSION


def copy_library(closed: Library, instance: Path, *, settings: Mapping[str, object] | None = None) -> Library:
    """A library with the files and the SQLite database of a closed one."""
    shutil.copytree(closed.instance, instance)
    return open_library(instance, settings=settings, upgrade=False)


@cache
def migrated_database(*, of_a_host: bool = False) -> bytes:
    """An SQLite database with its tables, configured or left as a host's: to make one takes longer than most tests."""

    def make() -> bytes:
        with TemporaryDirectory() as folder:
            engine = create_engine(f"sqlite:///{folder}/{DATABASE}")
            if not of_a_host:
                configure_engine(engine)
            schema.upgrade(engine)
            engine.dispose()
            return Path(folder, DATABASE).read_bytes()

    return shared_bytes("of_a_host.db" if of_a_host else "migrated.db", make)


@cache
def database_of_models() -> bytes:
    """An SQLite database with the tables of the models and no version."""
    with TemporaryDirectory() as folder:
        engine = create_engine(f"sqlite:///{folder}/{DATABASE}")
        Base.metadata.create_all(engine)
        engine.dispose()
        return Path(folder, DATABASE).read_bytes()


def reasons(files: Iterable[tuple[str, Problem]]) -> list[tuple[str, str]]:
    """Names of skipped or failed files with the sentences that people read."""
    return [(name, problem.sentence) for name, problem in files]


def counts(summary: IndexRun) -> tuple[int, ...]:
    """How many files were indexed, updated, unchanged, missing, skipped and failed."""
    found = (summary.indexed, summary.updated, summary.unchanged, summary.missing)
    return (*found, len(summary.skipped), len(summary.failed))


def changes(library: Library) -> int:
    """The change counter of the library."""
    with library.session() as session:
        return session.get_one(LibraryState, "changes").value


def hashes(folder: Path) -> dict[bytes, str]:
    """Name -> SHA-256, mode and time of every regular file below a folder."""
    found = {}
    for path in sorted(os.fsencode(path) for path in folder.rglob("*") if path.is_file() and not path.is_symlink()):
        status = os.stat(path)  # noqa: PTH116 - bytes
        with open(path, "rb") as file:  # noqa: PTH123 - bytes
            digest = hashlib.sha256(file.read()).hexdigest()
        found[path] = f"{digest} {status.st_mode} {status.st_mtime_ns}"
    return found


def call_svc(*arguments: str, instance: Path, environ: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    """Run a command as `svc` does, but in this process: starting an interpreter takes a second, a command some ms."""
    apps: list[Flask] = []

    def make_app() -> Flask:
        apps.append(create_app(environ={"PHOTOSVC_INSTANCE": str(instance), **(environ or {})}))
        return apps[-1]

    done = CliRunner().invoke(commands, arguments, obj=make_app, prog_name="svc", catch_exceptions=False)
    for app in apps:
        with app.app_context():
            current_service().engine().dispose()
    return CompletedProcess(arguments, done.exit_code, done.stdout, done.stderr)


def svc(
    *arguments: str,
    instance: Path,
    environ: Mapping[str, str] | None = None,
    command: tuple[str, ...] = (),
    timeout: float = 60,
) -> CompletedProcess[str]:
    """Run the command line in a process of its own without a terminal."""
    environ = {"PHOTOSVC_INSTANCE": str(instance), **(environ or {})}
    if not command and all(name.startswith("PHOTOSVC_") for name in environ):
        return forks.run(*arguments, environ={**SURROUNDINGS, **environ}, timeout=timeout)
    return run(
        [*(command or (str(SVC),)), *arguments],
        env={**SURROUNDINGS, **environ},
        stdin=DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def new_engine(folder: Path, name: str = "auth.db") -> Engine:
    """An SQLite database with the tables of the models and no app."""
    (folder / name).write_bytes(database_of_models())
    engine = create_engine(f"sqlite:///{folder / name}")
    configure_engine(engine)
    return engine


@contextmanager
def open_session(folder: Path) -> Iterator[Session]:
    """A session on a database of its own; as in `Service.writing`, all of its transactions hold the write lock."""
    engine = new_engine(folder).execution_options(photosvc_writes=True)
    with Session(engine) as session:
        yield session
    engine.dispose()


def new_settings(folder: Path, **given: object) -> Settings:
    """The settings of an instance folder with a fixed secret key and these values, named as `Settings` names them."""
    values = {f"PHOTOSVC_{name.upper()}": value for name, value in given.items()}
    return load_settings(folder, overrides={"PHOTOSVC_SECRET_KEY": "k" * 32, **values})
