"""Questions at the terminal. Without a terminal, commands fail with a usage error instead of waiting."""

import sys
from collections.abc import Callable

import click

from photosvc.core.errors import PhotosvcError

_LONGEST_LINE = 4096

SCOPE_QUESTION = "Authorization scopes, such as `photos` or `* webdav:false` (`svc show scopes` lists them)"
yes_option = click.option("--yes", "-y", is_flag=True, help="Do it without asking.")


def has_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(option: str, question: str, check: Callable[[str], object]) -> str:
    """Ask for a value that was not given as `option`, again and again until it is valid.

    Args:
        option: names it in the error.
        question: without its colon.
        check: raises an error of photosvc for a value that is not valid.

    Raises:
        click.UsageError: there is no terminal to ask on.

    """
    if not has_terminal():
        msg = f"{option} is needed when there is no terminal to ask on"
        raise click.UsageError(msg)
    while True:
        answer: str = click.prompt(question, err=True)
        try:
            check(answer)
        except PhotosvcError as error:
            click.echo(f"Error: {error.message}", err=True)
        else:
            return answer


def ask_password(check: Callable[[str], object], *, from_stdin: bool) -> str:
    """A new password: entered twice without echo until it is valid, or the first line of standard input.

    Args:
        check: raises an error of photosvc for a password that is not valid.
        from_stdin: read it there; the caller checks it.

    Raises:
        click.UsageError: there is neither a terminal nor `--password-stdin`, or the input is not UTF-8.

    """
    if from_stdin:
        return first_line()
    if not has_terminal():
        msg = "there is no terminal to ask for the password on; pass --password-stdin"
        raise click.UsageError(msg)
    while True:
        password: str = click.prompt("Password", hide_input=True, err=True)
        try:
            check(password)
        except PhotosvcError as error:
            click.echo(f"Error: {error.message}", err=True)
            continue
        if password == click.prompt("Again", hide_input=True, err=True):
            return password
        click.echo("Error: The two passwords are different.", err=True)


def first_line() -> str:
    """The first line of standard input.

    Raises:
        click.UsageError: it is not UTF-8.

    """
    line = b"" if sys.stdin is None else sys.stdin.buffer.readline(_LONGEST_LINE)
    try:
        return line.decode("utf-8").rstrip("\r\n")
    except UnicodeDecodeError:
        msg = "the password on standard input is not UTF-8"
        raise click.UsageError(msg) from None


def confirm(question: str, *, yes: bool) -> None:
    """Ask for confirmation unless `--yes` was given; "no" ends the command with exit code 0.

    Raises:
        click.UsageError: there is no terminal to ask on.

    """
    if yes:
        return
    if not has_terminal():
        msg = "there is no terminal to confirm on; pass --yes"
        raise click.UsageError(msg)
    if not click.confirm(question, err=True):
        click.echo("Nothing was changed.", err=True)
        raise click.exceptions.Exit(0)
