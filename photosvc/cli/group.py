"""Support of all commands: a group that imports them on use, the app with the service, and error messages.

The app is that of `flask svc`, or the one that the console script makes.
"""

import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from functools import wraps
from importlib.abc import InspectLoader
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

import click

from photosvc import __version__
from photosvc.core.errors import PhotosvcError, in_host

if TYPE_CHECKING:
    from flask import Flask
    from flask.cli import ScriptInfo
    from sqlalchemy import URL

    from photosvc.auth.operation import Operation
    from photosvc.web.service import Service

Args = ParamSpec("Args")
Result = TypeVar("Result")
#: Key in the context's `meta` of a command that needs the routes; for others the app is made without them.
VIEWS = "photosvc.views"
#: Key there of the address of the database, for messages about it.
DATABASE = "photosvc.database"


class PlainError(click.ClickException):
    """An error with one sentence for stderr and an exit code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code  # type: ignore[misc]


def _print_version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        click.echo(f"photosvc {__version__}")
        ctx.exit()


version_option: click.Option = click.Option(
    ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="Print the version."
)


def choose_instance(ctx: click.Context, _option: click.Parameter, folder: str | None) -> None:
    """Let this process and those that it starts use the instance folder."""
    if folder is None or ctx.resilient_parsing:
        return
    if not callable(ctx.find_root().obj):
        raise click.UsageError("the app that contains photosvc chooses its instance folder.", ctx)
    if not folder:
        raise click.BadParameter("the name of the folder is empty.", param_hint="--instance")
    from photosvc.settings.instance import INSTANCE_VARIABLE

    os.environ[INSTANCE_VARIABLE] = folder


instance_option: click.Option = click.Option(
    ["--instance"],
    metavar="FOLDER",
    expose_value=False,
    callback=choose_instance,
    help="The instance folder, in place of PHOTOSVC_INSTANCE.",
)


class _Help(click.HelpFormatter):
    """Help texts that name commands as this one was called."""

    def write_text(self, text: str) -> None:
        """Write a paragraph."""
        super().write_text(as_called(text))

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Write a list of commands or options."""
        super().write_dl([(name, as_called(text)) for name, text in rows], col_max, col_spacing)


class _Context(click.Context):
    """The context of each of our commands."""

    formatter_class = _Help


