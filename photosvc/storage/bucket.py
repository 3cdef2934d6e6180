"""A bucket of S3-compatible storage that holds the originals: its address, the list of its objects, and links to them.

Credentials come from the variables, files or roles that all tools for S3 read. Only this module uses them: it signs a
link for each object to read, so that the workers that decode files see no credential.
"""

import math
import os
import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from photosvc.core.errors import PhotosvcError, SettingError
from photosvc.core.paths import disk_name
from photosvc.storage.remote import LONGEST, RemoteFile, RemoteReader, content_key, plain_tag, stamp

SCHEME: Final = "s3://"
#: Longest prefix of keys in bytes.
_LONGEST_PREFIX: Final = 512
#: Objects of one page of a list, the most that S3 gives.
_PAGE: Final = 1000
#: Seconds for which a signed link can be used: a slow client may take that long for a large original.
_SIGNED_SECONDS: Final = 6 * 3600
#: Seconds of silence, before and after a connection is made, that end a request.
_CONNECT_SECONDS, _READ_SECONDS, _TRIES = 5, 20, 2
#: Bytes of a file that a store takes in each second after the first `LONGEST`, at least.
_LOWEST_RATE: Final = 16 << 10
#: Seconds between two looks at what a store has taken of a file.
_LOOK: Final = 1.0
#: Connections of one process: as many requests as its threads make at a time.
_CONNECTIONS: Final = 64
#: Pages without an object, one after another, after which a list is one that never ends.
_MOST_EMPTY: Final = 100
#: Most errors of one chain that are looked at.
_DEEPEST: Final = 20
#: Bytes that no file on disk has.
_LARGEST: Final = 1 << 63
_LOCK: Final = threading.Lock()
_CREDENTIALS: Final = frozenset((
    "AccessDenied", "InvalidAccessKeyId", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken", "403",
    "AllAccessDisabled", "AccountProblem", "TokenRefreshRequired", "Forbidden", "Unauthorized", "401",
))  # fmt: skip
_REGION: Final = frozenset({"AuthorizationHeaderMalformed", "PermanentRedirect", "301"})
#: A code that can be shown: other text of a store may be anything.
_CODE: Final = re.compile(r"[A-Za-z0-9.]{1,60}", re.ASCII)
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,255}", re.ASCII)


class BucketError(PhotosvcError):
    """The bucket with the originals cannot be used at present."""

    status = HTTPStatus.SERVICE_UNAVAILABLE
    retry_after = 30


class TooSlowError(BucketError):
    """The store is too slow for so many files at once: select fewer."""


class StoreAnswerError(BucketError):
    """The store answers with an error.

    Args:
        codes: those of the answer, as S3 defines them.
    """

    def __init__(self, message: str, codes: frozenset[str] = frozenset()) -> None:
        super().__init__(message)
        self.codes = codes


class BucketRefusedError(StoreAnswerError):
    """The bucket with the originals refuses the credentials."""

    exit_code = 2


class NoBucketError(StoreAnswerError):
    """There is no such bucket."""

    exit_code = 3


@dataclass(frozen=True, slots=True)
class Listed:
    """An object of a list."""

    key: str
    """Its key without the prefix of the originals."""
    size: int
    mtime_ns: int
    """Its `stamp`."""
    etag: str
    """Its entity tag without quotes."""

    @property
    def content_key(self) -> str:
        """Return the key of its content."""
        return content_key(self.etag, self.size)


