"""The service's own RSA keys, which sign its metadata and JWT access tokens (RFC 7517).

They are files `1.json`, `2.json`, … in a folder only the service can read. The one with the highest number signs. The
others stay published until every token they signed has expired.

RS256, because RFC 9068 section 4 requires every resource server to support it, and its signatures are fast to check.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
from joserfc.errors import JoseError

from photosvc.core.accounts import MAX_CLIENT_TOKEN_LIFETIME
from photosvc.core.clock import Clock
from photosvc.core.errors import SettingError
from photosvc.core.paths import read_or_create

if TYPE_CHECKING:  # 4 MB of memory that only signing needs
    from joserfc.jwk import RSAKey

ALGORITHM = "RS256"
_BITS = 2048
#: Signed documents that are kept. There is one for each base address and set of routes.
_MOST_SIGNED = 8


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One key."""

    number: int
    key: "RSAKey"
    created_at: datetime
    published_until: datetime | None = None
    """None for the key that signs."""

    @property
    def kid(self) -> str:
        """The key ID in signatures: the thumbprint of RFC 7638."""
        return self.key.thumbprint()

    def public(self) -> dict[str, Any]:
        """The public key as a JWK."""
        return {**self.key.as_dict(private=False), "kid": self.kid, "use": "sig", "alg": ALGORITHM}

    def sign(self, claims: dict[str, Any], *, kind: str) -> str:
        """`claims` as a signed JWT whose header says it is of this `kind`."""
        from joserfc import jwt

        return jwt.encode({"alg": ALGORITHM, "typ": kind, "kid": self.kid}, claims, self.key, algorithms=[ALGORITHM])


class SigningKeys:
    """The keys in a folder. They are read again when the folder changes, so that every worker notices a rotation.

    Args:
        folder: created with the first key.
        clock: where the time comes from.

    """

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        self._stamp = 0
        self._known: tuple[SigningKey, ...] = ()
        self._signed: dict[tuple[str, bytes], str] = {}
        """Kind and claims -> the JWT signed by the newest of the known keys."""

    def existing(self) -> tuple[SigningKey, ...]:
        """All keys, the newest first; creates none.

        Raises:
            SettingError: a key cannot be read.

        """
        try:
            stamp = self._folder.stat().st_mtime_ns
            if stamp != self._stamp:
                self._known, self._signed = _read_all(self._folder), {}
                self._stamp = stamp
        except FileNotFoundError:
            self._stamp, self._known, self._signed = 0, (), {}
        except (OSError, ValueError, KeyError, TypeError, JoseError) as error:
            raise _unusable(error) from None
        return self._known

    def current(self) -> SigningKey:
        """The key that signs, created on first use.

        Raises:
            SettingError: it can be neither read nor created.

        """
        return (self.existing() or self._add(1))[0]

    def sign_document(self, claims: dict[str, Any], *, kind: str) -> str:
        """`claims` that rarely change as a JWT signed by the current key, which signs them once in each process.

        Raises:
            SettingError: the key can be neither read nor created.

        """
        key = self.current()
        known = (kind, orjson.dumps(claims, option=orjson.OPT_SORT_KEYS))
        signed = self._signed.get(known)
        if signed is None:
            signed = key.sign(claims, kind=kind)
            if len(self._signed) >= _MOST_SIGNED:
                self._signed.clear()
            self._signed[known] = signed
        return signed

    def published(self) -> tuple[SigningKey, ...]:
        """The keys whose signatures may still be valid, the newest first."""
        self.current()
        now = self._clock()
        return tuple(key for key in self.existing() if key.published_until is None or now < key.published_until)

    def rotate(self) -> SigningKey:
        """A new key that signs from now on; keys that are no longer published are deleted."""
        published = {key.number for key in self.published()}
        fresh = self._add(self.current().number + 1)[0]
        for key in self.existing():
            if key.number not in published | {fresh.number}:
                self._path(key.number).unlink(missing_ok=True)
        return fresh

    def _add(self, number: int) -> tuple[SigningKey, ...]:
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            read_or_create(self._path(number), lambda: _new_key(self._clock()))
        except OSError as error:
            raise _unusable(error) from None
        self._stamp = 0
        return self.existing()

    def _path(self, number: int) -> Path:
        return self._folder / f"{number}.json"


def _new_key(now: datetime) -> str:
    from joserfc.jwk import RSAKey

    key = RSAKey.generate_key(_BITS)
    return orjson.dumps({**key.as_dict(private=True), "created_at": now}).decode()


def _read_all(folder: Path) -> tuple[SigningKey, ...]:
    from joserfc.jwk import RSAKey

    numbers = sorted((int(path.stem) for path in folder.glob("*.json") if path.stem.isdecimal()), reverse=True)
    keys: list[SigningKey] = []
    for number in numbers:
        data = orjson.loads((folder / f"{number}.json").read_bytes())
        created_at = datetime.fromisoformat(data.pop("created_at"))
        until = keys[-1].created_at + timedelta(seconds=MAX_CLIENT_TOKEN_LIFETIME) if keys else None
        keys.append(SigningKey(number, RSAKey.import_key(data), created_at, until))
    return tuple(keys)


def _unusable(error: Exception) -> SettingError:
    msg = f"the signing keys in the instance folder cannot be used: {type(error).__name__}"
    return SettingError(msg)
