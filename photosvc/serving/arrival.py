"""Whether a request has arrived as far as it must before a thread works on it."""

import re
from typing import Final

#: Bodies up to this size, in bytes, are complete before a thread is used; a larger one is read by the thread.
SMALL_BODY: Final = 64 << 10
#: A head above this size goes to the parser as it is, which refuses it by gunicorn's limits.
_MOST_HEAD: Final = 64 << 10
_LENGTH: Final = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n", re.IGNORECASE)
_CHUNKED: Final = re.compile(rb"\r\ntransfer-encoding:[^\r\n]*chunked[ \t]*\r\n", re.IGNORECASE)
_LAST_CHUNK: Final = re.compile(rb"\r\n0+[ \t]*(?:;[^\r\n]*)?\r\n")
_CONTINUE: Final = re.compile(rb"\r\nexpect:[ \t]*100-continue[ \t]*\r\n", re.IGNORECASE)


def is_complete(received: bytearray) -> bool:
    """Whether it holds a whole head, with the body if that is small and the client does not wait to be asked for it."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return len(received) > _MOST_HEAD
    if _CHUNKED.search(received, 0, end + 2) is not None:
        return _has_all_chunks(received, end + 4) or _CONTINUE.search(received, 0, end + 2) is not None
    length = _LENGTH.search(received, 0, end + 2)
    size = int(length[1]) if length else 0
    if size > SMALL_BODY or len(received) >= end + 4 + size:
        return True
    return _CONTINUE.search(received, 0, end + 2) is not None


def _has_all_chunks(received: bytearray, start: int) -> bool:
    """Whether a body in chunks is there, or too large to wait for here; the parser reads it in detail."""
    if len(received) - start > SMALL_BODY:
        return True
    return received.endswith(b"\r\n\r\n") and _LAST_CHUNK.search(received, start - 2) is not None
