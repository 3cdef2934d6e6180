"""The options of `svc clients` for the properties of a client."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from photosvc.cli.terminal.completion import complete_scopes
from photosvc.cli.terminal.values import Lifetime
from photosvc.core.accounts import (
    CLIENT,
    CLIENT_ROLES,
    CLIENT_TOKEN_LIFETIME,
    CLIENT_TOKENS,
    MAX_CLIENT_TOKEN_LIFETIME,
    MOST_KEY_BYTES,
    OPAQUE,
    TOKEN_FORMATS,
)

Function = TypeVar("Function", bound=Callable[..., Any])


def client_options(*, defaults: bool) -> Callable[[Function], Function]:
    """The options for the properties of a client, with the defaults of a new client or without."""
    options = [
        click.option("--name", "-n", metavar="CLIENT", help="Client name."),
        click.option(
            "--role",
            "-r",
            type=click.Choice(CLIENT_ROLES),
            default=CLIENT if defaults else None,
            show_default=defaults,
            help="Client authorization role; admin sees private pictures too.",
        ),
        click.option(
            "--scope", "-s", metavar="SCOPES", shell_complete=complete_scopes, help="Client scopes (`*` for all)."
        ),
        click.option(
            "--expires",
            "-e",
            "lifetime",
            type=Lifetime(),
            metavar="LIFETIME",
            default=CLIENT_TOKEN_LIFETIME if defaults else None,
            show_default=defaults,
            help=f"Lifetime of each access token in seconds, at most {MAX_CLIENT_TOKEN_LIFETIME}, or as 12h, 31d.",
        ),
        click.option(
            "--tokens",
            "-t",
            "limit",
            type=int,
            metavar="NUMBER",
            default=CLIENT_TOKENS if defaults else None,
            show_default=defaults,
            help="Live access tokens; new ones replace the oldest; -1 disables the limit.",
        ),
        click.option(
            "--token-format",
            type=click.Choice(TOKEN_FORMATS),
            default=OPAQUE if defaults else None,
            show_default=defaults,
            help="Whether others can read the tokens (RFC 9068).",
        ),
        click.option(
            "--public-keys",
            type=click.File("r", encoding="utf-8", errors="replace"),
            metavar="FILE",
            callback=lambda _context, _option, file: file and file.read(MOST_KEY_BYTES + 1),
            help="JWK or JWK set; the client signs assertions with its private key instead of showing a secret.",
        ),
    ]

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate
