"""GET /status: whether the service can answer, for monitors and load balancers."""

from flask import Blueprint, Response

from photosvc import __version__
from photosvc.web.answer import json_answer
from photosvc.web.contract import TEXT, answers, json_object
from photosvc.web.current import current_service
from photosvc.web.protector import public


def add_routes(api: Blueprint) -> None:
    """Add the status to the API."""
    api.add_url_rule("/status", view_func=status, methods=["GET"])


@public
@answers(json_object("status version", status=TEXT, version=TEXT), "The service can answer.")
def status() -> Response:
    """`operational`; 503 when the database cannot be reached or has an old schema."""
    current_service().require_schema()
    return json_answer({"status": "operational", "version": __version__})
