"""What makes the tests cheap without a difference to what they check. Processes that tests start are not concerned."""

import gc
import sys
from collections.abc import Callable
from copy import copy
from functools import wraps
from threading import current_thread, main_thread
from typing import Any, ClassVar, Self

from argon2 import PasswordHasher
from sqlalchemy import Engine
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache
from werkzeug.routing import Rule

from photosvc.auth.accounts import passwords
from photosvc.index import job
from photosvc.models.database import engine
from photosvc.workers import process
from photosvc.workers.pool import WorkerPool

#: The hasher of the service, whose cost protects real accounts.
SERVICE_HASHER = passwords._HASHER
SERVICE_PRAGMAS = engine._PRAGMAS
#: Log-ins of tests are many and their passwords no secrets.
TEST_HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
_KEPT_POOLS = 4
#: What a route is compiled from, and to.
_ROUTE = ("rule", "is_leaf", "merge_slashes", "subdomain", "host", "build_only")
_COMPILED = ("_parts", "_trace", "_converters", "arguments")


def hash_passwords_cheaply() -> None:
    """Replace the hasher of passwords; `tests/unit/auth/test_auth_passwords.py` tests the one of the service."""
    passwords._HASHER = TEST_HASHER


def leave_flushing_to_the_system() -> None:
    """Do not wait for the disk when SQLite databases are closed; what is lost when a machine fails is not tested."""
    engine._PRAGMAS = tuple(pragma.replace("NORMAL", "OFF") for pragma in SERVICE_PRAGMAS)


def collect_garbage_rarely() -> None:
    """Search for cycles after 50,000 new objects instead of 700: a request makes thousands, and few are in cycles."""
    gc.set_threshold(50_000, 20, 50)


def share_compiled_routes() -> None:
    """Compile equal routes once: each of hundreds of apps has the same hundred."""
    compile_rule: Callable[[Rule], None] = Rule.compile
    known: dict[object, Any] = {}

    @wraps(compile_rule)
    def compile_once(rule: Rule) -> None:
        key = tuple(getattr(rule, name) for name in _ROUTE)
        if rule.defaults or rule.map is None:
            compile_rule(rule)
        elif key in known:
            equal = known[key]
            vars(rule).update({name: copy(getattr(equal, name)) for name in _COMPILED})
            rule._build, rule._build_unknown = (
                method.__func__.__get__(rule) for method in (equal._build, equal._build_unknown)
            )
        else:
            compile_rule(rule)
            known[key] = rule

    Rule.compile = compile_once


def share_compiled_statements() -> None:
    """Compile equal statements once for all SQLite databases: each test has one of its own, and they are alike."""
    shared: Any = LRUCache(2000)

    def cache_of(engine: Any) -> Any:
        return shared if type(engine.dialect) is SQLiteDialect_pysqlite else vars(engine)["_compiled_cache"]

    def keep(engine: Any, cache: Any) -> None:
        vars(engine)["_compiled_cache"] = cache

    Engine._compiled_cache = property(cache_of, keep)
    # Dialects are part of the keys by which compiled statements are kept.
    SQLiteDialect_pysqlite.__eq__ = lambda one, other: type(one) is type(other)
    SQLiteDialect_pysqlite.__hash__ = lambda one: hash(type(one))


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
