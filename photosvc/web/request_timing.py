"""Counts and times requests. Two functions for the hooks of a blueprint, because each hook costs every request time."""

from time import perf_counter

from flask import Response, g, request

from photosvc.web.current import current_service


def start_timer() -> None:
    """Note when the request began."""
    g.photosvc_began = perf_counter()


def count_request(answer: Response) -> Response:
    """Count the request that `answer` is for, with the seconds until its headers were ready."""
    began, rule = g.get("photosvc_began"), request.url_rule
    if began is not None and rule is not None:  # a host can refuse a request before it reaches the blueprint
        current_service().requests.add((rule.rule, request.method, answer.status_code), perf_counter() - began)
    return answer
