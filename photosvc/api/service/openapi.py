"""GET /openapi.json: a description of the API for programs that generate clients, forms and tests."""

from flask import Blueprint, Response, request

from photosvc.web.actions import public
from photosvc.web.answers.answer import json_text
from photosvc.web.contract import answers
from photosvc.web.openapi.document import document

#: Seconds a client may cache it; it changes with the version and the settings only.
_MAX_AGE = 300


def add_routes(api: Blueprint) -> None:
    """Add the description to the API it describes."""
    api.add_url_rule("/openapi.json", view_func=openapi, methods=["GET"])


@public
@answers({"type": "object"}, "This document.")
def openapi() -> Response:
    """The API as an OpenAPI 3.1 document, generated from its routes, policy, filters and records."""
    answer = json_text(document(str(request.url_rule).removesuffix("/openapi.json")))
    answer.headers["Cache-Control"] = f"public, max-age={_MAX_AGE}"
    return answer
