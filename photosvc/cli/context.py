"""How commands reach the service: the app of `flask svc`, or one of our own."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from flask import Flask

    from photosvc.web.current import Service

Args = ParamSpec("Args")
Result = TypeVar("Result")


def find_app(ctx: click.Context) -> "Flask":
    """The app `flask` found, or photosvc standing alone."""
    from flask.cli import NoAppException, ScriptInfo

    from photosvc.app import create_app
    from photosvc.web.current import EXTENSION

    info = ctx.find_object(ScriptInfo)
    if info is None:
        return create_app()
    try:
        app = info.load_app()
    except NoAppException:
        return create_app()
    if EXTENSION not in app.extensions:
        msg = f"The app {app.name!r} has no PhotoService; set FLASK_APP to one that has, or call `svc`."
        raise click.UsageError(msg)
    return app


def with_service(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """Give a command the service as its first argument, inside an app context."""

    @wraps(command)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Result:
        from photosvc.web.current import current_service

        with find_app(click.get_current_context()).app_context():
            return command(current_service(), *args, **kwargs)

    return run


def with_database(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """As `with_service`, for commands that need tables that fit."""

    def run(service: "Service", /, *args: Args.args, **kwargs: Args.kwargs) -> Result:
        service.require_schema()
        service.session.rollback()
        return command(service, *args, **kwargs)

    return wraps(command)(with_service(run))
