"""Answers of workers: results and errors as MessagePack.

A malicious file can take over the decoder that reads it. The answer of such a process must not run code in its parent.
It is data, unlike a pickle, and refused unless it has the expected type.
"""

import logging
from typing import Any, Generic, TypeVar

import msgspec
from msgspec import msgpack

from photosvc.core.errors import PhotosvcError, restore_error
from photosvc.core.problems import FileProblemError, Problem, Reason, UnreadableFileError

Result = TypeVar("Result")

_LOG = logging.getLogger("photosvc")
#: Most characters of a traceback in the log, and most of its frames.
_MAX_TRACE, _MAX_FRAMES = 8000, 20


class _RaisedThereError(Exception):
    """An error whose text is the traceback of a worker: the log shows it like a traceback of this process."""


class _Error(msgspec.Struct, array_like=True):
    """An error: its class and base classes, nearest first, its message, the field at fault, and the file's problem."""

    kinds: list[str]
    message: str
    field: str | None
    problem: Problem | None
    trace: str = ""
    """The traceback of an internal error, else empty."""


class _Answer(msgspec.Struct, array_like=True):
    error: _Error | None
    result: msgspec.Raw


class Answers(Generic[Result]):
    """A reader of the answers of workers whose function has results of one type."""

    def __init__(self, kind: type[Result]) -> None:
        self._results = msgpack.Decoder(kind, strict=True)

    def read(self, data: bytes, item: object = "") -> Result | PhotosvcError:
        """Return the result or the error of an answer; log the traceback and the item of an internal error.

        Raises:
            msgspec.MsgspecError: the data are no answer, or a result of another type.
        """
        answer = _ANSWERS.decode(data)
        if answer.error is not None and answer.error.trace:
            trace = _RaisedThereError(answer.error.trace[:_MAX_TRACE])
            _LOG.error("A worker process failed at %.300r: %s", item, answer.error.message, exc_info=trace)
        return self._results.decode(answer.result) if answer.error is None else _error(answer.error)


_ANSWERS = msgpack.Decoder(_Answer)
_WRITER = msgpack.Encoder()


def write_result(result: object) -> bytes:
    """Return the answer with this result.

    Raises:
        TypeError: MessagePack cannot represent the type of the result.
    """
    return _WRITER.encode((None, result))


def write_error(error: PhotosvcError) -> bytes:
    """Return the answer with this error."""
    problem = error.problem if isinstance(error, FileProblemError) else None
    kinds = [kind.__qualname__ for kind in type(error).__mro__ if issubclass(kind, PhotosvcError)]
    return _WRITER.encode((_Error(kinds, str(error.message), error.field, problem), None))


def write_internal_error(error: BaseException) -> bytes:
    """Return the answer with an internal error: its traceback for the log, and only its type for everyone else."""
    from traceback import format_exception  # only where it is needed: workers start once for a few files

    public = UnreadableFileError(Reason.INTERNAL_ERROR, type(error).__name__[:60])
    kinds = [UnreadableFileError.__qualname__]
    try:
        trace = "".join(format_exception(error, limit=-_MAX_FRAMES))
    except Exception:  # noqa: BLE001 - the exception may fail to show itself
        trace = type(error).__qualname__
    return _WRITER.encode((_Error(kinds, str(public.message), None, public.problem, trace[-_MAX_TRACE:]), None))


def _error(written: _Error) -> PhotosvcError:
    """Return an error of its nearest class that this process knows; if it knows none, an unexpected error.

    Modules that only workers import, such as decoders, may have error classes of their own.
    """
    known = {kind.__qualname__: kind for kind in _kinds(PhotosvcError)}
    kind = next((known[name] for name in written.kinds if name in known), None)
    of_file = kind is not None and issubclass(kind, FileProblemError)
    if kind is None or of_file != (written.problem is not None):
        return UnreadableFileError(Reason.READER_ERROR, "".join(written.kinds[:1])[:60])
    state: dict[str, Any] = {"message": written.message, "field": written.field}
    error = restore_error(kind, state)
    if isinstance(error, FileProblemError) and written.problem is not None:
        error.take(written.problem)
    return error


def _kinds(base: type[PhotosvcError]) -> list[type[PhotosvcError]]:
    return [base, *(kind for child in base.__subclasses__() for kind in _kinds(child))]
