"""Lists and records on stdout, as a table or in one of four formats for programs, and new secrets."""

import csv
import io
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import click

from photosvc.cli.group import PlainError

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from photosvc.web.current import Service

Function = TypeVar("Function", bound=Callable[..., Any])
Row = Mapping[str, Any]

#: What spreadsheets take for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?[\d.]+")

_FORMATS = {
    "json": ("-j", "Print JSON"),
    "md": ("-m", "Print a Markdown table"),
    "csv": ("-c", "Print comma separated values"),
    "tsv": ("", "Print tab separated values"),
}

count_option = click.option(
    "--count", type=click.IntRange(1, 100_000), default=100, show_default=True, help="At most this many."
)


def format_options(*, short: bool = True) -> Callable[[Function], Function]:
    """The options `--json --md --csv --tsv`, read by `chosen_format`; two at once are refused."""

    def decorate(function: Function) -> Function:
        for name in reversed(_FORMATS):
            letter, text = _FORMATS[name]
            names = (f"--{name}", letter) if short and letter else (f"--{name}",)
            function = click.option(
                *names, name, is_flag=True, expose_value=False, callback=_remember(name), help=text + "."
            )(function)
        return function

    return decorate


def _remember(name: str) -> Callable[[click.Context, click.Parameter, bool], None]:
    def remember(ctx: click.Context, _parameter: click.Parameter, value: bool) -> None:
        if not value:
            return
        other = ctx.meta.get("photosvc.output", name)
        if other != name:
            msg = f"--{other} and --{name} exclude each other; give one"
            raise click.UsageError(msg)
        ctx.meta["photosvc.output"] = name

    return remember


def require_stdout() -> None:
    """Make sure that there is a standard output.

    Raises:
        PlainError: standard output is closed.

    """
    if sys.stdout is None:
        msg = "There is no standard output to print on."
        raise PlainError(msg, 1)


def chosen_format() -> str:
    """`table`, or the requested format."""
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


@contextmanager
def printing_secret(service: "Service", undo: "Callable[[Session], object]") -> Iterator[None]:
    """Print a new secret inside. If printing fails, the secret is lost, and `undo` removes what it belongs to."""
    click.echo("Keep the secret now: it is not shown again.", err=True)
    try:
        yield
        sys.stdout.flush()
    except BaseException:
        with service.writing() as session:
            undo(session)
        raise


def print_json(value: object, *, indented: bool = True) -> None:
    """Print a value as JSON: over several lines, or else as one of many lines."""
    import orjson

    option = orjson.OPT_INDENT_2 if indented else None
    click.echo(orjson.dumps(value, option=option, default=str).decode())


def _write(output: str, headings: list[str], cells: list[list[str]]) -> None:
    if output == "md":
        lines = [headings, ["---"] * len(headings), *cells]
        for line in lines:
            click.echo("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |")
    elif output in {"csv", "tsv"}:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="," if output == "csv" else "\t", lineterminator="\n")
        writer.writerows([headings, *(map(_harmless, line) for line in cells)])
        click.echo(text.getvalue(), nl=False)
    else:
        _write_table(headings, cells)


def _harmless(cell: str) -> str:
    """The cell as spreadsheets show it: what they would take for a formula begins with an apostrophe (OWASP)."""
    return f"'{cell}" if cell.startswith(_FORMULA) and not _NUMBER.fullmatch(cell) else cell


def _write_table(headings: list[str], cells: list[list[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*headings, box=SIMPLE_HEAD, pad_edge=False)
    for line in cells:
        table.add_row(*(Text(cell, overflow="fold") for cell in line))
    # Without a terminal there is no width to fold or cut to.
    console = Console(file=sys.stdout, highlight=False, width=None if sys.stdout.isatty() else 1000)
    console.print(table)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("\n", " ")