@dataclass(frozen=True, slots=True)
class Bucket:
    """The originals in a bucket."""

    name: str
    prefix: str
    """Of all keys, with a slash at its end; empty for the whole bucket."""
    endpoint: str
    """Address of the store; empty for that of Amazon."""
    mirror: Path
    """The folder with a placeholder for each object, see `photosvc.index.mirror`."""

    @property
    def address(self) -> str:
        """Return the address as people write it."""
        return f"{SCHEME}{self.name}/{self.prefix}".rstrip("/")

    def objects(self, folder: str = "", *, seconds: float = math.inf) -> Iterator[Listed]:
        """Yield all objects below a folder, in the order in which the store lists them.

        Args:
            folder: a path on disk.
            seconds: after which no further page is asked for.

        Raises:
            TooSlowError: the list takes longer.
            BucketError: the list cannot be read, or not to its end.
        """
        start = self.prefix + (f"{folder}/" if folder else "")
        asked: dict[str, Any] = {"Prefix": start, "MaxKeys": _PAGE}
        end, empty = time.monotonic() + seconds, 0
        while True:
            if time.monotonic() > end:
                raise TooSlowError
            page = self.call("list_objects_v2", **asked)
            empty = 0 if page.get("Contents") else empty + 1
            for one in page.get("Contents", ()):
                key = one.get("Key", "")
                listed = self.described(key[len(self.prefix) :], one, one.get("Size"))
                if key.startswith(start):
                    yield listed
            if not page.get("IsTruncated"):
                return
            following = page.get("NextContinuationToken")
            if not following or following == asked.get("ContinuationToken") or empty > _MOST_EMPTY:
                raise BucketError(f"The list of {self.address} does not end.")
            asked["ContinuationToken"] = following

    def described(self, key: str, answer: dict[str, Any], size: Any) -> Listed:  # noqa: ANN401 - of an answer
        """Return the object of a key without the prefix as an answer of the store describes it.

        Raises:
            BucketError: the answer is not complete, or describes no file.
        """
        try:
            tag, changed_at = plain_tag(answer["ETag"]), int(answer["LastModified"].timestamp())
            listed = Listed(key, int(size), stamp(changed_at, tag), tag)
        except (KeyError, TypeError, ValueError, OverflowError):
            listed = None
        if listed is None or not 0 <= listed.size < _LARGEST:
            raise BucketError(f"The answer of the store of {self.address} cannot be read.")
        return listed

    def check(self) -> None:
        """Check that the bucket can be listed.

        Raises:
            BucketError: it cannot be.
        """
        self.call("list_objects_v2", Prefix=self.prefix, MaxKeys=1)

    def file(self, name: str, size: int, mtime_ns: int) -> RemoteFile:
        """Return the object of a clean name, as a list described it, with a signed link.

        Raises:
            BucketError: there are no credentials to sign with.
        """
        wanted = {"Bucket": self.name, "Key": self.prefix + disk_name(name)}
        try:
            link = _sign(_store(self.endpoint), wanted)
        except Exception as error:  # noqa: BLE001 - libraries of several authors
            raise self._error(error) from None
        return RemoteFile(link, name, size, mtime_ns)

    def open(self, name: str, size: int, mtime_ns: int) -> RemoteReader:
        """Open the object of a clean name for reading.

        Raises:
            OSError: see `RemoteReader`.
            BucketError: there are no credentials to sign with.
        """
        return RemoteReader(self.file(name, size, mtime_ns))

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:  # noqa: ANN401 - those of the method
        """Return the answer of the store to a request about this bucket.

        Raises:
            BucketError: the store cannot be reached, or answers with an error.
        """
        try:
            return _ask(_store(self.endpoint), method, {"Bucket": self.name, **arguments})
        except Exception as error:  # noqa: BLE001 - libraries of several authors
            raise self._error(error) from None

    def _error(self, error: BaseException) -> PhotosvcError:
        """Return the error with a sentence for people; the sentences contain no text of the store but its code."""
        if isinstance(error, PhotosvcError):
            return error
        codes, kinds, seen = set(), set(), list[BaseException]()
        found: BaseException | None = error
        while found is not None and len(seen) < _DEEPEST:
            seen.append(found)
            kinds.add(type(found).__name__)
            answer = getattr(found, "response", None)
            codes.add(str(answer.get("Error", {}).get("Code", "")) if isinstance(answer, dict) else "")
            found = found.__cause__ or found.__context__
        if kinds & {"NoCredentialsError", "PartialCredentialsError", "CredentialRetrievalError", "ProfileNotFound"}:
            msg = f"There are no credentials for {self.address}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
            return BucketRefusedError(msg)
        if codes & _CREDENTIALS:
            msg = f"The store refuses to list {self.address} with the given credentials."
            return BucketRefusedError(msg, frozenset(codes))
        if codes & _REGION:
            return BucketRefusedError(f"The store has {self.address} in another region: set AWS_DEFAULT_REGION.")
        if codes & {"NoSuchBucket", "404"} or "ParamValidationError" in kinds:
            msg = f"There is no bucket {self.name!r} at {self.endpoint or 'Amazon S3'}."
            return NoBucketError(msg, frozenset(codes))
        if known := codes - {""}:
            code = min(filter(_CODE.fullmatch, known), default="unknown code")
            return StoreAnswerError(f"The store of {self.address} answers with an error ({code}).", frozenset(known))
        return BucketError(f"The store of {self.address} cannot be reached.")