class LazyGroup(click.Group):
    """A group that imports its commands when they are called.

    Exit codes: 0 done or declined, 1 failed, 2 wrong usage or value, 3 not found.
    """

    context_class = _Context

    def __init__(self, *, commands: Mapping[str, str] | None = None, **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options, context_settings={"help_option_names": ["-h", "--help"]})
        self._lazy = commands or {}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, sorted."""
        return sorted({*super().list_commands(ctx), *self._lazy})

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing them, as click would to read their help: that takes seconds."""
        names = self.list_commands(ctx)
        room = formatter.width - 6 - max(map(len, names))
        lazy = {name: _first_line(*self._place(name)) for name in self._lazy}
        texts = {name: command.help or "" for name, command in self.commands.items()} | lazy
        short = {name: click.Command(name, help=as_called(texts[name])).get_short_help_str(room) for name in names}
        with formatter.section("Commands"):
            formatter.write_dl(short.items())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return the command."""
        if cmd_name in self._lazy:
            module, name = self._place(cmd_name)
            command: click.Command | None = getattr(importlib.import_module(module), name)
        else:
            command = super().get_command(ctx, cmd_name)
        if command is not None:
            command.context_class = _Context
        return command

    def _place(self, command: str) -> tuple[str, str]:
        """Return the module of a command and the name of its function there."""
        module, _, name = self._lazy[command].partition(":")
        return f"photosvc.cli.{module}", name or command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the called command, and suggest similar names, also of commands that are not imported yet."""
        name = args[0]
        if not ctx.resilient_parsing and not name.startswith("-") and self.get_command(ctx, name) is None:
            msg = f"No such command {name!r}." if name.strip() else "The name of the command is empty."
            from photosvc.core.text import names_like

            if near := names_like(name, self.list_commands(ctx), most=2):
                msg += f" Did you mean {' or '.join(map(repr, near))}?"
            raise click.UsageError(msg, ctx)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401
        """Run the command, and turn expected errors into one sentence."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.ctx is not None and error.ctx.parent is ctx and not error.option_name.startswith("--"):
                refusal = error.format_message().rstrip(".")
                raise click.UsageError(f"{refusal}{_hint_at_dashes(error.ctx)}", error.ctx) from None
            raise
        except (PlainError, PhotosvcError) as error:
            raise PlainError(as_called(error.message), error.exit_code) from error
        except click.UsageError as error:
            error.message = as_called(error.message)  # type: ignore[misc]
            raise
        except BrokenPipeError:  # the reader of the output has ended; click handles this quietly
            raise
        except OSError as error:
            _drop_unprinted()
            where = f": {error.filename}" if error.filename else ""
            raise PlainError(f"{error.strerror or type(error).__name__}{where}", 1) from error
        except Exception as error:
            if sentence := database_sentence(error, ctx.meta.get(DATABASE)):
                raise PlainError(sentence, 1) from error
            raise


def _hint_at_dashes(ctx: click.Context) -> str:
    """Return how a command takes a value that begins with a dash, such as `-snow`; empty if it takes no values."""
    names = [one.human_readable_name for one in ctx.command.params if isinstance(one, click.Argument)]
    return f". Put -- before a value that begins with a dash: {ctx.command_path} -- {names[0]}" if names else ""


def _first_line(module: str, function: str) -> str:
    """Return the first line of a function's docstring from the source of its module, without an import.

    Empty if the package is installed without its sources.
    """
    spec = importlib.util.find_spec(module)
    loader = spec.loader if spec is not None else None
    source = (loader.get_source(module) if isinstance(loader, InspectLoader) else None) or ""
    found = re.search(rf'^def {function}\(.*?^    """(.*?)(?:"""|\n)', source, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""


def as_called(message: str) -> str:
    """Return a message with its commands as this one was called: `svc …`, or `flask svc …`."""
    ctx = click.get_current_context(silent=True)
    return message if ctx is None or callable(ctx.find_root().obj) else in_host(message)


def database_sentence(error: Exception, url: "URL | None") -> str | None:
    """Return the sentence about an error of the database at this address, or None for other errors."""
    if not type(error).__module__.startswith("sqlalchemy"):  # commands without a database do not import it
        return None
    from sqlalchemy.exc import DBAPIError, OperationalError

    from photosvc.models.engine import DAMAGED, is_damaged, refuses_role, why_unusable

    where = "" if url is None else f" {url.database if url.get_backend_name() == 'sqlite' else url.render_as_string()}"
    if isinstance(error, DBAPIError) and is_damaged(error):
        return f"The database{where} cannot be used: {DAMAGED}."
    if isinstance(error, DBAPIError) and refuses_role(error):
        refused = str(error.orig).partition("\n")[0]
        return f"The role may not change the database ({refused}): let it own that, as createdb -O ROLE DATABASE does."
    if isinstance(error, OperationalError):
        file = "" if url is None or url.get_backend_name() != "sqlite" else url.database
        reason = (file and why_unusable(Path(file))) or str(error.orig).strip()
        return f"The database{where} cannot be used: {reason}"
    return None


def _drop_unprinted() -> None:
    """Discard output that could not be written, because Python would retry at exit and print a second error."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def find_app(ctx: click.Context) -> "Flask":
    """Return the app of `flask` or of the console script; `click.UsageError` if it has no PhotoService."""
    from photosvc.core.logs import without_start_lines, write_warnings_only
    from photosvc.web.service import EXTENSION

    make: Callable[[], Flask] | ScriptInfo | None = ctx.find_root().obj
    with without_start_lines():
        app = make() if callable(make) else _found_by_flask(ctx)
    if EXTENSION not in app.extensions:
        msg = f"The app {app.name!r} has no PhotoService; set FLASK_APP to one that has, or call `svc`."
        raise click.UsageError(msg)
    write_warnings_only("photosvc")
    service: Service = app.extensions[EXTENSION]
    with app.app_context():
        ctx.meta[DATABASE] = service.engine().url
    return app


def require_alone(app: "Flask", does: str, instead: str) -> None:
    """Refuse a command that works on an app with photosvc alone; `PlainError` names what to do `instead`."""
    from photosvc.web.service import EXTENSION

    if not app.extensions[EXTENSION].is_alone:
        raise PlainError(f"{does} photosvc alone, and the app {app.name!r} contains more: {instead}", 2)


def _found_by_flask(ctx: click.Context) -> "Flask":
    from flask.cli import ScriptInfo

    info = ctx.find_object(ScriptInfo)
    if info is None:
        raise click.UsageError("no app to work on: call `svc` or `flask svc`")
    return info.load_app()


def with_service(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """Give a command the service as its first argument, inside an app context."""

    @wraps(command)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Result:
        from photosvc.web.service import current_service

        with find_app(click.get_current_context()).app_context():
            return command(current_service(), *args, **kwargs)

    return run


def operating() -> AbstractContextManager["Operation"]:
    """Begin an operation of the command line in a write transaction, which the block ends."""
    from photosvc.web import auditing

    return auditing.operating()


def with_views(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """Give a command the service, as `with_service` does, of an app that has its routes."""
    with_app = with_service(command)

    @wraps(command)
    def run(*args: Args.args, **kwargs: Args.kwargs) -> Result:
        click.get_current_context().meta[VIEWS] = True
        return with_app(*args, **kwargs)

    return run


def with_database(command: Callable[Concatenate["Service", Args], Result]) -> Callable[Args, Result]:
    """Give a command the service, as `with_service` does, if the database has the tables of this version."""

    def run(service: "Service", /, *args: Args.args, **kwargs: Args.kwargs) -> Result:
        service.require_schema()
        return command(service, *args, **kwargs)

    return wraps(command)(with_service(run))
