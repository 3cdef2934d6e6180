"""The log: its lines as text or JSON, without control characters from outside, and the handler that writes them."""

import json
import logging
import re
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

from photosvc.core.clock import Clock
from photosvc.core.message import counted

#: The logger of messages to the operator when a server starts; commands do not print them.
START: Final = "photosvc.start"
#: The attribute of a log record that has its message as names and values.
FIELDS: Final = "photosvc_fields"
#: The formats of lines.
TEXT, JSON = "text", "json"
#: Seconds after which another failure is logged: it may be of a second outage, if nobody saw the end of the first.
OUTAGE_SECONDS: Final = 60.0
_PLAIN = re.compile(r"[\w.:@/+-]+\Z")


def as_text(fields: Mapping[str, Any]) -> str:
    """Return `name=value` pairs separated by blanks; a value that is not plain is quoted as in JSON."""
    return " ".join(f"{name}={_quoted('' if value is None else str(value))}" for name, value in fields.items())


def _quoted(value: str) -> str:
    return value if _PLAIN.match(value) else json.dumps(value, ensure_ascii=False)


class LineFormatter(logging.Formatter):
    """A formatter that writes exactly one line for each message; a traceback follows in indented lines."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the time in UTC, level, logger and message."""
        message = _one_line(record.getMessage())
        text = f"{_time_of(record)} {record.levelname} {record.name}: {message}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).split("\n")
            text = "\n    ".join([text, *map(_one_line, trace)])
        return text


class JsonFormatter(logging.Formatter):
    """A formatter that writes each message as one line of JSON, with ASCII characters only."""

    def format(self, record: logging.LogRecord) -> str:
        """Return an object with `time`, `level`, `logger`, the message's fields or `message`, and any `exception`."""
        line = {"time": _time_of(record), "level": record.levelname, "logger": record.name}
        line |= getattr(record, FIELDS, None) or {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _time_of(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _one_line(text: str) -> str:
    """Escape the characters that begin a line or control a terminal (log injection, CWE-117)."""
    return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in text)


class OwnHandler(logging.StreamHandler[Any]):
    """A handler that writes to the present stderr, unless the operator has configured logging."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:  # noqa: ANN401 - stderr may be any stream
        """Return the present stderr, which tests and servers replace."""
        return sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Write the record, unless the root logger has a handler."""
        if not logging.root.handlers:
            super().emit(record)


def write_lines(logger: str, style: str) -> None:
    """Write the messages of `logger` and the loggers below it to stderr, as `text` or `json`."""
    handler = _own_handler(logger) or OwnHandler()
    handler.setFormatter(JsonFormatter() if style == JSON else LineFormatter())
    logging.getLogger(logger).addHandler(handler)


def write_warnings_only(logger: str) -> None:
    """Write only warnings and errors, because a command shows its own progress."""
    if handler := _own_handler(logger):
        handler.setLevel(logging.WARNING)


@contextmanager
def without_start_lines() -> Iterator[None]:
    """Suppress the messages of a starting server inside the block."""
    logger = logging.getLogger(START)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


class Outages:
    """A log of failures that all requests share while a part is away: a line when an outage begins and when it ends."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._began: float | None = None
        self._last = 0.0
        self._pause = 0.0
        self._failed = 0

    def report(self, logger: logging.Logger, message: str, *arguments: object, pause: float = 0.0) -> None:
        """Log an error, or only count it in an outage whose last failure was less than `OUTAGE_SECONDS` ago.

        Args:
            pause: seconds without a failure after which a success is the end; 0 if every request fails until then.
        """
        with self._lock:
            now = self._clock.monotonic()
            # Where every request fails now and some succeeded before, it is another outage.
            is_new = self._began is None or pause < self._pause
            is_logged = is_new or now - self._last > OUTAGE_SECONDS
            if is_new:
                self._began, self._failed, self._pause = now, 0, pause
            self._last = now
            self._failed += 1
        if is_logged:
            logger.error(message, *arguments)

    def end(self, logger: logging.Logger, message: str) -> None:
        """Log the end of the outage after a success, with its seconds and the number of its failures."""
        if self._began is None:  # without the lock, because nearly every request comes by here
            return
        with self._lock:
            now = self._clock.monotonic()
            if self._began is None or now - self._last < self._pause:
                return
            seconds = (self._last if self._pause else now) - self._began
            failed, self._began = self._failed, None
        logger.warning("%s after %.0f s (%s failed)", message, seconds, counted(failed, "request"))


def _own_handler(logger: str) -> OwnHandler | None:
    handlers = logging.getLogger(logger).handlers
    return next((handler for handler in handlers if isinstance(handler, OwnHandler)), None)
