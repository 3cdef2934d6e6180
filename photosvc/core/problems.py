"""Reasons why files are left out of the library or not shown: codes for decisions, sentences for people.

To add a problem, add one line to `Reason`. The codes are stored, so an existing code never changes its meaning.
"""

import errno
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from enum import Enum, StrEnum
from http import HTTPStatus
from typing import Final, Self

from photosvc.core.errors import PhotosvcError
from photosvc.core.message import Message


class Severity(Enum):
    """The way in which a run reports a file."""

    SKIPPED = "skipped"
    """Left out on purpose; the run succeeds."""
    FAILED = "failed"
    """It should have been readable; the exit code of the run is 1."""


class Validity(Enum):
    """The time for which a problem holds."""

    UNTIL_CHANGED = "until changed"
    """Stored. The file is read again when its size or modification time changes."""
    UNTIL_SET = "until set"
    """Stored. It depends on a setting or an extra too: the file is also read again when that has changed."""
    TRANSIENT = "transient"
    """Stored. The cause lies outside the file, and a try is cheap: the next run reads even an unchanged file again."""
    SPACED = "spaced"
    """Stored. The cause may lie outside the file, and a try is costly: runs read it again after growing pauses."""
    UNTIL_FORCED = "until forced"
    """Stored. Only a run with `--force` accepts the content again; other content under the name is another file."""
    NOT_STORED = "not stored"
    """Only reported; rows of an earlier run stay unchanged."""


_SKIPPED, _FAILED = Severity.SKIPPED, Severity.FAILED
_TRANSIENT, _SPACED, _NOT_STORED = Validity.TRANSIENT, Validity.SPACED, Validity.NOT_STORED
_UNTIL_SET = Validity.UNTIL_SET

#: The pauses after the first, second, … failed try; the last pause also follows all further tries.
_PAUSES: Final = (
    timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6), timedelta(days=1),
)  # fmt: skip


def pause_after(attempts: int) -> timedelta:
    """Return the pause after this number of failed tries, one or more."""
    return _PAUSES[min(max(attempts, 1), len(_PAUSES)) - 1]


