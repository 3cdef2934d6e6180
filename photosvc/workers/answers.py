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
    """An error: its class, its message, the field at fault, and of a file its problem."""

    kind: str
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
    return _WRITER.encode((_Error(type(error).__qualname__, error.message, error.field, problem), None))


def _error(given: _Error) -> PhotosvcError:
    """The error with the class of this name; an unexpected one when this process does not know the class."""
    kind = next((kind for kind in _kinds(PhotosvcError) if kind.__qualname__ == given.kind), None)
    of_file = kind is not None and issubclass(kind, FileProblemError)
    if kind is None or of_file != (given.problem is not None):
        return UnreadableFileError(Reason.READER_ERROR, given.kind[:60])
    state: dict[str, Any] = {"message": given.message, "field": given.field}
    return rebuild(kind, state | {"problem": given.problem} if of_file else state)


def _kinds(base: type[PhotosvcError]) -> list[type[PhotosvcError]]:
    return [base, *(kind for one in base.__subclasses__() for kind in _kinds(one))]
