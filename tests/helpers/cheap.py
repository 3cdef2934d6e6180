"""Cheaper parts for tests in place of parts of the service; the processes that tests start have the real ones.

Each takes the place of one name of photosvc (and of `os.fsync`), by means that libraries document: no part of a library
is replaced.
"""

import gc
import os
from contextlib import nullcontext
from copy import copy
from functools import cache
from itertools import count
from typing import Any

from argon2 import PasswordHasher
from flask import Flask
from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from werkzeug.routing import Map, RuleFactory

from photosvc import app as app_module
from photosvc import extension
from photosvc.auth import passwords, signing_keys
from photosvc.index import requests
from photosvc.index import run as job
from photosvc.models import engine
from photosvc.settings import Settings
from tests.helpers.clock import MovedClock
from tests.helpers.lasting_pool import LastingPool

#: The hasher of the service, whose cost protects real accounts.
REAL_HASHER = passwords._HASHER
#: Log-ins of tests are many and their passwords no secrets.
HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
REAL_PRAGMAS = engine._PRAGMAS
REAL_MOUNT = extension.mount
REAL_NEW_KEY = signing_keys._new_key
_KEYS = 8
_MOST_STATEMENTS = 2000
#: The tables of an app that blueprints fill.
_TABLES = (
    *("view_functions", "blueprints", "error_handler_spec", "before_request_funcs", "after_request_funcs"),
    *("teardown_request_funcs", "template_context_processors", "url_value_preprocessors", "url_default_functions"),
)
_engine_options = app_module.engine_options
_numbers = count()


def replace_parts() -> None:
    """Replace what takes long and is the subject of few tests."""
    gc.set_threshold(50_000, 20, 50)  # a request makes thousands of objects, and few are in cycles
    requests.frozen_heap = nullcontext  # takes 50 ms where pytest has frozen half a million objects
    # The loss of files when a machine fails is not tested; tests that count flushed files replace this function too.
    os.fsync = lambda file: os.fstat(file if isinstance(file, int) else file.fileno())  # raises for a closed file
    engine._PRAGMAS = tuple(pragma.replace("NORMAL", "OFF") for pragma in REAL_PRAGMAS)
    passwords._HASHER = HASHER
    passwords.HASHING.clock = MovedClock()  # refused log-ins pause
    signing_keys._new_key = _new_key
    app_module.engine_options = _with_shared_statements
    extension.mount = _mount_shared_routes
    job.WorkerPool = LastingPool
    registry.register("sqlite", __name__, SQLite.__name__)
    registry.register("postgresql.psycopg", __name__, Psycopg.__name__)
    Flask.jinja_options = {**Flask.jinja_options, "bytecode_cache": _Templates()}


def _new_key() -> str:
    """Return one of eight keys in turn."""
    return _key(next(_numbers) % _KEYS)


@cache
def _key(_number: int) -> str:
    return REAL_NEW_KEY()


class _Statements(dict[Any, Any]):
    """Compiled statements by dialect and statement; engines of one kind of database share them."""

    def get(self, key: Any, default: Any = None) -> Any:
        return super().get((type(key[0]), *key[1:]), default)

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= _MOST_STATEMENTS:
            self.clear()
        super().__setitem__((type(key[0]), *key[1:]), value)


_STATEMENTS = _Statements()


def _with_shared_statements(address: str) -> dict[str, Any]:
    """Return options of an engine that has no statement to compile which another one compiled."""
    return {**_engine_options(address), "execution_options": {"compiled_cache": _STATEMENTS}}


class _Equal:
    """A dialect that equals those of all other engines of its kind, whose prepared statements are the same."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self)

    def __hash__(self) -> int:
        return hash(type(self))


class SQLite(_Equal, SQLiteDialect_pysqlite):
    """The dialect of SQLite."""

    supports_statement_cache = True


class Psycopg(_Equal, PGDialect_psycopg):
    """The dialect of PostgreSQL."""

    supports_statement_cache = True


class _Templates(BytecodeCache):
    """The code of compiled templates, which apps share."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], Any] = {}

    def get_cache_key(self, name: str, filename: str | None = None) -> str:
        return f"{name} {filename}"

    def get_bucket(self, environment: Environment, name: str, filename: str | None, source: str) -> Bucket:
        escapes = environment.autoescape(name) if callable(environment.autoescape) else environment.autoescape
        means = f"{escapes} {sorted(environment.extensions)}"
        return super().get_bucket(environment, name, f"{filename} {means}", source)

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        self._code[bucket.key, bucket.checksum] = bucket.code


class _SharedRoutes(Map):
    """Routes that several apps share, and that therefore no test may change."""

    is_complete = False

    def add(self, rulefactory: RuleFactory) -> None:
        assert not self.is_complete, (
            "make an app with routes of its own: `monkeypatch.setattr(extension, 'mount', REAL_MOUNT)`"
        )
        super().add(rulefactory)


class _AppOfRoutes(Flask):
    """An app that serves nothing: others have its routes."""

    url_map_class = _SharedRoutes


_mounted: dict[object, Flask] = {}


def _mount_shared_routes(app: Flask, parts: frozenset[str], prefix: str, settings: Settings) -> None:
    """Do what `mount` does with the routes and functions of the first app with these parts; hosts have their own."""
    if app.import_name != "photosvc":
        REAL_MOUNT(app, parts, prefix, settings)
        return
    key = (parts, prefix, settings.base_url)
    if key not in _mounted:
        first = _AppOfRoutes("photosvc", static_folder=None)
        first.url_map.merge_slashes = False
        REAL_MOUNT(first, parts, prefix, settings)
        first.url_map.is_complete = True
        _mounted[key] = first
    app.url_map = _mounted[key].url_map
    for name in _TABLES:
        for place, made in getattr(_mounted[key], name).items():
            getattr(app, name)[place] = copy(made) if isinstance(made, list | dict) else made
