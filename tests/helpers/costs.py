"""What makes the tests cheap without a difference to what they check. Processes that tests start are not concerned."""

import gc
import os
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext
from copy import copy
from datetime import datetime
from functools import cache, partial, wraps
from itertools import count
from operator import attrgetter
from threading import current_thread, main_thread
from typing import Any, ClassVar, Self

import orjson
from argon2 import PasswordHasher
from flask import Blueprint
from jinja2 import Environment
from joserfc.jwk import RSAKey
from sqlalchemy import Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Map, Rule, RuleFactory
from werkzeug.routing.matcher import StateMachineMatcher

from photosvc import extension, mounting
from photosvc.app import _App
from photosvc.auth import passwords, signing_keys
from photosvc.index import requested
from photosvc.index import run as job
from photosvc.models import engine
from photosvc.settings import Settings
from photosvc.workers import process
from photosvc.workers.pool import WorkerPool

#: The hasher of the service, whose cost protects real accounts.
SERVICE_HASHER = passwords._HASHER
SERVICE_PRAGMAS = engine._PRAGMAS
#: Log-ins of tests are many and their passwords no secrets.
TEST_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_KEPT_POOLS = 4
_KEPT_KEYS = 8
#: What routes are compiled from, and what of each set of paths was compiled: with that, the matcher and the rules.
_ROUTE = attrgetter(
    *("__class__", "rule", "endpoint", "methods", "defaults", "strict_slashes", "merge_slashes", "subdomain", "host"),
    *("build_only", "redirect_to", "alias", "websocket", "provide_automatic_options"),
)
_MAP = attrgetter("host_matching", "redirect_defaults", "merge_slashes", "default_subdomain", "converters")
_COMPILED: dict[tuple[str, ...], list[tuple[Any, StateMachineMatcher, dict[Any, list[Rule]]]]] = {}


def save() -> None:
    """Make everything cheap that this module can make cheap."""
    collect_garbage_rarely()
    hash_passwords_cheaply()
    leave_flushing_to_the_system()
    share_compiled_routes()
    share_mounted_routes()
    share_compiled_templates()
    share_compiled_statements()
    share_signing_keys()
    keep_index_workers()


def hash_passwords_cheaply() -> None:
    """Replace the hasher of passwords; `tests/unit/auth/test_auth_passwords.py` tests the one of the service."""
    passwords._HASHER = TEST_HASHER


#: How the service makes a signing key.
SERVICE_NEW_KEY = signing_keys._new_key


def share_signing_keys() -> None:
    """Make eight RSA keys for all services of this process in turn, and check each once: both take long."""
    make, load = RSAKey.generate_key, RSAKey.import_key
    made = [cache(partial(make, signing_keys._BITS)) for _ in range(_KEPT_KEYS)]
    known: dict[str, RSAKey] = {}
    number = count()

    def new_key(now: datetime) -> str:
        key = made[next(number) % _KEPT_KEYS]()
        known[key.thumbprint()] = key
        return orjson.dumps({**key.as_dict(private=True), "created_at": now}).decode()

    def load_once(data: Any, *arguments: Any, **options: Any) -> RSAKey:
        same = (key for key in known.values() if key.as_dict(private=True) == data)
        return next(same, None) or load(data, *arguments, **options)

    signing_keys._new_key = new_key
    RSAKey.import_key = load_once


def leave_flushing_to_the_system() -> None:
    """Do not wait for the disk when files are flushed and SQLite databases are closed.

    What is lost when a machine fails is not tested; that files are flushed, tests that take the place of `os.fsync`.
    """
    os.fsync = _do_not_flush
    engine._PRAGMAS = tuple(pragma.replace("NORMAL", "OFF") for pragma in SERVICE_PRAGMAS)


def _do_not_flush(file: Any) -> None:
    os.fstat(file if isinstance(file, int) else file.fileno())  # raises what `fsync` raises for a closed file


def collect_garbage_rarely() -> None:
    """Search for cycles after 50,000 new objects instead of 700: a request makes thousands, and few are in cycles."""
    gc.set_threshold(50_000, 20, 50)
    # Index runs look how many objects are frozen, which takes 50 ms where pytest has frozen half a million.
    requested.frozen_heap = nullcontext


def share_compiled_routes() -> None:
    """Compile the routes of equal apps once, with the first request: 140 ms for each of thousands of apps."""
    Rule.provide_automatic_options = None  # Flask sets it, Werkzeug does not know it
    Map.add, Map.update = _add_routes, _compile_routes_once


def _add_routes(self: Map, factory: RuleFactory) -> None:
    for rule in factory.get_rules(self):
        if rule.map is not None:
            rule.bind(self)  # raises what it raises outside of tests
        for name, default in (("strict_slashes", None), ("merge_slashes", None), ("subdomain", "default_subdomain")):
            if getattr(rule, name) is None:
                setattr(rule, name, getattr(self, default or name))
        vars(self).setdefault("_added", []).append(rule)
    self._remap = True


def _compile_routes_once(self: Map) -> None:
    if not self._remap:
        return
    with self._remap_lock:
        rules = vars(self).get("_added", [])
        found = (_MAP(self), [_ROUTE(rule) for rule in rules])
        alike = _COMPILED.setdefault(tuple(rule.rule for rule in rules), [])
        equal = next((one for one in alike if one[0] == found), None)
        if equal is None:
            _compile_routes(self, rules)
            equal = (found, self._matcher, self._rules_by_endpoint)
            alike.append(equal)
        _, self._matcher, self._rules_by_endpoint = equal
        self._remap = False