class Reason(StrEnum):
    """A reason: its code, a sentence with a `{}` for each detail, its severity and its validity."""

    severity: Severity
    validity: Validity
    template: str

    def __new__(
        cls, code: str, template: str, severity: Severity = _FAILED, validity: Validity = Validity.UNTIL_CHANGED
    ) -> Self:
        """Store the further columns as attributes of the member."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.template, member.severity, member.validity = template, severity, validity
        return member

    @property
    def may_pass(self) -> bool:
        """Return whether another try with the same file may succeed; such a problem is not final and hides no photo."""
        return self.validity in (_TRANSIENT, _SPACED)

    # By the walk over the folder
    SYMBOLIC_LINK = "symbolic_link", "a symbolic link, which is not followed", _SKIPPED, _NOT_STORED
    PATH_TOO_LONG = "path_too_long", "its path is longer than {} bytes", _SKIPPED, _NOT_STORED
    TOO_DEEP = "too_deep", "more than {} folders deep", _SKIPPED, _NOT_STORED
    NOT_REGULAR = "not_regular", "not a regular file", _SKIPPED, _NOT_STORED
    UNREADABLE_FOLDER = "unreadable_folder", "the folder cannot be read: {}", _FAILED, _NOT_STORED
    BAD_PPIGNORE = (
        "bad_ppignore",
        "its .ppignore is no text, or has more than {} KiB or {} lines: nothing new of the folder is shown",
        _FAILED,
        _NOT_STORED,
    )
    SIDECAR = "sidecar", "a text file or sidecar of an unsupported kind", _SKIPPED, _NOT_STORED
    UNKNOWN_EXTENSION = "unknown_extension", "not a picture or video by its extension", _SKIPPED, _NOT_STORED
    UNSETTLED = "unsettled", "it may still be being written; a later run reads it", _SKIPPED, _NOT_STORED

    # While reading a sidecar
    BAD_SIDECAR = "bad_sidecar", "the sidecar cannot be read"
    UNRELATED = "unrelated", "not a sidecar of a picture", _SKIPPED

    # While opening the file
    UNREADABLE = "unreadable", "the file cannot be read: {}", _FAILED, _TRANSIENT
    CHANGED = "changed", "The file changed while it was read.", _FAILED, _NOT_STORED
    VANISHED = "vanished", "the file or folder vanished", _SKIPPED, _NOT_STORED
    EMPTY = "empty", "the file is empty", _SKIPPED
    TOO_LARGE = "too_large", "the file is larger than {} MB", _FAILED, _UNTIL_SET
    WRONG_CONTENT = "wrong_content", "its content is not a {}", _SKIPPED
    NO_PICTURE = "no_picture", "it has no extension, and its content is not a picture or video", _SKIPPED

    # While decoding
    MISSING_EXTRA = "missing_extra", "needs the extra \"{0}\": pip install 'photosvc[{0}]'", _SKIPPED, _UNTIL_SET
    TRUNCATED = "truncated", "the picture is truncated"
    UNDECODABLE = "undecodable", "the picture is damaged"
    BAD_HEADER = "bad_header", "the picture's header cannot be read"
    READ_ERROR = "read_error", "the file cannot be read"
    OVER_MEMORY = (
        "over_memory",
        "the picture takes {} MB of memory to decode, more than PHOTOSVC_INDEX_MEMORY leaves",
        _FAILED,
        _UNTIL_SET,
    )
    BOMB = "bomb", "the picture has {} megapixels and unpacks to {} times its size"
    OVER_AVAILABLE_MEMORY = "over_available_memory", "the picture needs more memory than there is", _FAILED, _SPACED
    NO_PIXELS = "no_pixels", "a {} has no pixels to open"
    UNDECODABLE_RAW = "undecodable_raw", "LibRaw cannot read this raw"
    UNREAD_PIXELS = "unread_pixels", "its pixel format is not supported: {}"
    RAW_WITHOUT_COLORS = "raw_without_colors", "the raw has no colours"
    TRUNCATED_VIDEO = "truncated_video", "the video is truncated"
    UNDECODABLE_VIDEO = "undecodable_video", "the video is damaged"
    NO_VIDEO = "no_video", "the file holds no video"
    NO_FRAME = "no_frame", "no frame of the video can be decoded"
    VIDEO_SIZE = "video_size", "the video has no size, or one beyond {} megapixels"

    # While converting a video
    CONVERTED_TOO_LARGE = "converted_too_large", "the converted video is larger than {} MB"

    # By the worker pool
    OUT_OF_MEMORY = "out_of_memory", "The file needs more memory to read than allowed.", _FAILED, _SPACED
    TIMEOUT = "timeout", "The file took longer than {} s to read.", _FAILED, _SPACED
    CRASHED = "crashed", "The reader of the file crashed.", _FAILED, _SPACED
    KILLED = "killed", "The reader of the file was killed ({}).", _FAILED, _SPACED
    READER_ERROR = "reader_error", "The file could not be read ({}).", _FAILED, _SPACED
    INTERNAL_ERROR = (
        "internal_error",
        "an error inside photosvc ({}), not in the file: please report it with the traceback in the log",
        _FAILED,
        _SPACED,
    )

    # By a decision of people
    REMOVED = "removed", "removed from the library; svc index --force adds it again", _SKIPPED, Validity.UNTIL_FORCED

    # While storing
    DUPLICATE = "duplicate", "the same content as {}", _SKIPPED
    EXCLUDED = "excluded", "a .nomedia or .ppignore of the originals excludes its folder or name", _SKIPPED, _NOT_STORED
    UNSTORABLE = "unstorable", "it cannot be stored ({})", _FAILED, _SPACED


def system_symbol(error: OSError) -> str:
    """Return the symbol of a system error, such as `EACCES`; `EIO` for an error without a number."""
    return errno.errorcode.get(error.errno or errno.EIO, "EIO")


def signal_symbol(number: int) -> str:
    """Return the symbol of a signal, such as `SIGKILL`; the number of a signal without one."""
    return signal.Signals(number).name if number in set(signal.Signals) else str(number)


def _system_text(symbol: str) -> str:
    return os.strerror(getattr(errno, symbol, errno.EIO)).lower()


def _signal_text(symbol: str) -> str:
    return (symbol in signal.Signals.__members__ and signal.strsignal(signal.Signals[symbol])) or symbol


_BY_CODE = {reason.value: reason for reason in Reason}
#: Reasons whose details are stored as symbols, with the function that puts these into words.
_SHOWN: dict[Reason, Callable[[str], str]] = {
    Reason.UNREADABLE: _system_text,
    Reason.UNREADABLE_FOLDER: _system_text,
    Reason.KILLED: _signal_text,
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A reason with its details: an extra, a file name, a limit, a symbol such as `EACCES` or `SIGKILL`."""

    reason: Reason
    details: tuple[str, ...] = ()

    @classmethod
    def of(cls, reason: Reason, *details: object) -> Self:
        """Return the problem with these details as texts."""
        return cls(reason, tuple(map(str, details)))

    @classmethod
    def from_columns(cls, code: str, detail: str) -> Self | None:
        """Return the problem stored in two columns; None for an empty code."""
        return cls(_BY_CODE[code], tuple(detail.split("\n")) if detail else ()) if code else None

    @property
    def detail(self) -> str:
        """Return the details as one column stores them. No detail contains a line feed: file names are clean."""
        return "\n".join(self.details)

    @property
    def sentence(self) -> str:
        """Return a short sentence for people."""
        show = _SHOWN.get(self.reason, str)
        return Message(self.reason.template, *(Message(show(detail)) for detail in self.details))


class FileProblemError(PhotosvcError):
    """A file cannot be used.

    Args:
        details: values of the `{}` in the sentence of the reason.
    """

    status = HTTPStatus.UNPROCESSABLE_ENTITY

    problem: Problem

    def __init__(self, reason: Reason, *details: object) -> None:
        problem = Problem.of(reason, *details)
        super().__init__(problem.sentence)
        self.take(problem)

    def take(self, problem: Problem) -> None:
        """Set the problem; if another try may succeed, the answer to a request is 503 with a Retry-After."""
        self.problem, self.message = problem, problem.sentence
        if problem.reason.may_pass:
            self.status, self.retry_after = HTTPStatus.SERVICE_UNAVAILABLE, round(pause_after(1).total_seconds())


class UnreadableFileError(FileProblemError):
    """The file cannot be opened, or reading it raised an unexpected error."""
