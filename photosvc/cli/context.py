"""How commands get the service: from the app of `flask svc`, or from the one that the console script makes."""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

if TYPE_CHECKING:
    from flask import Flask
    from flask.cli import ScriptInfo

    from photosvc.web.current import Service

Args = ParamSpec("Args")
Result = TypeVar("Result")


def find_app(ctx: click.Context) -> "Flask":
    """The app that `flask` found, or the one that the console script makes.

    Raises:
        click.UsageError: the app has no PhotoService.

    """
    from photosvc.web.current import EXTENSION

    make: Callable[[], Flask] | ScriptInfo | None = ctx.find_root().obj
    app = make() if callable(make) else _found_by_flask(ctx)
    if EXTENSION not in app.extensions:
        msg = f"The app {app.name!r} has no PhotoService; set FLASK_APP to one that has, or call `svc`."
        raise click.UsageError(msg)
    return app


def _found_by_flask(ctx: click.Context) -> "Flask":
    from flask.cli import ScriptInfo

    info = ctx.find_object(ScriptInfo)
    if info is None:
        msg = "no app to work on: call `svc` or `flask svc`"
        raise click.UsageError(msg)
    return info.load_app()


def with_service(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """Give a command the service as its first argument, inside an app context."""

    @wraps(command)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Result:
        from photosvc.web.current import current_service

        with find_app(click.get_current_context()).app_context():
            return command(current_service(), *args, **kwargs)

    return run


def with_database(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """As `with_service`, for commands that need the tables of this version."""

    def run(service: "Service", /, *args: Args.args, **kwargs: Args.kwargs) -> Result:
        service.require_schema()
        return command(service, *args, **kwargs)

    return wraps(command)(with_service(run))
