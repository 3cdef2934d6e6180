"""Answers of the API: JSON bytes and the headers every one of them carries."""

from typing import Any

import orjson
from flask import Response

JSON = "application/json; charset=utf-8"

_SECURITY = (
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)


def json_answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401
    """`value` as a JSON answer."""
    return json_text(orjson.dumps(value), status)


def json_text(body: bytes | str, status: int = 200) -> Response:
    """An answer whose body is JSON already."""
    return Response(body, status, content_type=JSON)


def add_security_headers(answer: Response) -> Response:
    """Headers of every answer: no sniffing, no framing, no referrer that could carry a token."""
    present = {name for name, _ in answer.headers}
    answer.headers.extend([(name, value) for name, value in _SECURITY if name not in present])
    return answer
