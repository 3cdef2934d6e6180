"""Questions at the terminal. Without a terminal, commands fail with a usage error instead of waiting."""

import sys

import click

_LONGEST_LINE = 4096

yes_option = click.option("--yes", "-y", is_flag=True, help="Do it without asking.")


def has_terminal() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()


def ask(option: str, question: str, default: str | None = None) -> str:
    """Ask for a value that was not given as `option`.

    Raises:
        click.UsageError: there is no terminal to ask on.

    """
    if not has_terminal():
        msg = f"{option} is needed when there is no terminal to ask on"
        raise click.UsageError(msg)
    answer: str = click.prompt(question, default=default, err=True)
    return answer


def ask_password(*, from_stdin: bool) -> str:
    """A new password: entered twice without echo, or the first line of standard input.

    Raises:
        click.UsageError: there is neither a terminal nor `--password-stdin`, or the input is not UTF-8.

    """
    if from_stdin:
        return _first_line()
    if not has_terminal():
        msg = "there is no terminal to ask for the password on; pass --password-stdin"
        raise click.UsageError(msg)
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt="Again", err=True)
    return password


def _first_line() -> str:
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
