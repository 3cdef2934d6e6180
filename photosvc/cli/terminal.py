"""Input and output of commands: option types, questions, progress, and results in the chosen format.

Without a terminal to ask on, commands fail with a usage error instead of waiting.
"""

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

import click

from photosvc.auth.operation import Operation
from photosvc.cli.group import PlainError, as_called, operating
from photosvc.core.clock import SYSTEM_CLOCK, Clock
from photosvc.core.errors import PhotosvcError
from photosvc.core.files import full_path
from photosvc.core.times import parse_duration
from photosvc.web.service import Service
from photosvc.workers.scheduler import Scheduler, connected

#: Seconds between two lines of progress.
_PAUSE: Final = 10.0
_LONGEST_LINE = 4096
SCOPE_QUESTION = "Authorization scopes, such as `photos` or `* webdav:false` (`svc show scopes` lists them)"
yes_option = click.option("--yes", "-y", is_flag=True, help="Do not ask for confirmation.")
Function = TypeVar("Function", bound=Callable[..., Any])
Row = Mapping[str, Any]
#: First characters of a formula in spreadsheets.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[\d.]+")
#: The only format option of commands that print while they work.
lines_option = click.option("--json", "-j", "as_json", is_flag=True, help="Print each event as a line of JSON.")
count_option = click.option(
    "--count", type=click.IntRange(1, 100_000), default=100, show_default=True, help="Maximum number of entries."
)
scheduler_option = click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Let the workers of this scheduler of dask.distributed read the files, such as tcp://host:8786.",
)


class FullPath(click.Path):
    """A path, made absolute; `~` is expanded where no shell did it, as in `--photos="~/x"`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - the options of click
        super().__init__(path_type=Path, **options)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:  # noqa: ANN401
        """Return the absolute path."""
        try:
            path = full_path(value)
        except ValueError as error:
            self.fail(f"{value!r} is not valid: {error}", param, ctx)
        super().convert(path, param, ctx)
        return path


class Duration(click.ParamType):  # type: ignore[type-arg, unused-ignore]
    """A duration in seconds: a number with a unit, such as `30d` or `12h`, or without one."""

    name = "duration"

    def __init__(self, unit: Literal["seconds", "days"] = "seconds") -> None:
        self.unit = unit
        """The unit of numbers without one. Only seconds may be negative: callers check which ones are allowed."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:  # noqa: ANN401
        """Return the seconds."""
        text = str(value).strip().lower()
        if self.unit == "seconds" and re.fullmatch(r"-?[0-9]{1,12}", text, re.ASCII):
            return int(text)
        seconds = parse_duration(f"{text}d" if text.isdecimal() else text)
        if seconds is None:
            self.fail(f"{value!r} is neither a number of {self.unit} nor a time such as 12h, 30d or 1y", param, ctx)
        return seconds


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None] | None]:
    """Show a progress bar on stderr if that is a terminal; yield its update, else None."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (what, BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def progress_lines(clock: Clock = SYSTEM_CLOCK) -> Callable[[int, int], None]:
    """Return a function that prints the progress of index runs: a line on stderr every ten seconds of a long run."""
    next_at, last = 0.0, sys.maxsize

    def show(done: int, total: int) -> None:
        nonlocal next_at, last
        now, is_new = clock.monotonic(), done <= last
        last = done
        if is_new:  # watchers make many runs, with long pauses between them
            next_at = now + _PAUSE
        elif now >= next_at:
            next_at = now + _PAUSE
            click.echo(f"Indexing: {done:,} of {total:,} files", err=True)

    return show


def has_terminal() -> bool:
    """Return whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(option: str, question: str, check: Callable[[str], object]) -> str:
    """Ask for a value that was not given as `option` until `check` raises no error of photosvc.

    Raises:
        click.UsageError: there is no terminal to ask on.
    """
    if not has_terminal():
        raise click.UsageError(f"{option} is needed when there is no terminal to ask on")
    while True:
        answer: str = click.prompt(as_called(question), err=True)
        try:
            check(answer)
        except PhotosvcError as error:
            click.echo(f"Error: {error.message}", err=True)
        else:
            return answer


def ask_password(check: Callable[[str], object], *, from_stdin: bool) -> str:
    """Return a new password: entered twice without echo until it passes `check`, or the first line of standard input.

    Raises:
        click.UsageError: there is neither a terminal nor `--password-stdin`, or standard input has no password.
        PhotosvcError: `check` refuses the password of standard input.
    """
    if from_stdin:
        password = first_line()
        check(password)
        return password
    if not has_terminal():
        raise click.UsageError("there is no terminal to ask for the password on; pass --password-stdin")
    while True:
        password = click.prompt("Password", hide_input=True, err=True)
        try:
            check(password)
        except PhotosvcError as error:
            click.echo(f"Error: {error.message}", err=True)
            continue
        if password == click.prompt("Again", hide_input=True, err=True):
            return password
        click.echo("Error: The passwords do not match.", err=True)


