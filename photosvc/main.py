"""The console script `svc`: the command line on an app made by `create_app`."""

from typing import TYPE_CHECKING

from photosvc.cli import svc

if TYPE_CHECKING:
    from flask import Flask


def main() -> None:
    """Run the command line; only commands that need Flask import it."""
    svc(prog_name="svc", obj=_create_app)


def _create_app() -> "Flask":
    from photosvc.app import create_app

    return create_app()
