"""What workers answer: results and errors as MessagePack.

Decoders of pictures can be taken over by the files they read. What such a process sends must not run code in its
parent: unlike a pickle, an answer is data, and it is refused unless it has the type that is expected.
"""

from typing import Any, Generic, TypeVar

import msgspec
from msgspec import msgpack

from photosvc.core.errors import PhotosvcError, rebuild
from photosvc.core.problems import FileProblemError, Problem, Reason, UnreadableFileError

Result = TypeVar("Result")


class _Error(msgspec.Struct, array_like=True):
    """An error: its class and the bases of that, nearest first, its message, the field at fault, its file's problem."""

    kinds: list[str]
    message: str
    field: str | None
    problem: Problem | None


class _Answer(msgspec.Struct, array_like=True):
    error: _Error | None
    result: msgspec.Raw


class Answers(Generic[Result]):
    """Reads the answers of workers whose function has results of this type."""

    def __init__(self, kind: type[Result]) -> None:
        self._results = msgpack.Decoder(kind, strict=True)

    def read(self, data: bytes) -> Result | PhotosvcError:
        """The result, or the error in its place.

        Raises:
            msgspec.MsgspecError: this is no answer, or a result of another type.

        """
        answer = _ANSWERS.decode(data)
        return self._results.decode(answer.result) if answer.error is None else _error(answer.error)


_ANSWERS = msgpack.Decoder(_Answer)
_WRITER = msgpack.Encoder()


def write_result(result: object) -> bytes:
    """The answer with this result.

    Raises:
        TypeError: it is of a type that is not data.

    """
    return _WRITER.encode((None, result))


def write_error(error: PhotosvcError) -> bytes:
    """The answer with this error."""
    problem = error.problem if isinstance(error, FileProblemError) else None
    kinds = [kind.__qualname__ for kind in type(error).__mro__ if issubclass(kind, PhotosvcError)]
    return _WRITER.encode((_Error(kinds, error.message, error.field, problem), None))


def _error(given: _Error) -> PhotosvcError:
    """The error with the nearest of its classes that this process knows; an unexpected one when it knows none.

    Modules that only workers import, such as those that decode, may have errors of their own.
    """
    known = {kind.__qualname__: kind for kind in _kinds(PhotosvcError)}
    kind = next((known[name] for name in given.kinds if name in known), None)
    of_file = kind is not None and issubclass(kind, FileProblemError)
    if kind is None or of_file != (given.problem is not None):
        return UnreadableFileError(Reason.READER_ERROR, "".join(given.kinds[:1])[:60])
    state: dict[str, Any] = {"message": given.message, "field": given.field}
    return rebuild(kind, state | {"problem": given.problem} if of_file else state)


def _kinds(base: type[PhotosvcError]) -> list[type[PhotosvcError]]:
    return [base, *(kind for one in base.__subclasses__() for kind in _kinds(one))]
