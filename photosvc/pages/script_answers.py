"""The answers of the API to the scripts of pages, in the language of the page: errors, suggestions, refused files.

The API itself speaks English. Only requests with the header that our scripts send are answered in another language.
"""

from typing import Any, Final

import orjson
from flask import Blueprint, Response, request

from photosvc.pages.filters import COLOR_LABELS
from photosvc.pages.language import ENGLISH, _, country_label, language
from photosvc.pages.messages import message_text
from photosvc.pages.wording import TYPES

_SUGGESTIONS: Final = "photosvc.search.suggest_values"
_ADDED_FILES: Final = "photosvc.uploads.add_files"
_JSON: Final = "application/json"


def translate_answers(api: Blueprint) -> None:
    """Let an API answer the scripts of the pages that are mounted beside it in their language."""
    api.before_request(_ask_anew)
    api.after_request(_translate_answer)


def _ask_anew() -> None:
    """Forget the tag of a copy that the browser may have in another language: tags name the state of the library."""
    if request.endpoint == _SUGGESTIONS and _is_for_script():
        request.environ.pop("HTTP_IF_NONE_MATCH", None)


def _translate_answer(answer: Response) -> Response:
    """Put the texts of an answer to a script into the language of the page."""
    if answer.mimetype != _JSON or not _is_for_script():
        return answer
    if answer.status_code >= 400:
        _change(answer, _translate_error)
    elif request.endpoint == _SUGGESTIONS and answer.status_code == 200:
        _change(answer, _translate_suggestions)
        del answer.headers["ETag"]
        answer.headers["Cache-Control"] = "no-store"
    elif request.endpoint == _ADDED_FILES:
        _change(answer, _translate_reasons)
    return answer


def _is_for_script() -> bool:
    return request.headers.get("X-Photosvc") == "1" and language() != ENGLISH


def _change(answer: Response, translate: Any) -> None:  # noqa: ANN401
    body = orjson.loads(answer.get_data())
    translate(body)
    answer.set_data(orjson.dumps(body))


def _translate_error(body: dict[str, Any]) -> None:
    for part in (body, *body.get("details", ())):
        for name in ("error", "message"):
            if isinstance(text := part.get(name), str):
                part[name] = message_text(text)


def _translate_suggestions(body: dict[str, Any]) -> None:
    for one in body["suggestions"]:
        one["help"] = _(one["help"])
        match one["kind"]:
            case "country":
                one["label"] = country_label(one["text"].rpartition(":")[2])
            case "color":
                one["label"] = _(COLOR_LABELS.get(one["label"], one["label"]))
            case "type":
                one["label"] = _(TYPES.get(one["label"], one["label"]))


def _translate_reasons(body: dict[str, Any]) -> None:
    for file in body.get("files", ()):
        if "reason" in file:
            file["reason"] = message_text(file["reason"])
