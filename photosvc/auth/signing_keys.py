"""The service's own RSA keys, which sign JWT access tokens (RFC 7517).

They are in the database, encrypted with the service key, so that machines that share both share them too. The newest
one signs; a former one stays published until every token that it signed has expired.

The algorithm is RS256, because RFC 9068 section 4 requires every resource server to support it, and its signatures are
fast to check.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import orjson
from sqlalchemy import Connection, Row, delete, select
from sqlalchemy.orm import Session

from photosvc.auth.service_key import SIGNING_KEYS, encrypting_keys, known_keys, open_secret, seal
from photosvc.core.accounts import MAX_CLIENT_TOKEN_LIFETIME
from photosvc.core.clock import Clock
from photosvc.models import StoredKey
from photosvc.models.statements import insert_into
from photosvc.settings import Settings

if TYPE_CHECKING:
    from joserfc.jwk import RSAKey


ALGORITHM = "RS256"
_BITS = 2048
_STORED = select(StoredKey.number, StoredKey.sealed, StoredKey.created_at).order_by(StoredKey.number.desc())


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An RSA key with its number and times."""

    number: int
    key: "RSAKey"
    created_at: datetime
    published_until: datetime | None
    """None for the key that signs."""

    @property
    def kid(self) -> str:
        """Return the key ID in signatures: the thumbprint of RFC 7638."""
        return self.key.thumbprint()

    def public(self) -> dict[str, Any]:
        """Return the public key as a JWK."""
        return {**self.key.as_dict(private=False), "kid": self.kid, "use": "sig", "alg": ALGORITHM}

    def sign(self, claims: dict[str, Any], *, kind: str) -> str:
        """Return `claims` as a signed JWT with this `kind` in its header."""
        from joserfc import jwt

        return jwt.encode({"alg": ALGORITHM, "typ": kind, "kid": self.kid}, claims, self.key, algorithms=[ALGORITHM])


@dataclass(frozen=True, slots=True)
class SigningKeys:
    """The keys in the database. Every worker and machine notices a rotation with its next request."""

    reading: Callable[[], AbstractContextManager[Connection]]
    writing: Callable[[], AbstractContextManager[Session]]
    settings: Callable[[], Settings]
    clock: Clock

    def existing(self) -> tuple[SigningKey, ...]:
        """Return all keys that the service key opens, the newest first, and create none."""
        return self._open(self._stored())

    def current(self) -> SigningKey:
        """Return the key that signs, made on first use; raise `OtherServiceKeyError` if none can be read or made."""
        stored = self._stored()
        keys = self._open(stored)
        return keys[0] if keys else self._add(stored)

    def published(self) -> tuple[SigningKey, ...]:
        """Return the keys that tokens which are still valid may be signed with, the newest first."""
        self.current()
        now = self.clock()
        return tuple(key for key in self.existing() if key.published_until is None or now < key.published_until)

    def rotate(self) -> SigningKey:
        """Make a new key that signs from now on and return it; delete keys whose tokens have all expired."""
        return self._add(self._stored())

    def _stored(self) -> Sequence[Row[int, str, datetime]]:
        with self.reading() as connection:
            return connection.execute(_STORED).all()

    def _open(self, stored: Sequence[Row[int, str, datetime]]) -> tuple[SigningKey, ...]:
        service_keys, until, keys = known_keys(self.settings()), None, []
        for number, sealed, created_at in stored:
            key = _opened(service_keys, number, sealed)
            if key is not None:
                keys.append(SigningKey(number, key, created_at, until))
                until = created_at + timedelta(seconds=MAX_CLIENT_TOKEN_LIFETIME)
        return tuple(keys)

    def _add(self, stored: Sequence[Row[int, str, datetime]]) -> SigningKey:
        """Store a new key after the stored ones; if several processes do so at the same time, the first one wins."""
        number, now, text = stored[0].number + 1 if stored else 1, self.clock(), _new_key()
        needed = [key.number for key in self._open(stored) if key.published_until is None or now < key.published_until]
        with self.writing() as session:
            sealed = seal(encrypting_keys(session, self.settings()), text, purpose=SIGNING_KEYS, owner=number)
            row = {"number": number, "sealed": sealed, "created_at": now}
            session.execute(insert_into(StoredKey, session).values(row).on_conflict_do_nothing())
            session.execute(delete(StoredKey).where(StoredKey.number < number, StoredKey.number.not_in(needed)))
        return self.existing()[0]


def _new_key() -> str:
    from joserfc.jwk import RSAKey

    return orjson.dumps(RSAKey.generate_key(_BITS).as_dict(private=True)).decode()


@lru_cache(maxsize=8)
def _opened(service_keys: tuple[str, ...], number: int, sealed: str) -> "RSAKey | None":
    from joserfc.jwk import RSAKey

    text = open_secret(service_keys, sealed, purpose=SIGNING_KEYS, owner=number)
    return None if text is None else RSAKey.import_key(orjson.loads(text))