def _compile_routes(self: Map, rules: list[Rule]) -> None:
    self._matcher, self._rules_by_endpoint = StateMachineMatcher(self.merge_slashes), {}
    for rule in rules:
        rule.bind(self, rebind=True)
        if not rule.build_only:
            self._matcher.add(rule)
        self._rules_by_endpoint.setdefault(rule.endpoint, []).append(rule)
    self._matcher.update()
    for same in self._rules_by_endpoint.values():
        same.sort(key=Rule.build_compare_key)


#: The blueprints that are shared: those of the API and the pages.
_MANY_ROUTES = {"photosvc", "photosvc_pages"}
#: The tables of an app that blueprints fill, each by names of their own.
_TABLES = (
    *("view_functions", "blueprints", "error_handler_spec", "before_request_funcs", "after_request_funcs"),
    *("teardown_request_funcs", "template_context_processors", "url_value_preprocessors", "url_default_functions"),
)


def share_mounted_routes() -> None:
    """Give the routes of an app of photosvc to all that are mounted alike: 8 ms for each of thousands."""
    extension.blueprints = _shared_blueprints


def _shared_blueprints(parts: frozenset[str], prefix: str, settings: Settings) -> Iterator[tuple[Any, str]]:
    for blueprint, path in mounting.blueprints(parts, prefix, settings):
        # Those of WebDAV keep the service of their app, and the others are few.
        yield _Shared(blueprint, parts) if blueprint.name in _MANY_ROUTES else blueprint, path


class _Shared:
    """A blueprint that is mounted once, and whose routes and functions the next apps get from the first one."""

    _mounted: ClassVar[dict[object, tuple[list[Rule], dict[str, dict[Any, Any]]]]] = {}

    def __init__(self, blueprint: Blueprint, parts: frozenset[str]) -> None:
        self._blueprint, self._parts = blueprint, parts

    def register(self, app: Any, options: dict[str, Any]) -> None:
        """Do what `Blueprint.register` does."""
        if type(app) is not _App:
            self._blueprint.register(app, options)
            return
        rules: list[Rule] = vars(app.url_map).setdefault("_added", [])
        key = (self._blueprint.name, self._parts, *options.items())
        if key not in self._mounted:
            count, before = len(rules), {name: set(getattr(app, name)) for name in _TABLES}
            self._blueprint.register(app, options)
            tables = {name: _own(getattr(app, name), but=before[name]) for name in _TABLES}
            self._mounted[key] = rules[count:], tables
            return
        added, tables = self._mounted[key]
        rules += added
        app.url_map._remap = True
        for name, made in tables.items():
            getattr(app, name).update(_own(made))


def _own(table: dict[Any, Any], *, but: Collection[Any] = ()) -> dict[Any, Any]:
    """A table with lists and tables of its own."""
    return {
        key: copy(value) if isinstance(value, list | dict) else value for key, value in table.items() if key not in but
    }


def share_compiled_templates() -> None:
    """Compile equal templates once: 130 ms for each app that shows four pages."""
    compile_template: Callable[..., Any] = Environment.compile
    known: dict[object, Any] = {}

    @wraps(compile_template)
    def compile_once(
        self: Environment, source: Any, name: str | None = None, filename: str | None = None, *rest: Any, **options: Any
    ) -> Any:
        escaped = self.autoescape(name) if callable(self.autoescape) else self.autoescape
        key = (source, name, filename, rest, *options.items(), type(self), escaped, *self.extensions)
        key += (*self.filters, *self.tests)
        if not isinstance(source, str):
            return compile_template(self, source, name, filename, *rest, **options)
        if key not in known:
            known[key] = compile_template(self, source, name, filename, *rest, **options)
        return known[key]

    Environment.compile = compile_once


def share_compiled_statements() -> None:
    """Compile equal statements once for all databases of a kind: 25 ms for each app that answers three requests."""
    dialects = (SQLiteDialect_pysqlite, PGDialect_psycopg)
    shared: Any = LRUCache(2000)

    def cache_of(engine: Any) -> Any:
        return shared if type(engine.dialect) in dialects else vars(engine)["_compiled_cache"]

    def keep(engine: Any, cache: Any) -> None:
        vars(engine)["_compiled_cache"] = cache

    Engine._compiled_cache = property(cache_of, keep)
    # Dialects are part of the keys by which compiled statements are kept.
    for dialect in dialects:
        dialect.__eq__ = lambda one, other: type(one) is type(other)
        dialect.__hash__ = lambda one: hash(type(one))


def keep_index_workers() -> None:
    """Let index runs of this process use the idle workers of earlier runs; `WorkerPool` itself stays as it is."""
    job.WorkerPool = _LastingPool


def end_index_workers() -> None:
    """End the workers that no run used again."""
    _LastingPool.end_idle(0)


class _LastingPool(WorkerPool[Any, Any]):
    """A pool that leaves its idle workers to the next one with the same function, limits and environment."""

    _idle: ClassVar[dict[object, list[process.Worker[Any]]]] = {}

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        limits = (self._function, self._size, self._timeout, self._memory_bytes)
        self._key = (*limits, tuple(sys.path), tuple(process._environment().items()))

    def __enter__(self) -> Self:
        if current_thread() is main_thread():
            self._workers = [worker for worker in self._idle.pop(self._key, ()) if worker.is_alive]
        return self

    def __exit__(self, *error: object) -> None:
        # Linux ends the workers with the thread that started them.
        if current_thread() is main_thread() and not self._busy():
            self.end_idle(_KEPT_POOLS - 1)
            self._idle[self._key] = self._workers
        else:
            super().__exit__(*error)

    @classmethod
    def end_idle(cls, kept: int) -> None:
        """End the workers of all pools but the last ones."""
        while len(cls._idle) > kept:
            for worker in cls._idle.pop(next(iter(cls._idle))):
                worker.end(patience=1)
