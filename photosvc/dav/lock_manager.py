"""The lock manager that WsgiDAV calls, over the locks in the database."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final
from uuid import uuid4

from wsgidav.dav_error import (
    HTTP_FORBIDDEN,
    HTTP_LOCKED,
    HTTP_PRECONDITION_FAILED,
    HTTP_REQUEST_ENTITY_TOO_LARGE,
    DAVError,
    DAVErrorCondition,
    PRECONDITION_CODE_LockConflict,
    PRECONDITION_CODE_LockTokenMismatch,
)

from photosvc.dav import locks, paths
from photosvc.models import DavLock
from photosvc.web.current import Service

#: Seconds that a lock lasts when the client names no time, and the most that it gets.
USUAL: Final = 7 * 24 * 3600
LONGEST_TIME: Final = 4 * USUAL
#: Bytes of the element `owner`.
LONGEST_OWNER: Final = 4096

#: A lock as WsgiDAV passes it around, described at the head of `wsgidav.lock_man.lock_manager`.
LockRecord = dict[str, Any]


class LockManager:
    """The methods of WsgiDAV's `LockManager`; each is a transaction of its own. Users are given as their UIDs."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def acquire(  # WsgiDAV also passes `lock_type`, which is always `write`, and `token_list`
        self,
        *,
        url: str,
        lock_scope: str,
        lock_depth: str,
        lock_owner: bytes,
        timeout: float | None,
        principal: str,
        **_other: object,
    ) -> LockRecord:
        """A new lock.

        Raises:
            DAVError: 423 because of other locks, which it names; 403 over a limit; 413 with a long `owner`.

        """
        path, now = paths.key(url), self._service.now()
        if len(lock_owner) > LONGEST_OWNER:
            raise DAVError(HTTP_REQUEST_ENTITY_TOO_LARGE, f"the owner of a lock has at most {LONGEST_OWNER} bytes")
        if len(path) > paths.LONGEST:
            raise DAVError(HTTP_FORBIDDEN, f"only paths of at most {paths.LONGEST} characters can be locked")
        seconds = _seconds(timeout)
        lock = DavLock(
            token=f"opaquelocktoken:{uuid4()}",
            root=path,
            user_uid=principal,
            exclusive=lock_scope == "exclusive",
            deep=lock_depth == "infinity",
            owner=_element(lock_owner.decode()),
            seconds=seconds,
            expires_at=now + timedelta(seconds=seconds),
        )
        with self._service.writing() as session:
            locks.serialize(session)
            locks.sweep(session, now)
            _refuse(locks.conflicting(session, now, lock))
            if locks.over_limit(session, lock):
                raise DAVError(HTTP_FORBIDDEN, "too many locks: release some or wait until they expire")
            session.add(lock)
            session.flush()
            return _record(lock)

    def refresh(self, token: str, *, timeout: float | None = None) -> LockRecord:
        """Let a lock last from now on.

        Raises:
            DAVError: 412 when it has expired.

        """
        now, seconds = self._service.now(), _seconds(timeout)
        with self._service.writing() as session:
            lock = locks.find(session, now, token)
            if lock is None:
                raise DAVError(HTTP_PRECONDITION_FAILED, err_condition=PRECONDITION_CODE_LockTokenMismatch)
            lock.seconds, lock.expires_at = seconds, now + timedelta(seconds=seconds)
            return _record(lock)

    def release(self, token: str) -> None:
        """Delete a lock."""
        with self._service.writing() as session:
            locks.release(session, token)

    def remove_all_locks_from_url(self, url: str, *, recursive: bool = False) -> None:  # noqa: ARG002 - of the interface
        """Delete the locks on a resource, and inside it: what is inside goes with its folder."""
        with self._service.writing() as session:
            locks.release_all(session, paths.key(url))

    def check_write_permission(self, *, url: str, depth: str, token_list: Collection[str], principal: str) -> None:
        """Make sure that no lock forbids to write.

        Raises:
            DAVError: 423, with the locks.

        """
        deep = depth == "infinity"
        with self._service.loading() as session:
            now = self._service.now()
            _refuse(locks.blocking(session, now, paths.key(url), deep=deep, user_uid=principal, tokens=token_list))

    @contextmanager
    def write_transaction(
        self, *, url: str, token_list: Collection[str], principal: str, depth: str = "0"
    ) -> Iterator[None]:
        """Around the receipt of a body. Checks early; who writes files checks once more when the body is there.

        Raises:
            DAVError: 423, with the locks.

        """
        self.check_write_permission(url=url, depth=depth, token_list=token_list, principal=principal)
        yield

    def get_lock(self, token: str, *, key: str | None = None) -> Any:  # noqa: ANN401 - a record or one value of it
        """A lock, or one of its values; None when there is none or it has expired."""
        with self._service.loading() as session:
            lock = locks.find(session, self._service.now(), token)
            record = None if lock is None else _record(lock)
        return record if key is None or record is None else record[key]

    def get_url_lock_list(self, url: str, *, recursive: bool = False) -> list[LockRecord]:
        """The locks on a resource itself, with `recursive` also those inside it."""
        path, now = paths.key(url), self._service.now()
        with self._service.loading() as session:
            found = [lock for lock in locks.covering(session, now, path) if lock.root == path]
            if recursive:
                found += locks.inside(session, now, path)
            return [_record(lock) for lock in found]

    def get_indirect_url_lock_list(self, url: str, *, principal: str | None = None) -> list[LockRecord]:
        """The locks on a resource and the deep ones on folders that contain it; of one user, if given."""
        with self._service.loading() as session:
            found = locks.covering(session, self._service.now(), paths.key(url))
            return [_record(lock) for lock in found if principal in {None, lock.user_uid}]

    def is_url_locked(self, url: str) -> bool:
        """Whether there is a lock on the resource itself."""
        return bool(self.get_url_lock_list(url))

    def is_url_locked_by_token(self, url: str, lock_token: str) -> bool:
        """Whether the lock with this token covers the resource."""
        return any(lock["token"] == lock_token for lock in self.get_indirect_url_lock_list(url))

    def is_token_locked_by_user(self, token: str, principal: str) -> bool:
        """Whether the lock with this token is the user's."""
        return bool(self.get_lock(token, key="principal") == principal)


def refusal(roots: Collection[str]) -> DAVError:
    """The answer 423 that names the locks (RFC 4918 section 16, `no-conflicting-lock`)."""
    condition = DAVErrorCondition(PRECONDITION_CODE_LockConflict)
    for root in roots:
        condition.add_href(root)
    return DAVError(HTTP_LOCKED, err_condition=condition)


def _refuse(roots: Collection[str]) -> None:
    if roots:
        raise refusal(roots)


def _seconds(timeout: float | None) -> int:
    """The seconds that a lock gets; WsgiDAV gives -1 for `Infinite` and None when the client names none."""
    if timeout is None:
        return USUAL
    return LONGEST_TIME if timeout < 0 else max(1, int(min(timeout, LONGEST_TIME)))


def _element(xml: str) -> str:
    """The element without the declaration before it, so that it can be part of a document."""
    return xml.partition("?>")[2].strip() if xml.startswith("<?xml") else xml


def _record(lock: DavLock) -> LockRecord:
    return {
        "root": lock.root,
        "type": "write",
        "scope": "exclusive" if lock.exclusive else "shared",
        "depth": "infinity" if lock.deep else "0",
        "owner": lock.owner.encode(),
        "timeout": lock.seconds,
        "expire": lock.expires_at.timestamp(),
        "principal": lock.user_uid,
        "token": lock.token,
    }
