"""GET /openapi.json: the API described for programs that make clients, forms and tests from it."""

from functools import cache

import orjson
from flask import Blueprint, Response, request

from photosvc.web.answer import json_text
from photosvc.web.contract import answers
from photosvc.web.protector import public

#: Seconds that it may be kept: it changes with the version and the settings only.
_KEPT = 300


def add_routes(api: Blueprint) -> None:
    """Hang the description on the API it describes."""
    document = cache(_document)  # one for each app

    @public
    @answers({"type": "object"}, "This document.")
    def openapi() -> Response:
        """The API as an OpenAPI 3.1 document, made from its routes, policy, filters and records."""
        answer = json_text(document(str(request.url_rule).removesuffix("/openapi.json")))
        answer.headers["Cache-Control"] = f"public, max-age={_KEPT}"
        return answer

    api.add_url_rule("/openapi.json", view_func=openapi, methods=["GET"])


def _document(root: str) -> bytes:
    from photosvc.api.openapi.document import describe  # it takes a library that nothing else needs

    return orjson.dumps(describe(root))
