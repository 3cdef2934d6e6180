"""The service's own RSA keys, which sign JWT access tokens (RFC 7517).

They are in the database, encrypted with the service key, so that machines that share both share them too. The key with
the highest number signs. The others stay published until every token they signed has expired.

The algorithm is RS256, because RFC 9068 section 4 requires every resource server to support it, and its signatures are
fast to check.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import orjson
from joserfc.errors import JoseError
from sqlalchemy import Connection, delete, func, select
from sqlalchemy.orm import Session

from photosvc.auth.errors import OtherServiceKeyError
from photosvc.auth.keys import SIGNING_KEYS, encrypting_key, key_owner, open_secret, seal
from photosvc.core.accounts import MAX_CLIENT_TOKEN_LIFETIME
from photosvc.core.clock import Clock
from photosvc.core.errors import SettingError
from photosvc.models import StoredKey
from photosvc.models.statements import insert_into
from photosvc.settings import Settings

if TYPE_CHECKING:
    from joserfc.jwk import RSAKey


ALGORITHM = "RS256"
_BITS = 2048
#: The numbers and the beginnings of the ciphertexts, which differ from one encryption to the next.
_STAMP: Final = select(StoredKey.number, func.substr(StoredKey.sealed, 1, 16)).order_by(StoredKey.number.desc())


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An RSA key with its number and times."""

    number: int
    key: "RSAKey"
    created_at: datetime
    published_until: datetime | None = None
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


class SigningKeys:
    """The keys in the database. Every worker and machine notices a rotation with its next request."""

    def __init__(
        self,
        reading: Callable[[], AbstractContextManager[Connection]],
        writing: Callable[[], AbstractContextManager[Session]],
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._reading = reading
        self._writing = writing
        self._settings = settings
        self._clock = clock
        self._stamp: list[Any] = []
        """Numbers and nonces of the known keys."""
        self._known: tuple[SigningKey, ...] = ()

    def existing(self) -> tuple[SigningKey, ...]:
        """Return all keys, the newest first, and create none; raise `SettingError` if one cannot be read."""
        with self._reading() as connection:
            stamp = list(connection.execute(_STAMP).all())
            if stamp != self._stamp:
                self._known = self._load(connection)
                self._stamp = stamp
        return self._known

    def current(self) -> SigningKey:
        """Return the key that signs, made on first use; raise `SettingError` if it can be neither read nor made."""
        return (self.existing() or self._add_first())[0]

    def published(self) -> tuple[SigningKey, ...]:
        """Return the keys whose signatures may still be valid, the newest first."""
        self.current()
        now = self._clock()
        return tuple(key for key in self.existing() if key.published_until is None or now < key.published_until)

    def rotate(self) -> SigningKey:
        """Make a new key that signs from now on and return it; delete keys that are no longer published."""
        published = {key.number for key in self.published()}
        number = self.current().number + 1
        with self._writing() as session:
            self._insert(session, number, _new_key(self._clock()))
            session.execute(delete(StoredKey).where(StoredKey.number.not_in({*published, number})))
        return self.existing()[0]

    def _add_first(self) -> tuple[SigningKey, ...]:
        """Store a new key; among several processes the first one wins."""
        text = _new_key(self._clock())
        with self._writing() as session:
            # Others wait for this row: a second process finds the keys of the first one.
            key = encrypting_key(session, self._settings())
            if session.scalar(select(func.count()).select_from(StoredKey)) == 0:
                self._insert(session, 1, text, key=key)
        return self.existing()

    def _insert(self, session: Session, number: int, text: str, *, key: str | None = None) -> None:
        key = key or encrypting_key(session, self._settings())
        sealed = seal(key, text, purpose=SIGNING_KEYS, owner=key_owner(number))
        row = {"number": number, "sealed": sealed}
        session.execute(insert_into(StoredKey, session).values(row).on_conflict_do_nothing())

    def _load(self, connection: Connection) -> tuple[SigningKey, ...]:
        keys: list[SigningKey] = []
        rows = connection.execute(select(StoredKey.number, StoredKey.sealed).order_by(StoredKey.number.desc())).all()
        for number, sealed in rows:
            text = open_secret(self._settings(), sealed, purpose=SIGNING_KEYS, owner=key_owner(number))
            if text is None:
                raise OtherServiceKeyError
            try:
                keys.append(_key(number, text, keys[-1] if keys else None))
            except (ValueError, KeyError, TypeError, JoseError) as error:
                raise SettingError(f"the signing keys cannot be used: {type(error).__name__}") from None
        return tuple(keys)


def _new_key(now: datetime) -> str:
    from joserfc.jwk import RSAKey

    key = RSAKey.generate_key(_BITS)
    return orjson.dumps({**key.as_dict(private=True), "created_at": now}).decode()


def _key(number: int, text: str, newer: SigningKey | None) -> SigningKey:
    from joserfc.jwk import RSAKey

    data = orjson.loads(text)
    created_at = datetime.fromisoformat(data.pop("created_at"))
    until = newer.created_at + timedelta(seconds=MAX_CLIENT_TOKEN_LIFETIME) if newer else None
    return SigningKey(number, RSAKey.import_key(data), created_at, until)
