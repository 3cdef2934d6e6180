"""Failures counted in Redis, for services on several machines."""

import logging
from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from photosvc.auth.throttle.attempts import Charge
from photosvc.auth.throttle.database import DatabaseFailureStore, limits, milliseconds, seconds_left
from photosvc.core.errors import SettingError

_log = logging.getLogger(__name__)
_PREFIX = "photosvc:throttle:"
_TIMEOUT_SECONDS = 0.5

Answer = TypeVar("Answer")

# Redis runs a script as one step. Gives 0, or when a full bucket would be whole again.
_TAKE = """
local now, cost, capacity = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full_at = tonumber(redis.call('GET', KEYS[1]) or '0')
if full_at <= now or full_at > now + capacity then full_at = now end
if full_at + cost > now + capacity then return full_at end
redis.call('SET', KEYS[1], string.format('%.0f', full_at + cost), 'PX', capacity)
return 0
"""
_GIVE_BACK = """
local full_at = tonumber(redis.call('GET', KEYS[1]) or '0')
if full_at > 0 then redis.call('SET', KEYS[1], string.format('%.0f', full_at - tonumber(ARGV[1])), 'KEEPTTL') end
return 0
"""


class RedisFailureStore:
    """The same buckets in Redis. While it cannot be reached, the database counts instead."""

    def __init__(self, url: str) -> None:
        """Give a store at `url`; connects on first use.

        Raises:
            SettingError: the address is not valid, or the extra `redis` is not installed.

        """
        try:
            import redis
        except ImportError:
            msg = "PHOTOSVC_REDIS_URL needs the extra \"redis\": pip install 'photosvc[redis]'"
            raise SettingError(msg, field="PHOTOSVC_REDIS_URL") from None
        try:
            self._redis = redis.Redis.from_url(
                url, socket_timeout=_TIMEOUT_SECONDS, socket_connect_timeout=_TIMEOUT_SECONDS
            )
        except ValueError:
            msg = "PHOTOSVC_REDIS_URL is not the address of a Redis"
            raise SettingError(msg, field="PHOTOSVC_REDIS_URL") from None
        self._error: type[Exception] = redis.RedisError
        self._take: Callable[..., Any] = self._redis.register_script(_TAKE)
        self._give_back: Callable[..., Any] = self._redis.register_script(_GIVE_BACK)
        self._fallback = DatabaseFailureStore()

    def take(self, session: Session, charge: Charge, now: datetime) -> int:
        """Count one failure; 0, or the seconds to wait."""
        moment, (cost, capacity) = milliseconds(now), limits(charge)
        full_at = self._ask(
            lambda: int(self._take(keys=[_PREFIX + charge.key], args=[moment, cost, capacity])),
        )
        if full_at is None:
            return self._fallback.take(session, charge, now)
        return seconds_left(full_at, moment, cost, capacity) if full_at else 0

    def give_back(self, session: Session, charge: Charge, now: datetime) -> None:
        """Undo one `take`."""
        cost, _ = limits(charge)
        if self._ask(lambda: int(self._give_back(keys=[_PREFIX + charge.key], args=[cost]))) is None:
            self._fallback.give_back(session, charge, now)

    def remember(self, session: Session, key: str, until: datetime, now: datetime) -> None:
        """Know `key` until then."""
        seconds = max(1, int((until - now).total_seconds()))
        if self._ask(lambda: bool(self._redis.set(_PREFIX + key, milliseconds(until), ex=seconds))) is None:
            self._fallback.remember(session, key, until, now)

    def remembers(self, session: Session, key: str, now: datetime) -> bool:
        """Whether `key` is known."""
        until = self._ask(lambda: int(self._redis.get(_PREFIX + key) or 0))
        return self._fallback.remembers(session, key, now) if until is None else until > milliseconds(now)

    def _ask(self, question: Callable[[], Answer]) -> Answer | None:
        try:
            return question()
        except self._error as error:
            _log.warning("Redis does not count failures (%s); the database does", type(error).__name__)
            return None
