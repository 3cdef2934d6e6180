"""Counts and times the requests to a blueprint."""

from time import perf_counter

from flask import Blueprint, Response, g, request

from photosvc.web.current import current_service


def time_requests(blueprint: Blueprint) -> None:
    """Count each request to the routes of this blueprint, with the seconds until its headers are ready."""
    blueprint.before_request(_begin)
    blueprint.after_request(_end)


def _begin() -> None:
    g.photosvc_began = perf_counter()


def _end(answer: Response) -> Response:
    began, rule = g.get("photosvc_began"), request.url_rule
    if began is not None and rule is not None:  # a host can refuse a request before it reaches the blueprint
        current_service().requests.add((rule.rule, request.method, answer.status_code), perf_counter() - began)
    return answer
