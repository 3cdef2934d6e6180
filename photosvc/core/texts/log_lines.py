"""Lines of the log: as text, or as JSON for programs that collect logs."""

import json
import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, Final

#: The logger of what a start tells the operator of a server; commands leave it out.
START: Final = "photosvc.start"
#: Attribute of a log record: its message as names and values.
FIELDS: Final = "photosvc_fields"
#: The formats of lines.
TEXT, JSON = "text", "json"

_PLAIN = re.compile(r"[\w.:@/+-]+\Z")


def as_text(fields: Mapping[str, Any]) -> str:
    """`name=value` separated by blanks; a value that is not plain stands in quotation marks, as in JSON."""
    return " ".join(f"{name}={_quoted(str(value))}" for name, value in fields.items())


def _quoted(value: str) -> str:
    return value if _PLAIN.match(value) else json.dumps(value, ensure_ascii=False)


class LineFormatter(logging.Formatter):
    """Exactly one line for each message; a traceback follows in indented lines."""

    def format(self, record: logging.LogRecord) -> str:
        """The time in UTC, level, logger and message."""
        message = _one_line(record.getMessage())
        text = f"{_time_of(record)} {record.levelname} {record.name}: {message}"
        if record.exc_info:
            trace = self.formatException(record.exc_info).split("\n")
            text = "\n    ".join([text, *map(_one_line, trace)])
        return text


class JsonFormatter(logging.Formatter):
    """One JSON object in one line for each message, with ASCII characters only."""

    def format(self, record: logging.LogRecord) -> str:
        """`time`, `level`, `logger`, then the fields of the message, or else `message`; and `exception`."""
        line = {"time": _time_of(record), "level": record.levelname, "logger": record.name}
        line |= getattr(record, FIELDS, None) or {"message": record.getMessage()}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _time_of(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, UTC)
    return moment.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def _one_line(text: str) -> str:
    """The text without characters that begin a line or control a terminal."""
    return "".join(character if character.isprintable() else f"\\x{ord(character):02x}" for character in text)


class OwnHandler(logging.StreamHandler[Any]):
    """Writes to the present stderr, unless the operator has configured logging: then that decides."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> Any:  # noqa: ANN401 - stderr may be any stream
        """The present stderr: tests and servers replace it."""
        return sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Write, if no handler of the root logger does."""
        if not logging.root.handlers:
            super().emit(record)


def write_lines(logger: str, style: str) -> None:
    """Write what `logger` and those below it log to stderr, as `text` or `json`."""
    handler = _own_handler(logger) or OwnHandler()
    handler.setFormatter(JsonFormatter() if style == JSON else LineFormatter())
    logging.getLogger(logger).addHandler(handler)


def write_warnings_only(logger: str) -> None:
    """Write only warnings and errors: who runs a command sees what it does."""
    if handler := _own_handler(logger):
        handler.setLevel(logging.WARNING)


@contextmanager
def without_start_lines() -> Iterator[None]:
    """Leave out, inside the block, what a start tells the operator of a server."""
    logger = logging.getLogger(START)
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)


def _own_handler(logger: str) -> OwnHandler | None:
    handlers = logging.getLogger(logger).handlers
    return next((handler for handler in handlers if isinstance(handler, OwnHandler)), None)
