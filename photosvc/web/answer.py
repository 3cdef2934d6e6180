"""Answers of the API: JSON bytes and the headers of every answer."""

from typing import Any

import orjson
from flask import Response
from werkzeug.datastructures import Headers

JSON = "application/json; charset=utf-8"

_SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)


#: The header that no view sets by itself, so that it shows whether the others were added.
_MARK = _SECURITY[0][0]


class ReadyResponse(Response):
    """An answer whose headers are complete: Werkzeug does not copy them to add missing ones.

    For the most frequent requests. It has no `Location`, a length only if its body is whole, and no default type.
    """

    default_mimetype = None

    def get_wsgi_headers(self, environ: Any) -> Headers:  # noqa: ANN401, ARG002 - as Werkzeug has it
        """The headers."""
        return self.headers


def json_answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401
    """`value` as a JSON answer."""
    return json_text(orjson.dumps(value), status)


def json_text(body: bytes | str, status: int = 200) -> Response:
    """An answer whose body is already JSON."""
    return Response(body, status, content_type=JSON)


def add_security_headers(answer: Response) -> Response:
    """Add the headers of every answer, which forbid sniffing, framing, caching and a referrer that contains a token."""
    headers = answer.headers
    if _MARK not in headers:  # the blueprint and, standing alone, the app call this
        present = {name for name, _ in headers}
        for name, value in _SECURITY:
            if name not in present:
                headers.add(name, value)
    return answer
