"""The answers of an app that contains photosvc only: its error pages, headers, access log and traces.

Commands answer nothing and do not import this module.
"""

import logging

from flask import Flask, Response, request

from photosvc.web import answers
from photosvc.web.answers import add_security_headers
from photosvc.web.current import Service, current_service
from photosvc.web.errors import Failure, register_errors, render_by_path
from photosvc.web.parts import PAGES
from photosvc.web.tracing import provider_of, trace_app


def prepare_answers(app: Flask, service: Service) -> None:
    """Let an app that has no other content answer errors, and add headers, the access log and traces.

    Raises:
        SettingError: the libraries for traces are not installed.
    """
    if service.settings.traces:
        _trace(app, service)
    register_errors(app, _render)
    logging.getLogger(answers.LOGGER).setLevel(logging.INFO)
    app.after_request(add_security_headers)
    if service.settings.access_log:
        app.after_request(answers.note_access)  # also logs requests that reach no route


def _trace(app: Flask, service: Service) -> None:
    """Send traces of the requests to the collector of the settings."""
    with app.app_context():
        engines = [service.engine()] + ([service.replica.engine()] if service.replica else [])
    trace_app(app, provider_of(service.settings.traces), *engines, proxies=service.settings.proxies)


def _render(failure: Failure) -> Response:
    """Render an error outside all blueprints, such as an unknown path: a page for browsers, else as the API does."""
    if PAGES in current_service().parts:
        from photosvc.pages.errors import render_page, wants_page

        if wants_page(request):
            return render_page(failure)
    return render_by_path(failure)
