"""The access log: one line for each request, without secrets.

Addresses of pictures contain tokens, clients write tokens in wrong places, and people type passwords into name fields:
the line has `-` in place of secrets, no referrer, and the id of a credential instead of a name.
"""

import logging
import re
from functools import partial
from typing import Any, Final
from urllib.parse import unquote_plus

from flask import Response, g, request

from photosvc.auth.principal import Principal
from photosvc.core.clock import Clock
from photosvc.core.logs import FIELDS, as_text
from photosvc.web.auditing import request_id
from photosvc.web.proxies import client_address
from photosvc.web.service import current_service

#: The logger of the access log, at the level of information.
LOGGER: Final = "photosvc.access"
_LOG = logging.getLogger(LOGGER)
#: Key in the environ of a request whose line was logged.
_NOTED: Final = "photosvc.access"
_LONGEST: Final = 2000
_LONGEST_AGENT: Final = 200
#: Paths that contain tokens: thumbnails, covers and videos, sessions, and public links.
_PLACES: Final = (
    re.compile(r"(/(?:albums|labels)/+[^/]+/+t/+)[^/]+"),
    re.compile(r"(/(?:t|videos)/+[^/]+/+)[^/]+"),
    re.compile(r"(/sessions?/+)[^/]+"),
    re.compile(r"(/s/+)[^/]+"),
)
#: The shape of tokens, app passwords and client secrets anywhere in a line.
_SECRET: Final = re.compile(
    r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{48,}|[0-9A-Za-z]{6}(?:-[0-9A-Za-z]{6}){3}|[0-9A-Za-z]{32}|[0-9a-z]{26}"
    r"|eyJ[\w-]+\.[\w.-]+)(?![0-9A-Za-z])"
)
_SECRET_NAME: Final = re.compile(r"t|code|.*(?:token|secret|pass|auth|session).*", re.IGNORECASE | re.DOTALL)


def note_access(answer: Response, began: float | None = None) -> Response:
    """Log the request once its answer is sent.

    Args:
        began: the beginning, by the monotonic clock; None for a request without a route of this service.
    """
    environ = request.environ
    if _NOTED in environ or not _LOG.isEnabledFor(logging.INFO):
        return answer
    environ[_NOTED] = True
    who: Principal | None = None if began is None else g.get("photosvc_principal")
    values: dict[str, Any] = {
        "request_id": request_id(),
        "address": client_address(request),
        "method": request.method,
        "path": masked_path(request.path) + masked_query(request.query_string.decode("latin-1")),
        "status": answer.status_code,
        "bytes": answer.content_length,
        "credential_kind": "" if who is None else who.kind,
        "credential": "" if who is None else who.credential_uid,
        "agent": request.user_agent.string[:_LONGEST_AGENT],
    }
    clock = current_service().clock
    answer.call_on_close(partial(_log, values, clock, clock.monotonic() if began is None else began))
    return answer


def masked_path(path: str) -> str:
    """Return the path with `-` in place of every part that is or looks like a secret."""
    for place in _PLACES:
        path = place.sub(r"\1-", path)
    return _SECRET.sub("-", path)[:_LONGEST]


def masked_query(query: str) -> str:
    """Return the query string, with its question mark, with `-` in place of values that are or look like secrets."""
    return "?" + "&".join(map(_masked_pair, query[:_LONGEST].split("&"))) if query else ""


def _masked_pair(pair: str) -> str:
    name, equals, value = pair.partition("=")
    if _SECRET.search(unquote_plus(name)):
        return "-"
    is_secret = _SECRET_NAME.fullmatch(unquote_plus(name)) or _SECRET.search(unquote_plus(value))
    return f"{name}{equals}-" if is_secret and equals else pair


def _log(values: dict[str, Any], clock: Clock, began: float) -> None:
    values["ms"] = round((clock.monotonic() - began) * 1000, 1)
    _LOG.info("%s", as_text(values), extra={FIELDS: values})