def first_line() -> str:
    """Return the secret in the first line of standard input; raise `click.UsageError` if it is empty or not UTF-8.

    A script whose variable is not set sends an empty line, which must never mean that no secret is needed.
    """
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline(_LONGEST_LINE)
    try:
        secret = line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        raise click.UsageError("the password on standard input is not UTF-8") from None
    if not secret.strip():
        raise click.UsageError("the first line of standard input is empty: send the password or key in it")
    return secret


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless `--yes` was given; "no" ends the command with exit code 0.

    Raises:
        click.UsageError: there is no terminal to ask on.
    """
    if yes:
        return
    if not has_terminal():
        raise click.UsageError("there is no terminal to confirm on; pass --yes")
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(0)


def options(*added: Callable[[Any], Any]) -> Callable[[Function], Function]:
    """Return a decorator that adds these options to a command, in this order."""

    def decorate(function: Function) -> Function:
        for option in reversed(added):
            function = option(function)
        return function

    return decorate


def _remember(ctx: click.Context, option: click.Parameter, given: bool) -> None:
    other = ctx.meta.setdefault("photosvc.output", option.name) if given else option.name
    if other != option.name:
        raise click.UsageError(f"--{other} and --{option.name} exclude each other; give one")


_FORMAT: Final[dict[str, Any]] = {"is_flag": True, "expose_value": False, "callback": _remember}
#: The options for the format of results; `chosen_format` reads them, two at once are refused.
format_options = options(
    click.option("--json", "-j", help="Print JSON.", **_FORMAT),
    click.option("--csv", "-c", help="Print comma separated values.", **_FORMAT),
)


def require_stdout() -> None:
    """Raise `PlainError` if standard output is closed."""
    if sys.stdout is None:
        raise PlainError("There is no standard output to print on.", 1)


def chosen_format() -> str:
    """Return the requested format, by default `table`."""
    chosen: str = click.get_current_context().meta.get("photosvc.output", "table")
    return chosen


def print_list(columns: Mapping[str, str], rows: Sequence[Row]) -> None:
    """Print rows; `columns` maps keys to headings."""
    require_stdout()
    output = chosen_format()
    if output == "json":
        print_json([{key: row[key] for key in columns} for row in rows])
    else:
        cells = [[_text(row[key]) for key in columns] for row in rows]
        _write(output, list(columns.values()), cells)


def print_record(columns: Mapping[str, str], row: Row) -> None:
    """Print one record, one line for each value."""
    require_stdout()
    output = chosen_format()
    if output == "json":
        print_json({key: row[key] for key in columns})
    else:
        _write(output, ["Name", "Value"], [[heading, _text(row[key])] for key, heading in columns.items()])


def print_figures(record: Row) -> bool:
    """Print the result of a run in the requested format; return False, and print nothing, without a request.

    JSON has the whole result; CSV leaves out lists of names.
    """
    output = chosen_format()
    if output == "table":
        return False
    require_stdout()
    if output == "json":
        print_json(record)
    else:
        parts = [(key, value if isinstance(value, dict) else {"": value}) for key, value in record.items()]
        figures = {f"{key} {name}".strip(): one for key, part in parts for name, one in part.items()}
        lines = [[key, _text(one)] for key, one in figures.items() if not isinstance(one, list)]
        _write(output, ["Name", "Value"], lines)
    return True


@contextmanager
def printing_secret(undo: Callable[[Operation], object]) -> Iterator[None]:
    """Guard a block that prints a new secret: if printing fails, call `undo`, because the secret is lost."""
    click.echo("Keep the secret now: it is not shown again.", err=True)
    try:
        yield
        sys.stdout.flush()
    except BaseException:
        with operating() as operation:
            undo(operation)
        raise


def print_json(value: object, *, indented: bool = True) -> None:
    """Print a value as JSON: over several lines, or as one line."""
    import orjson

    option = orjson.OPT_INDENT_2 if indented else None
    click.echo(orjson.dumps(value, option=option, default=str).decode())


def _write(output: str, headings: list[str], cells: list[list[str]]) -> None:
    if output == "csv":
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows([headings, *(map(_harmless, line) for line in cells)])
        click.echo(text.getvalue(), nl=False)
    else:
        _write_table(headings, cells)


def _harmless(cell: str) -> str:
    """Return the cell, with an apostrophe before text that spreadsheets would run as a formula (OWASP)."""
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell


def _write_table(headings: list[str], cells: list[list[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings, box=SIMPLE_HEAD, pad_edge=False)
    for line in cells:
        table.add_row(*(Text(cell, overflow="fold") for cell in line))
    # A terminal has a width to fold lines to; files have none.
    console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 1000)
    console.print(table)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("\n", " ")


def scheduler_of(
    service: Service, scheduler: str | None, workers: int | None
) -> AbstractContextManager[Scheduler | None]:
    """Connect to the scheduler that `--scheduler` names, for the block; None without one.

    Raises:
        click.UsageError: `--workers` is given too, or the address is not valid.
    """
    if scheduler is None:
        return nullcontext()
    if workers is not None:
        msg = "--workers counts processes of this machine; with --scheduler, those of the scheduler are used"
        raise click.UsageError(msg)
    if not re.fullmatch(r"(tcp|tls)://[^\s/]+:[0-9]{1,5}", scheduler):
        msg = f"{scheduler!r} is no address such as tcp://host:8786 or tls://host:8786"
        raise click.BadParameter(msg, param_hint="--scheduler")

    return connected(scheduler, str(service.settings.originals), lambda sentence: click.echo(sentence, err=True))