def parse_address(text: str) -> tuple[str, str]:
    """Return the name of the bucket and the prefix of an address such as `s3://photos/family`.

    Raises:
        ValueError: it is no such address.
    """
    name, _, prefix = text.removeprefix(SCHEME).partition("/")
    prefix = prefix.rstrip("/")
    parts = prefix.split("/") if prefix else []
    if not _NAME.fullmatch(name) or any(part in {"", ".", ".."} for part in parts) or not prefix.isprintable():
        raise ValueError("expected an address such as s3://bucket or s3://bucket/folder")
    if len(prefix.encode()) > _LONGEST_PREFIX:
        raise ValueError(f"expected a folder of at most {_LONGEST_PREFIX} bytes")
    return name, f"{prefix}/" if prefix else ""


def _sign(store: Any, wanted: dict[str, str]) -> str:  # noqa: ANN401 - the library has no types
    from fsspec.asyn import sync

    # The key is passed as it is: `S3FileSystem.sign` takes a path, which it would parse.
    sign = store.s3.generate_presigned_url
    link: str = sync(store.loop, sign, "get_object", Params=wanted, ExpiresIn=_SIGNED_SECONDS, timeout=LONGEST)
    return link


def _ask(store: Any, method: str, sent: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401 - the library has no types
    from fsspec.asyn import sync

    answer: dict[str, Any] = sync(store.loop, _answer, store, method, sent)
    return answer


async def _answer(store: Any, method: str, sent: dict[str, Any]) -> dict[str, Any]:  # noqa: ANN401
    """Return the answer to a request; end a request whose store takes too long.

    The library only ends one whose answer stops. A store may also take no more of the file that is sent, or send its
    answer byte by byte.

    Raises:
        TimeoutError: the store takes too long.
    """
    from asyncio import wait

    clock, body, size = store.loop.time, sent.get("Body"), sent.get("ContentLength", 0)
    end = clock() + LONGEST + size / _LOWEST_RATE
    taken, idle = 0, 0.0
    asking = store.loop.create_task(store._call_s3(method, **sent))  # noqa: SLF001 - its public form waits without end
    try:
        while not asking.done():
            await wait([asking], timeout=_LOOK)
            # Looks are counted, not seconds: the loop may have been busy with the hash of a large file.
            position = 0 if body is None else body.tell()
            taken, idle = position, idle + _LOOK if position == taken < size else 0.0
            if not asking.done() and (idle > _READ_SECONDS or clock() > end):
                raise TimeoutError
        answer: dict[str, Any] = await asking
        return answer
    finally:
        asking.cancel()


def _store(endpoint: str) -> Any:  # noqa: ANN401 - the library has no types
    with _LOCK:
        return _new_store(endpoint, os.getpid())


@lru_cache(maxsize=4)
def _new_store(endpoint: str, process: int) -> Any:  # noqa: ANN401, ARG001 - threads of the store do not outlive a fork
    try:
        from s3fs import S3FileSystem
    except ImportError:
        msg = "PHOTOSVC_ORIGINALS needs the extra \"s3\" for a bucket: pip install 'photosvc[s3]'"
        raise SettingError(msg, field="PHOTOSVC_ORIGINALS") from None
    config = {
        "connect_timeout": _CONNECT_SECONDS,
        "read_timeout": _READ_SECONDS,
        "retries": {"max_attempts": _TRIES, "mode": "standard"},
        "max_pool_connections": _CONNECTIONS,
        # Stores other than Amazon's do not know all checksums, and often have no name of a host for each bucket.
        "request_checksum_calculation": "when_required",
        "response_checksum_validation": "when_required",
        "signature_version": "s3v4",
        **({"s3": {"addressing_style": "path"}} if endpoint else {}),
    }
    store = S3FileSystem(
        endpoint_url=endpoint or None, config_kwargs=config, skip_instance_cache=True, use_listings_cache=False
    )
    store.retries = 1  # those of the configuration are enough
    return store
